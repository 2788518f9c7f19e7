"use strict";
// Times as text, and which of them are round.
const DAY = 864e5;
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30].map((s) => 1e3 * s), ...[1, 2, 5, 10, 15, 30].map((m) => 6e4 * m), ...[1, 2, 3, 6, 12].map((h) => 36e5 * h), ...[1, 2, 7, 14, 28, 91, 182, 365].map((d) => DAY * d)];

// How times are written: numbers as they are, dates as on a clock in their time zone (of which the page says the name).
function clockOf({ kind, zone }) {
  if (kind === "numbers") return { kind, zone: "", offset: () => 0, text: (t) => T.short(t) };
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
  return { kind, zone, offset, text };
}
