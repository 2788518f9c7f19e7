"use strict";
// The report: which series and detector is looked at, and everything that follows from it.
const page = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const theme = T.theme($("theme"));
const state = { series: 0, detector: page.detectors[0], level: {}, view: null, shown: new Set(page.detectors.slice(0, 5)) };

const chart = new Chart($("chart"), {
  moved(from, to) {
    const { axis, clock, current } = chart, first = Math.min(axis.after(from), axis.n - 1), last = Math.max(first, axis.before(to) - 1);
    const points = `points ${T.whole(first)} to ${T.whole(last)}`, zone = clock && clock.zone ? ` (${clock.zone})` : "";
    const event = current === null ? "" : `Event ${T.whole(current + 1)} of ${T.whole(chart.starts.length)}: `;
    $("range").textContent = event + (clock ? `${chart.stamp(first)} to ${chart.stamp(last)}${zone}${page.operations ? "" : `, ${points}`}` : points);
  },
  cursor: readout,
});
theme.changed((now) => { chart.draw(now); drawCards(now); drawBreakdown(); if (state.view) drawSweep(focus(), Number($("slider").value)); });
window.report = { page, state, chart };  // for tests and the curious

function readout(place) {
  if (place === null || !state.view) { $("readout").textContent = ""; return; }
  const { axis } = chart, i = axis.point(place);
  if (i === null) {
    const next = axis.after(place), known = next > 0 && next < axis.n;
    $("readout").textContent = known ? `No data for ${chart.clock.lasting(axis.at(next) - axis.until(next - 1))}: between ${chart.stamp(next - 1)} and ${chart.stamp(next)}` : "";
    return;
  }
  const at = Math.floor(i / page.step);
  const parts = chart.rows.map((row) => `${row.name} ${row.text(row.levels[0].low[at])}`);
  if (state.view.inside[at] === SKIPPED) parts.push("not judged");
  $("readout").textContent = `${chart.stamp(i)}: ${parts.join(" · ")}`;
}

// The ends of a scale as text, with as many digits as their difference needs.
function scale(low, high) {
  const digits = high > low ? Math.max(0, Math.min(20, 2 - Math.floor(Math.log10(high - low)))) : 20;
  return [low, high].map((value) => T.short(Number(value.toFixed(digits))));
}

// One series: its labels, lines and the counts behind the slider, unpacked when it is first looked at.
async function view(series) {
  const [starts, stops] = await Promise.all([Packed.load(series.starts), Packed.load(series.stops)]);
  const size = Math.ceil(series.n / page.step);
  const inside = new Uint8Array(size);
  for (let e = 0; e < starts.length; e++) {
    const first = Math.floor(starts[e] / page.step), last = Math.floor((stops[e] - 1) / page.step);
    for (let i = first; i <= last; i++) {
      const whole = starts[e] <= i * page.step && stops[e] >= Math.min((i + 1) * page.step, series.n);
      inside[i] = whole ? ANOMALOUS : BOTH;
    }
  }
  const skipped = { starts: [], stops: [] };
  if (series.ignored !== null) {
    [skipped.starts, skipped.stops] = await Promise.all(series.ignored.map((id) => Packed.load(id)));
    // Where an entry stands for several points the scores have no alarms of those that are not judged.
    if (page.step === 1) for (let e = 0; e < skipped.starts.length; e++) inside.fill(SKIPPED, skipped.starts[e], skipped.stops[e]);
  }
  const timed = series.times !== null;
  const axis = timed ? new Axis(series.n, await Packed.load(series.times), clockOf(series.clock)) : new Axis(series.n);
  const made = { series, starts, stops, skipped, inside, axis, clock: axis.clock, detectors: {}, values: [] };
  for (const line of series.values) {
    const low = await Packed.load(line.codes), high = line.high_codes === undefined ? low : await Packed.load(line.high_codes);
    made.values.push({ line, levels: pyramid(low, high, null, MISSING) });
  }
  return made;
}

async function detectorOf(made, name) {
  const found = made.series.detectors[name];
  if (!found) return null;
  if (!made.detectors[name]) {
    const [thresholds, shown, low] = await Promise.all([found.thresholds, found.shown, found.codes].map((id) => Packed.load(id)));
    const high = found.high_codes === undefined ? low : await Packed.load(found.high_codes);
    const counts = {}, events = {};
    for (const [key, id] of Object.entries(found.counts)) counts[key] = await Packed.load(id);
    for (const [key, id] of Object.entries(found.events)) events[key] = await Packed.load(id);
    made.detectors[name] = { found, thresholds, shown, counts, events, codes: low, levels: pyramid(low, high, made.inside, 0) };
  }
  return made.detectors[name];
}

const views = new Map();
let asked = 0;
async function show() {
  const mine = ++asked;
  const series = page.series[state.series];
  if (!views.has(state.series)) {
    views.clear();  // one series at a time stays unpacked
    views.set(state.series, view(series));
  }
  const made = await views.get(state.series);
  const names = Object.keys(series.detectors);
  if (!names.includes(state.detector)) state.detector = names[0];
  fillDetectors(names);
  const wanted = names.filter((name) => state.shown.has(name) || name === state.detector);
  const rows = made.values.map(({ line, levels }) => ({
    name: line.name, height: 78, levels, gap: MISSING,
    y: (code) => code / 65534, ends: scale(line.low, line.high),
    text: (code) => (code === MISSING ? "missing" : "≈ " + T.short(line.low + (code / 65534) * (line.high - line.low))),
  }));
  for (const name of wanted) {
    const d = await detectorOf(made, name);
    const span = d.found.high - d.found.low;
    const y = (value) => (span > 0 ? Math.max(0, Math.min(1, (value - d.found.low) / span)) : 0.5);
    rows.push({
      name, height: wanted.length > 8 ? 46 : 66, levels: d.levels, gap: 0, focus: name === state.detector,
      y: (code) => y(d.shown[code]), ends: scale(d.found.low, d.found.high),
      text: (code) => (code ? "≈ " + T.short(d.shown[code]) : "no score"),
      threshold: () => ({ code: levelOf(name, d), y: y(d.thresholds[levelOf(name, d)]) }),
    });
  }
  if (mine !== asked) return;  // something else was chosen meanwhile
  const again = state.view === made;
  state.view = made;
  const [from, to] = [chart.from, chart.to];
  chart.set(made.axis, page.step, made.starts, made.stops, made.skipped, rows);
  if (again) chart.show(from, to);
  tiles(series, made);
  thresholds();
  eventsTable();
  metricsTable();
  drawCards();
  drawBreakdown();
  // No link leads to a section that is not shown here.
  for (const link of document.querySelectorAll("nav a")) link.hidden = document.querySelector(link.hash).hidden;
  if (!page.comparison) $("answer").textContent = answerOfOne();
  document.body.dataset.ready = String(state.series);
}

const key = (name) => state.series + " " + name;
function levelOf(name, d) { return state.level[key(name)] ?? d.found.start; }
function focus() { return state.view.detectors[state.detector]; }

function tiles(series, made) {
  const share = series.n ? series.anomalous / series.n : 0;
  const facts = [
    ...(page.operations ? [] : [[T.whole(series.n), "points"]]), [T.whole(made.starts.length), made.starts.length === 1 ? "event" : "events"],
    ...(made.clock ? [[made.clock.lasting(made.axis.end - made.axis.first), made.clock.zone || (page.operations ? "in all" : "from the first to the last point")]] : []),
    ...(made.skipped.starts.length ? [[T.whole(made.skipped.starts.reduce((sum, a, i) => sum + made.skipped.stops[i] - a, 0)), "points not judged"]] : []),
    ...(made.axis.gaps.length ? [[T.whole(made.axis.gaps.length), made.axis.gaps.length === 1 ? "gap without data" : "gaps without data"]] : []),
    ...(page.operations ? [] : [
      [(100 * share).toFixed(share && share < 0.001 ? 4 : 2) + " %", "of points anomalous"],
      [T.whole(Object.keys(series.detectors).length), Object.keys(series.detectors).length === 1 ? "detector here" : "detectors here"],
    ]),
  ];
  $("key-skipped").hidden = !made.skipped.starts.length;
  $("key-gap").hidden = !made.axis.gaps.length;
  const gone = page.detectors.filter((name) => !series.detectors[name]);
  const words = [];
  if (!series.anomalous) words.push("This series has no anomalous point, so only what needs none is shown." + (page.rule.startsWith("best") ? " No threshold is best without one: the slider starts above all scores." : ""));
  if (series.anomalous === series.n) words.push("Every point of this series is anomalous, so only what needs no normal point is shown.");
  if (gone.length) words.push(`No scores here: ${gone.join(", ")}.`);
  $("series-note").textContent = words.join(" ");
  $("series-note").hidden = !words.length;
  $("tiles").replaceChildren(...facts.map(([value, label]) => T.element("div", { class: "tile" }, T.element("b", { text: value }), T.element("span", { text: label }))));
}

const POINTS = new Set(["precision", "recall", "f1", "f1_pa", "alarms"]);
// The library's metrics from counts; the same divisions, so the same digits.
function valuesAt(d, k) {
  const { found, false: wrong, adjusted, events, runs } = d.counts;
  // Of the points that are judged: those without a score may be left out.
  const { anomalous: points, points: n, events_in_all: total } = d.found;
  const alarms = found[k] + wrong[k];
  return {
    alarms,
    precision: alarms ? found[k] / alarms : null,
    recall: points ? found[k] / points : null,
    f1: points ? (2 * found[k]) / (points + found[k] + wrong[k]) : null,
    f1_pa: points ? (2 * adjusted[k]) / (points + adjusted[k] + wrong[k]) : null,
    event_recall: total ? events[k] / total : null,
    false_alarms: 1000 * (runs[k] / n),
    // As the library's per="week": by the normal time that was observed.
    per_week: d.found.quiet ? runs[k] * (6048e5 / d.found.quiet) : null,
    runs: runs[k],
    events: events[k],
  };
}

function thresholds() {
  const d = focus(), slider = $("slider"), k = levelOf(state.detector, d);
  slider.max = d.thresholds.length - 1;
  slider.value = k;
  slider.setAttribute("aria-valuetext", "threshold " + T.short(d.thresholds[k]));
  const v = valuesAt(d, k);
  $("threshold-value").textContent = T.short(d.thresholds[k]);
  $("threshold-value").title = String(d.thresholds[k]);
  const shown = [
    ["precision", "precision", T.fixed(v.precision)], ["recall", "recall", T.fixed(v.recall)], ["f1", "F1", T.fixed(v.f1)],
    ["f1_pa", "F1-PA (point-adjusted)", T.fixed(v.f1_pa)], ["event_recall", `event recall (${T.whole(v.events)} of ${T.whole(d.found.events_in_all)})`, T.fixed(v.event_recall)],
    ["per_week", `false alarms per week (${T.whole(v.runs)} in all)`, T.fixed(v.per_week)],
    ["false_alarms", `false alarms per 1,000 points (${T.whole(v.runs)} in all)`, T.fixed(v.false_alarms)], ["alarms", "points with an alarm", T.whole(v.alarms)],
  ].filter(([id]) => id !== (d.found.quiet ? "false_alarms" : "per_week") && !(page.operations && POINTS.has(id)));
  $("live").replaceChildren(...shown.filter(([id]) => d.found.anomalous || ["false_alarms", "per_week", "alarms"].includes(id)).map(([id, label, text]) => T.element("div", { class: "tile" }, T.element("b", { id: "live-" + id, text }), T.element("span", { text: label }))));
  $("start").hidden = k === d.found.start;
  // Without anomalies there are no curves and no events to show, only false alarms.
  for (const id of ["sweep", "sweep-key", "events", "worst-box"]) if ($(id)) $(id).hidden = !d.found.anomalous;
  if ($("sweep")) drawSweep(d, k);
}

// F1, precision and recall over all levels, and where the slider is.
function drawSweep(d, at) {
  const canvas = $("sweep"), g = canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = 120;
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas), count = d.thresholds.length;
  g.fillStyle = style.getPropertyValue("--panel");
  g.fillRect(0, 0, width, height);
  if (!d.found.anomalous) return;
  const x = (k) => (k / Math.max(count - 1, 1)) * (width - 2) + 1;
  for (const [name, color, dash] of [["precision", "--false", [2, 2]], ["recall", "--missed", [6, 3]], ["f1", "--found", []]]) {
    g.strokeStyle = style.getPropertyValue(color);
    g.lineWidth = 1.5;
    g.setLineDash(dash);
    g.beginPath();
    let pen = false;
    for (let k = 0; k < count; k++) {
      const value = valuesAt(d, k)[name];
      if (value === null) { pen = false; continue; }
      const y = height - 4 - value * (height - 8);
      if (pen) g.lineTo(x(k), y); else g.moveTo(x(k), y);
      pen = true;
    }
    g.stroke();
  }
  g.setLineDash([]);
  g.strokeStyle = style.getPropertyValue("--accent");
  g.beginPath();
  g.moveTo(x(at), 0);
  g.lineTo(x(at), height);
  g.stroke();
}

let events = null;
function eventsTable() {
  const d = focus(), { start, stop } = d.events, { axis, clock } = state.view;
  const rows = [...d.events.number].map((e, i) => ({
    e: e + 1, start: start[i], stop: stop[i], length: stop[i] - start[i],
    peak: d.events.peak[i], mean: d.events.mean[i], score: d.events.score[i], lost: d.events.lost[i],
  }));
  const delay = (row) => {
    const k = levelOf(state.detector, d);
    if (page.step > 1) return row.peak > d.thresholds[k] ? 0 : null;
    for (let i = row.start; i < row.stop; i++) if (d.codes[i] > k && state.view.inside[i] !== SKIPPED) return axis.at(i) - axis.at(row.start);
    return null;
  };
  const waited = (span) => (clock ? clock.lasting(span) : T.whole(span));
  const columns = [
    { key: "e", label: "Event", number: true, text: (r) => T.whole(r.e) },
    { key: "start", label: "Start" + (clock && clock.zone ? ` (${clock.zone})` : ""), number: true, text: (r) => chart.stamp(r.start) },
    { key: "length", label: clock ? "Duration" : "Points", number: true, text: (r) => axis.lasting(r.start, r.stop), exact: (r) => clock && `${T.whole(r.length)} points` },
    { key: "peak", label: "Peak score", number: true, roomy: true, text: (r) => T.short(r.peak), exact: (r) => r.peak },
    { key: "mean", label: "Mean score (0 to 1)", roomy: true, number: true, text: (r) => T.fixed(r.mean, 3), title: "Mean of the scores, scaled so that the lowest of the series is 0 and the highest 1" },
    { key: "lost", label: "Cost (CCE)", number: true, roomy: true, text: (r) => T.fixed(r.lost), title: "How much the metric CCE (from −1 to 1) would be higher if all scores of this event were the highest" },
    { key: "found", label: page.step > 1 ? "Found" : "First alarm after" + (clock ? "" : " (points)"), number: true, sort: delay, text: (r) => { const w = delay(r); return w === null ? "missed" : page.step > 1 ? "found" : waited(w); } },
  ];
  const shown = columns.filter((column) => !page.operations || !["mean", "lost"].includes(column.key));  // parts of CCE
  events = T.table($("events-table"), shown, rows, {
    sort: "start", caption: "Events", jump: (r) => { chart.jump(r.start, r.stop); $("view").scrollIntoView({ block: "start" }); },
  });
  const total = d.found.events_in_all;
  const unseen = state.view.starts.length - new Set(d.events.number).size, all = rows.length === total;
  $("events-note").textContent = all && unseen && state.view.skipped.starts.length ? `${T.whole(unseen)} event${unseen === 1 ? "" : "s"} in times that are not judged ${unseen === 1 ? "is" : "are"} left out.` : rows.length < total ? `The ${T.whole(rows.length)} of ${T.whole(total)} events that cost most of CCE.` : "";
}

// Worst events and dearest false alarms, each with a small picture of the scores there.
function drawCards(now) {
  if (!state.view || !focus()) return;
  const d = focus(), k = levelOf(state.detector, d);
  for (const [id, list, cost] of [["worst", d.found.worst, (f) => `costs ${T.fixed(f.cost)}`], ["false", d.found.false, (f) => (f.cost ? `${T.whole(f.cost)} event${f.cost === 1 ? "" : "s"}` : "")]]) {
    const cards = list.map((finding) => {
      const canvas = T.element("canvas");
      const title = T.element("b", {}, T.element("span", { text: stretch(finding) }), T.element("span", { text: cost(finding) }));
      const card = T.element("button", { type: "button", class: "card", onclick: () => { chart.jump(finding.start, finding.stop); $("view").scrollIntoView({ block: "start" }); } }, title, canvas, T.element("span", { text: finding.why }));
      return [card, canvas, finding];
    });
    if (!$(id)) continue;
    $(id).replaceChildren(...cards.map(([card]) => card));
    if (!cards.length) $(id).append(T.element("p", { class: "soft", text: id === "worst" ? (d.found.anomalous ? "There is no normal point to compare with." : "There is no event.") : "There is no false alarm at this threshold." }));
    const paint = () => cards.forEach(([, canvas, finding]) => sketch(canvas, d, finding, k));
    if (now) paint(); else requestAnimationFrame(paint);
  }
}

// When something was: the points, or the times with the day named once.
function stretch({ start, stop }) {
  const first = chart.stamp(start), last = chart.stamp(stop - 1);
  if (stop - start < 2 || first === last) return first;
  const day = chart.clock && chart.clock.kind === "dates" ? 11 : 0;
  return `${first}–${day && first.slice(0, day) === last.slice(0, day) ? last.slice(day) : last}`;
}

function sketch(canvas, d, { start, stop }, k) {
  const width = canvas.clientWidth, height = 48, scale = window.devicePixelRatio || 1, g = canvas.getContext("2d");
  if (!width) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const small = Object.assign(Object.create(Chart.prototype), { axis: state.view.axis, step: page.step, starts: state.view.starts, stops: state.view.stops, skipped: state.view.skipped });
  const beside = Math.max(stop - start, 30), { axis } = small;
  const columns = axis.columns(axis.at(Math.max(0, start - beside)), axis.until(Math.min(axis.n, stop + beside) - 1), width);
  const style = getComputedStyle(canvas), color = (name) => style.getPropertyValue("--" + name);
  g.fillStyle = color("panel");
  g.fillRect(0, 0, width, height);
  const span = d.found.high - d.found.low, y = (value) => (span > 0 ? Math.max(0, Math.min(1, (value - d.found.low) / span)) : 0.5);
  small.background(g, columns, 0, height, { event: color("event"), skip: color("skip"), paper: color("paper"), soft: color("soft") }, 2);
  small.line(g, { levels: d.levels, gap: 0, y: (code) => y(d.shown[code]) }, columns, 3, height - 6, color("ink"), 1);
  g.strokeStyle = color("accent");
  g.setLineDash([4, 3]);
  g.beginPath();
  g.moveTo(0, 3 + (1 - y(d.thresholds[k])) * (height - 6));
  g.lineTo(width, 3 + (1 - y(d.thresholds[k])) * (height - 6));
  g.stroke();
}

// CCE: its four parts, and what each event adds and lacks.
function drawBreakdown() {
  if (!$("cce") || !state.view || !focus()) return;
  const d = focus(), parts = d.found.cce;
  $("cce").hidden = parts === null;
  if (parts === null) return;
  $("cce-score").textContent = T.fixed(parts.score);
  const rows = [["anomalies, event by event", parts.anomaly_event], ["normal stretches, one by one", parts.normal_event], ["all anomalous points", parts.anomaly_global], ["all normal points", parts.normal_global]];
  $("parts").replaceChildren(...rows.flatMap(([label, value]) => {
    const bar = T.element("i"), track = T.element("div", { class: "track" }, bar), share = Math.max(-1, Math.min(1, value / 0.5));
    bar.style.left = share < 0 ? `${50 + 50 * share}%` : "50%";
    bar.style.width = `${50 * Math.abs(share)}%`;
    bar.style.background = share < 0 ? "var(--false)" : "var(--found)";
    return [T.element("span", { text: label }), track, T.element("span", { class: "mono", text: T.fixed(value) })];
  }));
  const canvas = $("breakdown"), g = canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
  const order = [...d.events.lost.keys()].sort((a, b) => d.events.lost[b] - d.events.lost[a]).slice(0, 40);
  const width = canvas.clientWidth, height = 140;
  canvas.style.height = height + "px";
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas), color = (name) => style.getPropertyValue("--" + name);
  const most = Math.max(...order.map((i) => d.events.lost[i]), 1e-9), wide = Math.min(40, width / Math.max(order.length, 1));
  g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  order.forEach((i, place) => {
    const tall = (d.events.lost[i] / most) * (height - 34);
    g.fillStyle = color("false");
    g.fillRect(place * wide + 1, height - 18 - tall, Math.max(1, wide - 2), tall);
    g.fillStyle = color("soft");
    if (wide >= 22) {
      const text = "#" + (d.events.number[i] + 1);
      g.fillText(text, place * wide + wide / 2 - g.measureText(text).width / 2, height - 5);
    }
  });
  g.fillStyle = color("soft");
  g.fillText(`cost of each event, at most ${T.fixed(most)}` + (order.length < d.events.lost.length ? ` (the ${order.length} worst of ${d.events.lost.length})` : ""), 2, 11);
}

function fillDetectors(names) {
  const pick = $("detector");
  pick.replaceChildren(...names.map((name) => T.element("option", { value: name, text: name })));
  pick.value = state.detector;
  $("lines").replaceChildren(...names.map((name) => {
    const box = T.element("input", { type: "checkbox", onchange: (e) => { if (e.target.checked) state.shown.add(name); else state.shown.delete(name); show(); } });
    box.checked = state.shown.has(name) || name === state.detector;
    box.disabled = name === state.detector;
    return T.element("label", {}, box, " ", name);
  }));
  $("lines-box").hidden = names.length < 2;
}

if (page.operations) {
  state.series = page.operations.first;
  for (const id of ["sweep", "sweep-key"]) $(id).remove();
  Operations(page, async (series, start, stop) => {
    if (state.series !== series) { state.series = series; $("series").value = series; await show(); }
    chart.jump(start, stop);
    $("view").scrollIntoView({ block: "start" });
  });
}
$("series").replaceChildren(...page.series.map((s, i) => T.element("option", { value: i, text: s.name || "series" })));
$("series").value = state.series;
$("series-box").hidden = page.series.length < 2;
$("series").addEventListener("change", (e) => { state.series = Number(e.target.value); show(); });
$("detector").addEventListener("change", (e) => { state.detector = e.target.value; show(); });
$("slider").addEventListener("input", (e) => {
  state.level[key(state.detector)] = Number(e.target.value);
  thresholds();
  chart.draw();
  if (events) events.fill();
});
$("start").addEventListener("click", () => { delete state.level[key(state.detector)]; thresholds(); chart.draw(); if (events) events.fill(); });
for (const [id, act] of Object.entries({ in: () => chart.zoom(0.5), out: () => chart.zoom(2), whole: () => chart.whole(), left: () => chart.pan(-0.25), right: () => chart.pan(0.25), previous: () => chart.event(-1), next: () => chart.event(1) })) $("go-" + id).addEventListener("click", act);
window.addEventListener("resize", () => { if (state.view) { thresholds(); drawCards(); drawBreakdown(); } });
if (!window.DecompressionStream) $("readout").textContent = "This browser is too old to unpack the data of this page.";
else show();
comparison();
