"use strict";
// The tables of numbers: the detectors side by side, and the metrics of one series beside random and perfect.
function comparison() {
  const found = page.comparison;
  if (!found) return;
  const pick = $("board-metric");
  pick.replaceChildren(...page.metrics.map((m) => T.element("option", { value: m.name, text: m.label })));
  const valued = page.metrics.filter((m) => found.boards[m.name].mean.some((v) => v !== null));
  const preferred = valued.find((m) => m.name === "vus_pr") || valued[0] || page.metrics[0];
  pick.value = preferred.name;
  const several = found.series > 1, detectors = found.detectors;
  function fill() {
    const board = found.boards[pick.value], metric = page.metrics.find((m) => m.name === pick.value);
    const flaw = (i) => (board.flaws && board.flaws[i]) || "";  // why a detector is never first
    const lowest = Math.min(...board.rank.map((r, i) => (flaw(i) ? Infinity : r ?? Infinity)));
    const rows = detectors.map((name, i) => ({
      name, i, mean: board.mean[i], rank: board.rank[i], low: board.low[i], high: board.high[i], defined: board.defined[i],
      wins: board.wins.length ? board.wins[0][i] : null, ties: board.wins.length ? board.wins[1][i] : null,
    }));
    const known = rows.filter((r) => !flaw(r.i)).map((r) => r.mean).filter((v) => v !== null);
    const top = known.length ? (metric.lower ? Math.min(...known) : Math.max(...known)) : null;
    const columns = [
      { key: "name", label: "Detector", cell: (r, td) => td.append(T.element("span", { class: "name", title: r.name, text: r.name }), flaw(r.i) ? T.element("span", { class: "small soft", text: ` (${flaw(r.i)})` }) : "") },
      { key: "mean", label: several ? "Mean" : "Value", number: true, text: (r) => T.fixed(r.mean), exact: (r) => r.mean, best: (r) => r.mean !== null && r.mean === top && !flaw(r.i) },
    ];
    if (several) columns.push(
      { key: "rank", label: "Mean rank", number: true, text: (r) => T.fixed(r.rank, 2) },
      { key: "low", label: "95 % interval", number: true, roomy: true, text: (r) => (r.low === null ? "–" : `${T.fixed(r.low, 2)}–${T.fixed(r.high, 2)}`) },
      { key: "wins", label: "Wins", number: true, roomy: true, title: "Series and rivals that it beats", text: (r) => T.whole(r.wins ?? 0) },
      { key: "told", label: "Differs from the best", sort: (r) => (r.rank === null ? null : flaw(r.i) ? 3 : r.rank === lowest ? 0 : board.best.includes(r.i) ? 1 : 2), text: (r) => (!board.best.length || r.rank === null || flaw(r.i) ? "–" : r.rank === lowest ? "best" : board.best.includes(r.i) ? "no" : "yes") },
      { key: "defined", label: "Series", number: true, title: "Series on which it has a value", text: (r) => `${T.whole(r.defined)} of ${T.whole(found.series)}`, sort: (r) => r.defined },
    );
    const ranked = several && board.rank.some((r) => r !== null);
    T.table($("board-table"), columns, rows, { sort: ranked ? "rank" : "mean", down: !ranked && !metric.lower, caption: "Comparison" });
    const drawn = detectors.map((_, i) => i).filter((i) => board.rank[i] !== null);
    $("board-diagram").replaceChildren();
    if (several && board.best.length) T.diagram($("board-diagram"), drawn.map((i) => detectors[i]), drawn.map((i) => board.rank[i]), board.groups.map((g) => g.map((i) => drawn.indexOf(i))));
    const words = metric.lower ? ["Lower is better."] : [];
    if (board.flaws) words.push("A detector with a remark in brackets is never the best.");
    if (detectors.length < page.detectors.length) words.push("Of several seeds, the mean.");
    else if (several && board.defined.some((count) => count < found.series)) words.push(page.missing === "worst" ? "Where a detector has no scores, the mean has the worst value of its rivals there." : "Means are over the series on which a detector has a value.");
    if (several && board.series > 1) {
      const rest = detectors.filter((_, i) => board.rank[i] === null);
      words.push(`Ranks stand on the ${T.whole(board.series)} series on which every detector${rest.length ? " that is ranked" : ""} has a value.`);
      if (rest.length) words.push(`Not ranked without any value: ${rest.join(", ")}.`);
      if (board.friedman !== null) words.push(`Friedman test (Iman-Davenport): p ${board.friedman < 1e-4 ? "< 0.0001" : "= " + T.fixed(board.friedman)}.`);
      words.push(T.bars(board.groups, board.many));
      if (board.too_few) words.push(T.sentence(board.too_few));
    } else words.push(several ? `There are ${T.whole(board.series)} series on which every detector has a value, too few for ranks and tests.` : "With one series there is nothing to test: values are shown as they are.");
    $("board-note").textContent = words.join(" ");
    $("answer").textContent = answer(board, metric, flaw);
    spread(board, metric);
  }

  // What the numbers below come to, in two sentences.
  function answer(board, metric, flaw) {
    const able = detectors.map((_, i) => i).filter((i) => !flaw(i) && board.mean[i] !== null);
    if (!able.length) return `No detector can be called the best by ${metric.label}.`;
    const key = (i) => (several && board.rank[i] !== null ? board.rank[i] : metric.lower ? board.mean[i] : -board.mean[i]);
    const top = Math.min(...able.map(key)), first = able.filter((i) => key(i) === top), rest = able.filter((i) => key(i) !== top);
    const names = (list) => list.slice(0, 5).map((i) => detectors[i]).join(", ") + (list.length > 5 ? ` and ${list.length - 5} more` : "");
    const said = [`${names(first)} ${first.length > 1 ? "share the first place" : "is first"} by ${metric.label} (${several ? "mean " : ""}${T.fixed(board.mean[first[0]])}${several ? ` on ${T.whole(board.defined[first[0]])} series` : ""}).`];
    const alike = rest.filter((i) => board.best.includes(i));
    if (!several || !board.best.length) said.push("There is nothing to test whether that is more than chance: too few series.");
    else if (board.too_few) said.push("There are too few series to tell it from the others.");
    else if (rest.length) said.push(alike.length ? `Not significantly different at 5 %: ${names(alike)}.` : "It is significantly different from all others at 5 %.");
    const out = detectors.map((_, i) => i).filter(flaw);
    if (out.length) said.push(`Never first: ${names(out)} (${[...new Set(out.map(flaw))].join("; ")}).`);
    return said.join(" ");
  }

  // The values on the series, a row for each detector, and their mean.
  function spread(board, metric) {
    const ns = "http://www.w3.org/2000/svg", width = Math.max(300, $("spread").clientWidth || 640), step = 24;
    const m = page.metrics.indexOf(metric), order = detectors.map((_, i) => i).filter((i) => board.mean[i] !== null);
    order.sort((a, b) => (board.rank[a] ?? 0) - (board.rank[b] ?? 0) || (metric.lower ? 1 : -1) * (board.mean[a] - board.mean[b]));
    const drawn = order.slice(0, 20), values = drawn.map((i) => (several ? page.series.map((s) => (s.detectors[detectors[i]] ? s.detectors[detectors[i]].metrics[m].value : null)).filter(Number.isFinite) : []));
    const all = [...values.flat(), ...drawn.map((i) => board.mean[i])];
    $("spread").replaceChildren();
    if (!all.length) return;
    let [low, high] = metric.range.every((v) => v !== null) ? metric.range : [Math.min(0, ...all), Math.max(...all)];
    if (low < 0 && Math.min(...all) >= 0) low = 0;
    if (!(high > low)) high = low + 1;
    const svg = document.createElementNS(ns, "svg"), letters = Math.max(8, Math.min(28, Math.floor(width / 22))), left = 7.4 * Math.min(letters, Math.max(...drawn.map((i) => detectors[i].length))) + 12;
    const x = (v) => left + (width - left - 56) * Math.max(0, Math.min(1, (v - low) / (high - low)));
    const draw = (tag, attributes, text) => {
      const part = document.createElementNS(ns, tag);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      if (text !== undefined) part.textContent = text;
      svg.append(part);
    };
    svg.setAttribute("viewBox", `0 0 ${width} ${step * drawn.length + 22}`);
    svg.setAttribute("width", "100%");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${metric.label} by detector: ` + drawn.map((i) => `${detectors[i]} ${T.fixed(board.mean[i])}`).join(", "));
    for (const v of [low, (low + high) / 2, high]) {
      draw("path", { class: "grid", d: `M${x(v)} 0V${step * drawn.length}` });
      draw("text", { x: x(v), y: step * drawn.length + 15, "text-anchor": "middle" }, T.short(v, 3));
    }
    drawn.forEach((i, j) => {
      const y = step * (j + 0.5), name = detectors[i];
      draw("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, name.length > letters ? name.slice(0, letters - 1) + "…" : name);
      for (const v of values[j]) draw("circle", { cx: x(v), cy: y, r: 4 });
      draw("path", { class: "mean", d: `M${x(board.mean[i])} ${y - 8}V${y + 8}` });
      draw("text", { x: width - 50, y: y + 4 }, T.fixed(board.mean[i]));
    });
    $("spread").append(svg, T.element("p", { class: "small soft", text: (several ? `${metric.label}: a dot is a series, the bar the mean.` : `${metric.label} of each detector.`) + (metric.lower ? " Lower is better." : "") + (order.length > drawn.length ? ` The first ${drawn.length} of ${order.length} detectors.` : "") }));
  }
  pick.addEventListener("change", fill);
  fill();
  window.addEventListener("resize", fill);
  const winners = new Map();
  for (const metric of page.metrics) {
    const board = found.boards[metric.name];
    const scale = board.rank.some((r) => r !== null) ? board.rank.map((r) => r ?? Infinity) : board.mean.map((v) => (v === null ? Infinity : metric.lower ? v : -v));
    if (board.flaws) board.flaws.forEach((flaw, i) => { if (flaw) scale[i] = Infinity; });
    const top = Math.min(...scale);
    if (!Number.isFinite(top)) continue;
    detectors.forEach((name, i) => { if (scale[i] === top) winners.set(name, [...(winners.get(name) || []), metric.label]); });
  }
  const rows = [...winners].map(([name, metrics]) => ({ name, count: metrics.length, metrics: metrics.join(", ") }));
  T.table($("winners"), [
    { key: "name", label: "Detector" }, { key: "count", label: "Metrics it wins", number: true },
    { key: "metrics", label: "Which", cell: (r, td) => { td.textContent = r.metrics; td.style.whiteSpace = "normal"; td.style.minWidth = "min(14rem, 42vw)"; } },
  ], rows, { sort: "count", down: true, caption: "Winners by metric" });
  if (detectors.length > 2 && page.metrics.length > 1) T.heat($("agreement"), page.metrics.map((m) => m.label), found.agreement);
  else $("agreement-box").hidden = true;
}

// The same for one detector: its value between chance and the labels themselves.
function answerOfOne() {
  const series = page.series[state.series], values = series.detectors[state.detector].metrics;
  const of = (m) => values[m].value !== null, names = page.metrics.map((m) => m.name);
  const m = [names.indexOf("vus_pr"), ...names.keys()].find((i) => i >= 0 && of(i));
  if (m === undefined) return `No metric has a value${series.name ? ` on ${series.name}` : ""}.`;
  const { value, random, perfect } = values[m], where = page.series.length > 1 ? ` on ${series.name}` : "";
  return `${state.detector} has a ${page.metrics[m].label} of ${T.fixed(value)}${where}` + (random === null ? "." : `; the same scores in random order have ${T.fixed(random)}, the labels as scores ${T.fixed(perfect)}.`);
}

function metricsTable() {
  const series = page.series[state.series], names = Object.keys(series.detectors);
  const all = page.metrics.map((metric, m) => ({ metric, m, ...series.detectors[state.detector].metrics[m] }));
  const valued = all.filter(({ m }) => names.some((name) => series.detectors[name].metrics[m].value !== null));
  // Where a class is missing most metrics have no value: one line says so instead of a row for each.
  const one = !series.anomalous || series.anomalous === series.n;
  const rows = one ? valued : all;
  const flawed = (metric, name) => page.comparison && (((page.comparison.flaws[metric.name] || {})[series.name] || [])[page.comparison.detectors.indexOf(name)]);
  const best = new Map(rows.map(({ metric, m }) => {
    const values = names.filter((name) => !flawed(metric, name)).map((name) => series.detectors[name].metrics[m].value).filter((v) => v !== null);
    return [m, names.length > 1 && values.length ? (metric.lower ? Math.min(...values) : Math.max(...values)) : null];
  }));
  const above = new Set(rows.filter((r) => names.some((name) => beyond(r.metric, series.detectors[name].metrics[r.m]))).map((r) => r.m));
  const columns = [
    { key: "label", label: "Metric", sort: (r) => r.metric.label.toLowerCase(), text: (r) => r.metric.label + " " + r.metric.name,
      cell: (r, td) => td.append(T.element("span", { title: r.metric.summary, text: r.metric.label + (above.has(r.m) ? " †" : "") }), r.metric.lower ? T.element("span", { class: "soft", title: "lower is better", text: " ↓" }) : "") },
  ];
  for (const name of names) columns.push({
    key: "value of " + name, label: names.length > 1 ? name : "Value", number: true,
    sort: (r) => series.detectors[name].metrics[r.m].value, text: (r) => T.fixed(series.detectors[name].metrics[r.m].value),
    exact: (r) => series.detectors[name].metrics[r.m].value ?? series.detectors[name].metrics[r.m].message,
    best: (r) => best.get(r.m) !== null && series.detectors[name].metrics[r.m].value === best.get(r.m) && !flawed(r.metric, name),
  });
  if (page.draws) columns.push({ key: "random", label: "Random (baseline)", number: true, text: (r) => T.fixed(r.random) + (r.error ? ` ± ${T.fixed(r.error)}` : ""), title: "Mean of the same scores in random order, ± its standard error" });
  columns.push({ key: "perfect", label: "Perfect (baseline)", number: true, text: (r) => T.fixed(r.perfect), title: "The labels themselves as scores" });
  if (page.draws) columns.push({ key: "skill", label: "From random to perfect", sort: skill, text: () => "", cell: meter });
  columns.push({ key: "threshold", label: "Threshold", number: true, text: (r) => (r.threshold === null ? "" : T.short(r.threshold)), exact: (r) => r.threshold, title: "Alarms are scores above it" });
  columns.push({ key: "rule", label: "Rule", text: (r) => r.rule || "", title: "How the threshold was found; metrics of scores need none" });
  const table = T.table($("metrics-table"), columns, rows, { caption: "Metrics", after: (n) => { $("metrics-count").textContent = `${n} metric${n === 1 ? "" : "s"}` + (names.length > 1 ? `; the columns from the baselines on are about ${state.detector}` : ""); } });
  $("metrics-table").hidden = !rows.length;
  $("metrics-filter").oninput = (e) => table.filter(e.target.value);
  if ($("metrics-filter").value) table.filter($("metrics-filter").value);
  const notes = rows.some((r) => r.metric.lower) ? ["↓ Lower is better."] : [];
  if (rows.length < all.length) notes.push(`${all.length - rows.length} of ${all.length} metrics have no value on this series, because it has no ${series.anomalous ? "normal" : "anomalous"} point.`);
  const reasons = new Map();
  for (const r of rows) if (r.value === null && r.message) reasons.set(r.message, [...(reasons.get(r.message) || []), r.metric.label]);
  for (const [reason, labels] of reasons) notes.push(`No value of ${labels.join(", ")}: ${reason}.`);
  if (above.size) notes.push("† By its definition this metric does not give the labels themselves the largest value, so a detector can be above “Perfect (baseline)”; see the last section of the errata.");
  if (rows.some((r) => { const s = skill(r); return s !== null && (s < 0 || s > 1); })) notes.push("From random to perfect: below 0 % is worse than the same scores in random order, above 100 % better than the labels as scores (†).");
  $("metrics-footnotes").replaceChildren(...notes.map((text) => T.element("p", { text })));
}

// Is a detector better than the labels themselves, by more than rounding?
function beyond(metric, { value, perfect }) {
  if (value === null || perfect === null) return false;
  return (metric.lower ? perfect - value : value - perfect) > 1e-9 * Math.max(1, Math.abs(perfect));
}

function skill(row) {
  if (row.value === null || row.random === null || row.perfect === null) return null;
  const way = row.metric.lower ? row.random - row.perfect : row.perfect - row.random;
  // Where random scores are as good as perfect ones, or better, there is no way between them.
  if (way <= 1e-3 * Math.max(Math.abs(row.perfect), Math.abs(row.random))) return null;
  return (row.metric.lower ? row.random - row.value : row.value - row.random) / way;
}

function meter(row, td) {
  const share = skill(row);
  if (share === null) {
    td.textContent = row.value === null || row.random === null || row.perfect === null ? "–" : "– (random is as good)";
    td.title = row.message || "";
    return;
  }
  const at = Math.max(-0.1, Math.min(1.1, share)), left = (s) => `${((s + 0.1) / 1.2) * 100}%`;
  const text = share < -1 ? "< −100 %" : share > 2 ? "> 200 %" : `${(100 * share).toFixed(0).replace("-", "−")} %`;
  const bar = T.element("span", { class: "meter", role: "img", "aria-label": `${text} of the way from random to perfect` });
  for (const [place, color] of [[0, "var(--soft)"], [1, "var(--soft)"], [at, "var(--found)"]]) {
    const mark = T.element("i");
    mark.style.left = left(place);
    mark.style.background = color;
    if (place === at) mark.style.width = "5px";
    bar.append(mark);
  }
  td.append(bar, T.element("span", { class: "share", text }));
}
