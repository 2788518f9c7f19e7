"use strict";
// Times as text, which of them are round, and where points are on an axis of time.
const DAY = 864e5;
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30].map((s) => 1e3 * s), ...[1, 2, 5, 10, 15, 30].map((m) => 6e4 * m), ...[1, 2, 3, 6, 12].map((h) => 36e5 * h), ...[1, 2, 7, 14, 28, 91, 182, 365].map((d) => DAY * d)];

// How times are written: numbers as they are, dates as on a clock in their time zone (of which the page says the name).
// `unit` is that of the stamps in milliseconds, `step` their median distance, `gap` from where on nothing was
// observed, `finest` a minute where all stamps are whole minutes.
function clockOf({ kind, zone, unit, step, gap, finest }) {
  const rest = { kind, step, gap, finest, lasting: (span) => duration(span * unit) };
  if (kind === "numbers") return { ...rest, zone: "", offset: () => 0, text: (t) => T.short(t) };
  let parts = null;
  if (zone && zone !== "UTC") try {
    parts = new Intl.DateTimeFormat("en-CA", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  } catch { zone = "UTC"; }  // an offset, or a name that this browser does not know
  function offset(t) {
    if (!parts) return 0;
    const p = Object.fromEntries(parts.formatToParts(t).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second) - 1000 * Math.floor(t / 1000);
  }
  function text(t, step = 1) {
    const written = new Date(t + offset(t)).toISOString(), [day, clock] = [written.slice(0, 10), written.slice(11, 23)];
    if (step >= DAY) return day;
    if (step >= 6e4) return `${day} ${clock.slice(0, 5)}`;
    return `${day} ${clock.endsWith(".000") ? clock.slice(0, 8) : clock}`;
  }
  return { ...rest, zone, offset, text };
}

// A duration as people say it, in its two largest units; the library writes it the same way.
function duration(span) {
  if (span < 6e4) {
    const [unit, name] = [[1e3, "s"], [1, "ms"], [1e-3, "us"], [1e-6, "ns"]].find(([u]) => span >= u) || [1e3, "s"];
    return `${Number((span / unit).toPrecision(3))} ${name}`;
  }
  const found = [];
  let rest = span;
  for (const [unit, name] of [[DAY, "d"], [36e5, "h"], [6e4, "min"], [1e3, "s"]]) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count || found.length) found.push(count ? `${count} ${name}` : "");
  }
  return found.slice(0, 2).filter(Boolean).join(" ");
}

// Where points are: by their number, or by their time where there are stamps. A point lasts until the next one, before a
// gap for one step.
class Axis {
  constructor(n, times = null, clock = null) {
    Object.assign(this, { n, times, clock, gaps: [] });
    if (times) for (let i = 1; i < n; i++) if (this.afterGap(i)) this.gaps.push(i);
    this.step = times ? clock.step : 1;
    this.first = this.at(0);
    this.end = this.until(n - 1);
  }

  afterGap(i) { return this.times !== null && i > 0 && i < this.n && this.times[i] - this.times[i - 1] > this.clock.gap; }
  at(i) { return this.times ? this.times[i] : i; }
  mark(i) { return this.times ? this.times[i] : i + 0.5; }
  until(i) {
    if (!this.times) return i + 1;
    return i + 1 < this.n && !this.afterGap(i + 1) ? this.times[i + 1] : this.times[i] + this.clock.step;
  }

  // The first point that begins at a place or after it.
  before(place) {
    if (!this.times) return Math.max(0, Math.min(this.n, Math.ceil(place)));
    let low = 0, high = this.n;
    while (low < high) { const m = (low + high) >> 1; if (this.times[m] < place) low = m + 1; else high = m; }
    return low;
  }

  // The first point that ends after a place.
  after(place) {
    if (!this.times) return Math.max(0, Math.min(this.n, Math.floor(place)));
    const i = this.before(place);
    if (i < this.n && this.times[i] === place) return i;
    return i > 0 && this.until(i - 1) > place ? i - 1 : i;
  }

  // The point at a place, null in a gap.
  point(place) {
    const i = this.after(Math.max(this.first, place));
    return i < this.n && this.at(i) <= place ? i : null;
  }

  // For each column of pixels the points under it, and how many there are on average.
  columns(from, to, width) {
    const first = new Int32Array(width), last = new Int32Array(width);
    for (let x = 0; x < width; x++) {
      first[x] = this.after(from + (x / width) * (to - from));
      last[x] = this.before(from + ((x + 1) / width) * (to - from));
    }
    return { axis: this, from, to, width, first, last, per: (this.before(to) - this.after(from)) / width };
  }

  lasting(start, stop) { return this.clock ? this.clock.lasting(this.until(stop - 1) - this.at(start)) : T.whole(stop - start); }
}
