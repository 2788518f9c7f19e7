"use strict";
// Packed arrays, min-max pyramids, and a chart of several lines over one time axis.
const Packed = (() => {
  const known = new Map();
  function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  }
  async function unpack(id) {
    const holder = document.getElementById("p" + id);
    const stream = new Blob([bytesOf(holder.textContent.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const n = Number(holder.dataset.length), kind = holder.dataset.kind;
    if (kind === "u2") {
      const out = new Uint16Array(n);
      for (let i = 0; i < n; i++) out[i] = planes[i] | (planes[n + i] << 8);
      return out;
    }
    const size = Number(kind[1]), bytes = new Uint8Array(n * size);
    for (let j = 0; j < size; j++) for (let i = 0; i < n; i++) bytes[i * size + j] = planes[j * n + i];
    const type = { i4: Int32Array, f4: Float32Array, f8: Float64Array }[kind];
    return new type(bytes.buffer);
  }
  return {
    load(id) {
      if (!known.has(id)) known.set(id, unpack(id));
      return known.get(id);
    },
    forget(ids) { ids.forEach((id) => known.delete(id)); },
  };
})();

const MISSING = 65535;

// Level l of a pyramid has the extremes of every 4^l points. For scores the highest code of normal and of anomalous
// points are kept apart, so that alarms of both kinds can be drawn at any zoom.
function pyramid(low, high, inside, gap) {
  const levels = [{ low, high, normal: null, anomalous: null }];
  if (inside) {
    const normal = new Uint16Array(high.length), anomalous = new Uint16Array(high.length);
    for (let i = 0; i < high.length; i++) {
      if (inside[i] !== 1) normal[i] = high[i];
      if (inside[i] !== 0) anomalous[i] = high[i];
    }
    levels[0].normal = normal;
    levels[0].anomalous = anomalous;
  }
  while (levels[levels.length - 1].low.length > 256) {
    const from = levels[levels.length - 1], size = Math.ceil(from.low.length / 4);
    const to = { low: new Uint16Array(size), high: new Uint16Array(size), normal: null, anomalous: null };
    if (inside) { to.normal = new Uint16Array(size); to.anomalous = new Uint16Array(size); }
    for (let i = 0; i < size; i++) {
      let a = MISSING, b = 0, c = 0, d = 0, some = false;
      const end = Math.min(4 * i + 4, from.low.length);
      for (let j = 4 * i; j < end; j++) {
        if (from.low[j] !== gap) {
          some = true;
          if (from.low[j] < a) a = from.low[j];
          if (from.high[j] > b) b = from.high[j];
        }
        if (inside) {
          if (from.normal[j] > c) c = from.normal[j];
          if (from.anomalous[j] > d) d = from.anomalous[j];
        }
      }
      to.low[i] = some ? a : gap;
      to.high[i] = some ? b : gap;
      if (inside) { to.normal[i] = c; to.anomalous[i] = d; }
    }
    levels.push(to);
  }
  return levels;
}

class Chart {
  constructor(canvas, hooks) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.hooks = hooks;
    this.rows = [];
    this.starts = this.stops = [];
    this.times = this.clock = null;
    this.n = 1;
    this.step = 1;
    this.from = 0;
    this.to = 1;
    this.cursor = null;
    this.pending = false;
    this.frames = [];
    this.pointers = new Map();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // rows: {name, height, levels, gap (the code of a missing value), y(code), text(code), threshold() -> {code, y}}
  set(n, step, starts, stops, rows, times, clock) {
    Object.assign(this, { n, step, starts, stops, rows, times, clock });
    this.canvas.style.height = this.height() + "px";
    this.show(0, n);
  }

  height() { return 40 + this.rows.reduce((sum, row) => sum + row.height + 8, 0) + 22; }

  show(from, to) {
    const least = Math.min(this.n, 8);
    let span = Math.max(to - from, least);
    span = Math.min(span, this.n);
    from = Math.max(0, Math.min(from, this.n - span));
    this.from = from;
    this.to = from + span;
    this.draw();
    if (this.hooks.moved) this.hooks.moved(this.from, this.to);
  }

  jump(start, stop) {
    const beside = Math.max(2 * (stop - start), 60);
    this.show(start - beside, stop + beside);
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
        Home: () => this.show(0, this.n), 0: () => this.show(0, this.n),
        n: () => this.event(1), p: () => this.event(-1),
      };
      if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); keys[e.key](); }
    });
  }

  // The next or the previous event, seen from the middle of what is shown.
  event(by) {
    const middle = (this.from + this.to) / 2;
    const count = this.starts.length;
    if (!count) return;
    let i = by > 0 ? 0 : count - 1;
    const centre = (j) => (this.starts[j] + this.stops[j]) / 2;
    if (by > 0) while (i < count - 1 && centre(i) <= middle + 0.5) i++;
    else while (i > 0 && centre(i) >= middle - 0.5) i--;
    this.jump(this.starts[i], this.stops[i]);
  }

  width() { return this.canvas.clientWidth || 1; }
  at(e) { return this.from + (e.offsetX / this.width()) * (this.to - this.from); }
  center(e) {
    const span = this.to - this.from, middle = (e.offsetX / this.width()) * this.n;
    this.show(middle - span / 2, middle + span / 2);
  }

  draw() {
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
    for (const name of ["paper", "panel", "ink", "soft", "line", "found", "false", "missed", "event", "value", "accent"]) colors[name] = style.getPropertyValue("--" + name);
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.fillStyle = colors.panel;
    g.fillRect(0, 0, width, height);
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    this.overview(g, width, colors);
    let top = 40;
    for (const row of this.rows) {
      this.row(g, row, top, width, colors);
      top += row.height + 8;
    }
    this.axis(g, top, width, colors);
    if (this.cursor !== null) {
      const x = ((this.cursor - this.from) / (this.to - this.from)) * width;
      g.strokeStyle = colors.soft;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x, 36);
      g.lineTo(x, top);
      g.stroke();
    }
    if (this.hooks.cursor) this.hooks.cursor(this.cursor === null ? null : Math.max(0, Math.min(this.n - 1, Math.floor(this.cursor))));
  }

  // The whole series, its events, and what part of it is shown.
  overview(g, width, colors) {
    this.bands(g, 0, this.n, 4, 26, width, colors.event, 1.5);
    if (this.rows.length) this.line(g, this.rows[0], 0, this.n, 4, 26, width, colors.soft, 0.6);
    const a = (this.from / this.n) * width, b = (this.to / this.n) * width;
    g.strokeStyle = colors.accent;
    g.lineWidth = 2;
    g.strokeRect(Math.max(1, a), 3, Math.max(3, Math.min(b, width - 1) - Math.max(1, a)), 28);
  }

  bands(g, from, to, top, height, width, color, least) {
    const { starts, stops } = this;
    const scale = width / (to - from);
    let low = 0, high = starts.length;
    while (low < high) { const m = (low + high) >> 1; if (stops[m] <= from) low = m + 1; else high = m; }
    g.fillStyle = color;
    let drawn = -1;
    for (let i = low; i < starts.length && starts[i] < to; i++) {
      const a = (starts[i] - from) * scale, b = Math.max((stops[i] - from) * scale, a + least);
      if (b - drawn < 0.25) continue;  // under a pixel that is coloured already
      g.fillRect(a, top, b - a, height);
      drawn = b;
    }
  }

  // One vertical stroke a pixel from the lowest to the highest value under it; single points where there is room.
  line(g, row, from, to, top, height, width, color, weight) {
    const bottom = top + height, per = (to - from) / width / this.step;
    g.strokeStyle = color;
    g.lineWidth = weight;
    g.beginPath();
    if (per <= 1.5 && this.step === 1) {
      const { low } = row.levels[0];
      const first = Math.max(0, Math.floor(from) - 1), last = Math.min(this.n - 1, Math.ceil(to) + 1);
      const scale = width / (to - from);
      let pen = false;
      for (let i = first; i <= last; i++) {
        if (low[i] === row.gap) { pen = false; continue; }
        const x = (i + 0.5 - from) * scale, y = bottom - row.y(low[i]) * height;
        if (pen) g.lineTo(x, y); else g.moveTo(x, y);
        pen = true;
      }
      g.stroke();
      if (per < 0.15) {
        g.fillStyle = color;
        for (let i = first; i <= last; i++) {
          if (low[i] === row.gap) continue;
          g.beginPath();
          g.arc((i + 0.5 - from) * scale, bottom - row.y(low[i]) * height, 2, 0, 7);
          g.fill();
        }
      }
      return;
    }
    const depth = Math.max(0, Math.min(row.levels.length - 1, Math.floor(Math.log(Math.max(per, 1)) / Math.log(4))));
    const level = row.levels[depth], size = this.step * 4 ** depth, count = level.low.length;
    let before = null;
    for (let x = 0; x < width; x++) {
      const a = Math.max(0, Math.floor((from + (x / width) * (to - from)) / size));
      const b = Math.min(count, Math.max(a + 1, Math.ceil((from + ((x + 1) / width) * (to - from)) / size)));
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

  row(g, row, top, width, colors) {
    const { from, to } = this;
    const strip = row.threshold ? 9 : 0, height = row.height - strip - 4;
    this.bands(g, from, to, top, height, width, colors.event, 2);
    this.line(g, row, from, to, top + 2, height - 4, width, row.threshold ? colors.ink : colors.value, 1);
    if (row.threshold) {
      const { code, y } = row.threshold();
      this.strip(g, row, code, top + height + 2, strip - 2, width, colors);
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
    const wide = g.measureText(text).width;
    g.globalAlpha = 0.8;
    g.fillStyle = colors.panel;
    g.fillRect(2, top, wide + 6, 16);
    g.globalAlpha = 1;
    g.fillStyle = colors.ink;
    g.fillText(text, 5, top + 12);
  }

  // Under a score: points of events that were found (filled), points that were missed (hatched), and false alarms (the
  // lower half), so that the three differ without colours too.
  strip(g, row, code, top, height, width, colors) {
    const { from, to, step } = this;
    const per = (to - from) / width / step;
    const depth = Math.max(0, Math.min(row.levels.length - 1, Math.floor(Math.log(Math.max(per, 1)) / Math.log(4))));
    const level = row.levels[depth], size = step * 4 ** depth, count = level.low.length;
    for (let x = 0; x < width; x++) {
      const a = Math.max(0, Math.floor((from + (x / width) * (to - from)) / size));
      const b = Math.min(count, Math.max(a + 1, Math.ceil((from + ((x + 1) / width) * (to - from)) / size)));
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

  axis(g, top, width, colors) {
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    g.fillStyle = colors.soft;
    g.strokeStyle = colors.line;
    const span = this.to - this.from;
    let free = -1;
    for (const [i, text] of this.ticks(width)) {
      const x = ((i - this.from + 0.5) / span) * width;
      g.beginPath();
      g.moveTo(x, top);
      g.lineTo(x, top + 4);
      g.stroke();
      const wide = g.measureText(text).width, left = Math.max(0, Math.min(width - wide, x - wide / 2));
      if (left < free) continue;  // irregular stamps may put round times close to each other
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
      for (let i = Math.ceil(this.from / step) * step; i < this.to; i += step) found.push([i, T.whole(i)]);
      return found;
    }
    const { times, clock } = this, last = this.n - 1;
    const first = times[Math.max(0, Math.floor(this.from))], end = times[Math.min(last, Math.ceil(this.to) - 1)];
    const raw = Math.max((end - first) / wanted, 1e-9);
    const step = clock.kind === "numbers" ? round(raw) : ROUND.find((s) => s >= raw) || 365 * DAY * Math.ceil(raw / (365 * DAY));
    // Whole hours and days are those of the clock on the wall there.
    const shift = clock.offset(first);
    for (let wall = Math.ceil((first + shift) / step) * step; ; wall += step) {
      const t = wall - clock.offset(wall - shift);  // summer time may come in between
      if (t > end) break;
      let low = 0, high = last;
      while (low < high) { const m = (low + high) >> 1; if (times[m] < t) low = m + 1; else high = m; }
      found.push([low, clock.text(t, step)]);
    }
    if (found.length < 2) return [Math.max(0, Math.ceil(this.from)), Math.min(last, Math.ceil(this.to) - 1)].map((i) => [i, clock.text(times[i], 1)]);
    return found;
  }

  stamp(i) {
    if (!this.clock) return T.whole(i);
    return this.clock.text(this.times[Math.max(0, Math.min(this.n - 1, i))], 1);
  }
}
