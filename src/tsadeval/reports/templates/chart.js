"use strict";
// A chart of several lines over one axis of points or of time.
class Chart {
  constructor(canvas, hooks) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.hooks = hooks;
    this.rows = [];
    this.starts = this.stops = [];
    this.skipped = { starts: [], stops: [] };
    this.axis = new Axis(1);
    this.step = 1;
    this.current = null;  // the event that was gone to, as long as nothing else is looked at
    this.from = 0;
    this.to = 1;
    this.cursor = null;
    this.pending = false;
    this.frames = [];
    this.pointers = new Map();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // rows: {name, height, levels, gap (the code of a missing value), y(code), ends: [lowest, highest] as text, text(code),
  // threshold() -> {code, y}}
  set(axis, step, starts, stops, skipped, rows) {
    Object.assign(this, { axis, step, starts, stops, skipped, rows });
    this.canvas.style.height = this.height() + "px";
    this.whole();
  }

  get n() { return this.axis.n; }
  get clock() { return this.axis.clock; }

  height() { return 40 + this.rows.reduce((sum, row) => sum + row.height + 8, 0) + 22; }

  // From and to are places on the axis: numbers of points, or times.
  show(from, to, current = null) {
    const { first, end, step } = this.axis, least = Math.min(end - first, 8 * step);
    const span = Math.min(Math.max(to - from, least), end - first);
    this.from = Math.max(first, Math.min(from, end - span));
    this.to = this.from + span;
    this.current = current;
    this.draw();
    if (this.hooks.moved) this.hooks.moved(this.from, this.to);
  }

  whole() { this.show(this.axis.first, this.axis.end); }

  jump(start, stop, current = null) {
    const a = this.axis.at(start), b = this.axis.until(stop - 1), beside = Math.max(2 * (b - a), 60 * this.axis.step);
    this.show(a - beside, b + beside, current);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = (this.to - this.from) * factor;
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, at + (1 - share) * span);
  }

  pan(share) {
    const by = share * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  listen() {
    const c = this.canvas;
    c.addEventListener("wheel", (e) => {
      // Without focus the page scrolls: a chart that takes every wheel is a trap.
      if (!(e.ctrlKey || e.metaKey || document.activeElement === c)) return;
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(e.deltaX / this.width());
      else this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), this.at(e));
    }, { passive: false });
    c.addEventListener("pointerdown", (e) => {
      c.setPointerCapture(e.pointerId);
      this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY, overview: e.offsetY < 34 });
      if (e.offsetY < 34) this.center(e);
    });
    c.addEventListener("pointermove", (e) => {
      const held = this.pointers.get(e.pointerId);
      if (!held) { this.cursor = e.offsetY >= 34 ? this.at(e) : null; this.draw(); return; }
      if (held.overview) { this.center(e); return; }
      if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1];
        const before = Math.abs(held.x - other.x), now = Math.abs(e.offsetX - other.x);
        held.x = e.offsetX;
        if (before > 8 && now > 8) this.zoom(before / now, this.from + ((e.offsetX + other.x) / 2 / this.width()) * (this.to - this.from));
        return;
      }
      this.pan((held.x - e.offsetX) / this.width());
      held.x = e.offsetX;
    });
    const up = (e) => this.pointers.delete(e.pointerId);
    c.addEventListener("pointerup", up);
    c.addEventListener("pointercancel", up);
    c.addEventListener("pointerleave", () => { this.cursor = null; this.draw(); });
    c.addEventListener("dblclick", (e) => this.zoom(0.25, this.at(e)));
    c.addEventListener("keydown", (e) => {
      const keys = {
        ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25),
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
        Home: () => this.whole(), 0: () => this.whole(),
        n: () => this.event(1), p: () => this.event(-1),
      };
      if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); keys[e.key](); }
    });
  }

  // The event after (before) the one that was gone to; else the first (last) one of the whole series, or the next one
  // that begins right (ends left) of the middle of what is shown.
  event(by) {
    const { axis, starts, stops } = this, count = starts.length;
    if (!count) return;
    let i = this.current === null ? null : this.current + by;
    if (i === null && this.from <= axis.first && this.to >= axis.end) i = by > 0 ? 0 : count - 1;
    if (i === null) {
      const middle = (this.from + this.to) / 2;
      i = by > 0 ? 0 : count - 1;
      if (by > 0) while (i < count && axis.at(starts[i]) < middle) i++;
      else while (i >= 0 && axis.until(stops[i] - 1) > middle) i--;
    }
    i = Math.max(0, Math.min(count - 1, i));
    this.jump(starts[i], stops[i], i);
  }

  width() { return this.canvas.clientWidth || 1; }
  at(e) { return this.from + (e.offsetX / this.width()) * (this.to - this.from); }
  center(e) {
    const span = this.to - this.from, { first, end } = this.axis, middle = first + (e.offsetX / this.width()) * (end - first);
    this.show(middle - span / 2, middle + span / 2);
  }

  draw(now) {
    if (now) { this.paint(); return; }
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const begun = performance.now();
      this.paint();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 200) this.frames.shift();
    });
  }

  paint() {
    const c = this.canvas, g = this.context, scale = window.devicePixelRatio || 1;
    const width = this.width(), height = this.height();
    if (c.width !== Math.round(width * scale) || c.height !== Math.round(height * scale)) {
      c.width = Math.round(width * scale);
      c.height = Math.round(height * scale);
    }
    const style = getComputedStyle(c);
    const colors = {};
    for (const name of ["paper", "panel", "ink", "soft", "line", "found", "false", "missed", "event", "skip", "value", "accent"]) colors[name] = style.getPropertyValue("--" + name);
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.fillStyle = colors.panel;
    g.fillRect(0, 0, width, height);
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.overview(g, width, colors);
    const columns = this.axis.columns(this.from, this.to, width);
    let top = 40;
    for (const row of this.rows) {
      this.row(g, row, top, columns, colors);
      top += row.height + 8;
    }
    this.marks(g, top, width, colors);
    if (this.cursor !== null) {
      const x = ((this.cursor - this.from) / (this.to - this.from)) * width;
      g.strokeStyle = colors.soft;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x, 36);
      g.lineTo(x, top);
      g.stroke();
    }
    if (this.hooks.cursor) this.hooks.cursor(this.cursor);
  }

  // The whole series, its events, and what part of it is shown.
  overview(g, width, colors) {
    const { first, end } = this.axis;
    if (!this.all || this.all.axis !== this.axis || this.all.width !== width) this.all = this.axis.columns(first, end, width);
    this.background(g, this.all, 4, 26, colors, 1.5);
    if (this.rows.length) this.line(g, this.rows[0], this.all, 4, 26, colors.soft, 0.6);
    const a = ((this.from - first) / (end - first)) * width, b = ((this.to - first) / (end - first)) * width;
    g.strokeStyle = colors.accent;
    g.lineWidth = 2;
    g.strokeRect(Math.max(1, a), 3, Math.max(3, Math.min(b, width - 1) - Math.max(1, a)), 28);
  }

  // Events, stretches that are not judged, and times without data.
  background(g, columns, top, height, colors, least) {
    this.bands(g, columns, top, height, colors.event, least);
    g.globalAlpha = 0.85;
    this.bands(g, columns, top, height, colors.skip, least, this.skipped);
    g.globalAlpha = 1;
    const { axis } = this, scale = columns.width / (columns.to - columns.from);
    let drawn = -1;
    for (const i of axis.gaps) {
      if (axis.at(i) <= columns.from) continue;
      const a = Math.max(0, (axis.until(i - 1) - columns.from) * scale), b = Math.min(columns.width, Math.max((axis.at(i) - columns.from) * scale, a + 1));
      if (a >= columns.width) break;
      if (b - drawn < 0.5) continue;
      drawn = b;
      g.fillStyle = colors.paper;
      g.fillRect(a, top, b - a, height);
      g.strokeStyle = colors.soft;
      g.lineWidth = 0.5;
      g.save();
      g.beginPath();
      g.rect(a, top, b - a, height);
      g.clip();
      g.beginPath();
      for (let x = Math.floor((a - height) / 7) * 7; x < b; x += 7) { g.moveTo(x, top + height); g.lineTo(x + height, top); }
      g.stroke();
      g.restore();
    }
  }

  bands(g, columns, top, height, color, least, { starts, stops } = this) {
    const { axis } = this, { from, to } = columns, scale = columns.width / (to - from);
    let low = 0, high = starts.length;
    while (low < high) { const m = (low + high) >> 1; if (axis.until(stops[m] - 1) <= from) low = m + 1; else high = m; }
    g.fillStyle = color;
    let drawn = -1;
    for (let i = low; i < starts.length && axis.at(starts[i]) < to; i++) {
      const a = (axis.at(starts[i]) - from) * scale, b = Math.max((axis.until(stops[i] - 1) - from) * scale, a + least);
      if (b - drawn < 0.25) continue;  // under a pixel that is coloured already
      g.fillRect(a, top, b - a, height);
      drawn = b;
    }
  }

  // One vertical stroke a pixel from the lowest to the highest value under it; single points where there is room.
  line(g, row, columns, top, height, color, weight) {
    const { axis } = this, { from, to, width, per } = columns, bottom = top + height;
    g.strokeStyle = color;
    g.lineWidth = weight;
    g.beginPath();
    if (per <= 1.5 && this.step === 1) {
      const { low } = row.levels[0];
      const first = Math.max(0, axis.after(from) - 1), last = Math.min(axis.n - 1, axis.before(to) + 1);
      const scale = width / (to - from);
      let pen = false;
      for (let i = first; i <= last; i++) {
        if (low[i] === row.gap) { pen = false; continue; }
        if (axis.afterGap(i)) pen = false;
        const x = (axis.mark(i) - from) * scale, y = bottom - row.y(low[i]) * height;
        if (pen) g.lineTo(x, y); else g.moveTo(x, y);
        pen = true;
      }
      g.stroke();
      if (per < 0.15) {
        g.fillStyle = color;
        for (let i = first; i <= last; i++) {
          if (low[i] === row.gap) continue;
          g.beginPath();
          g.arc((axis.mark(i) - from) * scale, bottom - row.y(low[i]) * height, 2, 0, 7);
          g.fill();
        }
      }
      return;
    }
    const level = this.level(row, per);
    let before = null;
    for (let x = 0; x < width; x++) {
      const [a, b] = level.entries(columns, x);
      let low = MISSING, high = 0, some = false;
      for (let i = a; i < b; i++) {
        if (level.low[i] === row.gap) continue;
        some = true;
        if (level.low[i] < low) low = level.low[i];
        if (level.high[i] > high) high = level.high[i];
      }
      if (!some) { before = null; continue; }
      let y0 = bottom - row.y(low) * height, y1 = bottom - row.y(high) * height;
      // Touch the stroke before, so that a steep line has no holes.
      if (before) { if (y1 > before[0]) y1 = before[0]; if (y0 < before[1]) y0 = before[1]; }
      before = [bottom - row.y(low) * height, bottom - row.y(high) * height];
      g.moveTo(x + 0.5, y0 + 0.4);
      g.lineTo(x + 0.5, y1 - 0.4);
    }
    g.stroke();
  }

  // The entries of a pyramid that are about as fine as pixels are, and which of them are under a column of pixels.
  level(row, per) {
    const depth = Math.max(0, Math.min(row.levels.length - 1, Math.floor(Math.log(Math.max(per / this.step, 1)) / Math.log(4))));
    const level = row.levels[depth], size = this.step * 4 ** depth, count = level.low.length;
    const entries = ({ first, last }, x) => (first[x] >= last[x] ? [0, 0] : [Math.floor(first[x] / size), Math.min(count, Math.ceil(last[x] / size))]);
    return { ...level, entries };
  }

  row(g, row, top, columns, colors) {
    const { width } = columns;
    const strip = row.threshold ? 9 : 0, height = row.height - strip - 4;
    this.background(g, columns, top, height, colors, 2);
    this.line(g, row, columns, top + 2, height - 4, row.threshold ? colors.ink : colors.value, 1);
    if (row.threshold) {
      const { code, y } = row.threshold();
      this.strip(g, row, code, top + height + 2, strip - 2, columns, colors);
      g.strokeStyle = colors.accent;
      g.lineWidth = 1;
      g.setLineDash([5, 4]);
      g.beginPath();
      g.moveTo(0, top + 2 + (1 - y) * (height - 4));
      g.lineTo(width, top + 2 + (1 - y) * (height - 4));
      g.stroke();
      g.setLineDash([]);
    }
    const text = row.name.length > width / 8 ? row.name.slice(0, Math.floor(width / 8)) + "…" : row.name;
    g.font = row.focus ? "bold 12px system-ui, 'DejaVu Sans', sans-serif" : "12px system-ui, 'DejaVu Sans', sans-serif";
    this.label(g, text, 5, top + 12, colors.ink, colors);
    // The scale: what the lower and the upper edge stand for.
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const [low, high] = row.ends;
    this.label(g, low, width - 4 - g.measureText(low).width, top + height - 2, colors.soft, colors);
    if (high !== low) this.label(g, high, width - 4 - g.measureText(high).width, top + 11, colors.soft, colors);
  }

  label(g, text, x, y, color, colors) {
    g.globalAlpha = 0.92;
    g.fillStyle = colors.panel;
    g.fillRect(x - 3, y - 11, g.measureText(text).width + 6, 14);
    g.globalAlpha = 1;
    g.fillStyle = color;
    g.fillText(text, x, y);
  }

  // Under a score: points of events that were found (filled), points that were missed (hatched), and false alarms (the
  // lower half), so that the three differ without colours too.
  strip(g, row, code, top, height, columns, colors) {
    const level = this.level(row, columns.per);
    for (let x = 0; x < columns.width; x++) {
      const [a, b] = level.entries(columns, x);
      let normal = 0, anomalous = 0, event = false;
      for (let i = a; i < b; i++) {
        if (level.normal[i] > normal) normal = level.normal[i];
        if (level.anomalous[i] > anomalous) anomalous = level.anomalous[i];
        if (level.anomalous[i] > 0) event = true;
      }
      if (event && anomalous > code) { g.fillStyle = colors.found; g.fillRect(x, top, 1.2, height); }
      else if (event) {
        g.fillStyle = colors.missed;
        g.fillRect(x, top, 1.2, 1);
        g.fillRect(x, top + height - 1, 1.2, 1);
        for (let y = 0; y < height; y++) if ((x + y) % 4 < 2) g.fillRect(x, top + y, 1.2, 1);
      } else if (normal > code) { g.fillStyle = colors.false; g.fillRect(x, top + height / 2, 1.2, height / 2); }
    }
  }

  marks(g, top, width, colors) {
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    g.fillStyle = colors.soft;
    g.strokeStyle = colors.line;
    const span = this.to - this.from;
    let free = -1;
    for (const [place, text] of this.ticks(width)) {
      const x = ((place - this.from) / span) * width;
      g.beginPath();
      g.moveTo(x, top);
      g.lineTo(x, top + 4);
      g.stroke();
      const wide = g.measureText(text).width, left = Math.max(0, Math.min(width - wide, x - wide / 2));
      if (left < free) continue;  // at the edges labels are moved inwards
      g.fillText(text, left, top + 17);
      free = left + wide + 8;
    }
  }

  // Where the axis has marks, and what they say: round numbers of points, or round times at the points they fall on.
  ticks(width) {
    const span = this.to - this.from, wanted = Math.max(this.clock ? 3 : 2, Math.floor(width / (this.clock ? 150 : 120)));
    const round = (raw) => { const power = 10 ** Math.floor(Math.log10(raw)); return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw; };
    const found = [];
    if (!this.clock) {
      const step = Math.max(1, round(span / wanted));
      for (let i = Math.ceil(this.from / step) * step; i < this.to; i += step) found.push([i + 0.5, T.whole(i)]);
      return found;
    }
    const { clock, from, to } = this, raw = Math.max(span / wanted, 1e-9);
    const step = clock.kind === "numbers" ? round(raw) : ROUND.find((s) => s >= raw) || 365 * DAY * Math.ceil(raw / (365 * DAY));
    // Whole hours and days are those of the clock on the wall there.
    const shift = clock.offset(from);
    for (let wall = Math.ceil((from + shift) / step) * step; ; wall += step) {
      const t = wall - clock.offset(wall - shift);  // summer time may come in between
      if (t > to) break;
      found.push([t, clock.text(t, step)]);
    }
    return found.length > 1 ? found : [[from, clock.text(from, 1)], [to, clock.text(to, 1)]];
  }

  stamp(i) {
    if (!this.clock) return T.whole(i);
    return this.clock.text(this.axis.at(Math.max(0, Math.min(this.n - 1, i))), this.clock.finest);
  }
}
