"use strict";
// The answer of a choice: its numbers, a strip of time for each series, the incidents, and what is known of their kinds.
// `page` is the data, `jump(series, start, stop)` shows a place in the chart.
function Operations(page, jump) {
  const data = page.operations, $ = (id) => document.getElementById(id), { words } = data;
  const series = data.series.map((one, i) => ({ ...one, i, name: page.series[i].name || "series", clock: page.series[i].clock && clockOf(page.series[i].clock) }));
  const timed = series.every((one) => one.clock), chosen = data.rows.find((row) => row.detector === data.detector);
  const stamp = (one, place) => (one.clock ? one.clock.text(place, 6e4) : T.whole(Math.round(place)));
  const lasting = (one, [, , from, to]) => (one.clock ? one.clock.lasting(to - from) : T.whole(to - from));
  const late = (delay) => (delay === null || delay === undefined ? "–" : timed ? duration(6e4 * delay) || "0 min" : T.whole(delay));
  const incidents = series.flatMap((one) => one.incidents.map((incident) => ({ one, ...incident })));
  // What is known of incidents beside their series, which has a column of its own.
  const known = [...new Set(incidents.flatMap((x) => Object.keys(x.about)))].filter((name) => incidents.some((x) => x.about[name] !== x.one.name));
  const week = 6048e5, perWeek = (pages, normal) => (normal ? (pages * week) / normal : null);
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
    return !sorted.length ? null : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  const span = (time) => (time < 2 * week ? duration(time) : `${T.short(time / week, 3)} weeks`);

  function tiles() {
    const found = incidents.filter((x) => x.found), normal = series.reduce((sum, one) => sum + (one.normal || 0), 0);
    const pages = series.reduce((sum, one) => sum + one.pages.length, 0), delays = found.map((x) => x.delay);
    const facts = [
      [`${T.whole(found.length)} of ${T.whole(incidents.length)}`, `${words.events} found`],
      [T.whole(incidents.length - found.length), `${words.events} missed`],
      [T.whole(pages), words.pages],
      ...(normal ? [[T.short(perWeek(pages, normal), 2), `${words.pages} a week${series.length > 1 ? " and series" : ""}`]] : []),
      [late(median(delays)), "median delay"],
      ...(timed ? [[span(median(series.map((one) => one.ends[3] - one.ends[2]))), series.length > 1 ? `of ${T.whole(series.length)} series (median)` : "in all"]] : []),
    ];
    $("answer-tiles").replaceChildren(...facts.map(([value, label]) => T.element("div", { class: "tile" }, T.element("b", { text: value }), T.element("span", { text: label }))));
  }

  // Months, weeks or days, as many as there is room for.
  function ticks(low, high, room, clock) {
    if (!clock || clock.kind === "numbers") {
      const step = ROUND.find((s) => (high - low) / s <= room / 70) || (high - low);
      const found = [];
      for (let t = Math.ceil(low / step) * step; t <= high; t += step) found.push([t, clock ? clock.text(t) : T.whole(t)]);
      return found;
    }
    const days = (high - low) / DAY, every = [1, 2, 3, 6, 12].find((m) => days / 30.4 / m <= room / 44) || 12, found = [];
    if (days > 75) {
      const first = new Date(low);
      for (let m = first.getUTCMonth() + (first.getUTCDate() > 1), y = first.getUTCFullYear(); ; m++) {
        const t = Date.UTC(y, m, 1);
        if (t > high) break;
        const date = new Date(t);
        if (date.getUTCMonth() % every === 0) found.push([t, date.getUTCMonth() ? date.toLocaleString("en", { month: "short", timeZone: "UTC" }) : String(date.getUTCFullYear())]);
      }
      return found;
    }
    const step = [DAY / 4, DAY / 2, DAY, 2 * DAY, 7 * DAY, 14 * DAY].find((s) => (high - low) / s <= room / 62) || 28 * DAY;
    for (let t = Math.ceil(low / step) * step; t <= high; t += step) found.push([t, step < DAY ? clock.text(t, 6e4).slice(5) : clock.text(t, DAY).slice(5)]);
    return found;
  }

  function strips() {
    const target = $("strips"), width = Math.max(280, target.clientWidth || 900), narrow = width < 600;
    const names = narrow ? 0 : Math.min(190, 16 + 7 * Math.max(...series.map((one) => one.name.length))), counts = narrow ? 0 : 120;
    const left = names + 1, right = width - counts - 1, row = narrow ? 42 : 28, top = 20, tall = 22;
    // One axis for all series where they overlap in time; else each has its own.
    const spans = series.map((one) => [one.ends[2], one.ends[3]]), low = Math.min(...spans.map((s) => s[0])), high = Math.max(...spans.map((s) => s[1]));
    const shared = timed && spans.every(([a, b]) => b - a > (high - low) / 20);
    const ns = "http://www.w3.org/2000/svg", range = (one) => (shared ? [low, high] : [one.ends[2], one.ends[3]]);
    const dates = shared ? ticks(low, high, right - left, series[0].clock) : [];
    const place = (t, [from, to]) => left + ((right - left) * (t - from)) / (to - from || 1);
    // A picture for each series, so that pages of print can break between them.
    const picture = (height, label) => {
      const svg = document.createElementNS(ns, "svg");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", label);
      const draw = (tag, attributes, text, tip) => {
        const part = document.createElementNS(ns, tag);
        for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
        if (text) part.textContent = text;
        if (tip) part.append(Object.assign(document.createElementNS(ns, "title"), { textContent: tip }));
        svg.append(part);
        return part;
      };
      return [svg, draw];
    };
    // Names differ at their ends.
    const cut = (text, letters) => (text.length > letters ? "…" + text.slice(1 - letters) : text);
    const drawn = series.map((one) => {
      const missed = one.incidents.filter((e) => !e.found).length, y = narrow ? 16 : 2, x = (t) => place(t, range(one));
      const said = one.incidents.length || one.pages.length ? `${one.incidents.length - missed} of ${one.incidents.length} · ${one.pages.length} false` : "quiet";
      const [svg, draw] = picture(row, `${one.name}: ${said}`);
      draw("text", narrow ? { x: left, y: y - 4 } : { x: names - 6, y: y + 15, "text-anchor": "end" }, cut(one.name, narrow ? 36 : 26), one.name);
      draw("text", narrow ? { class: "soft", x: right, y: y - 4, "text-anchor": "end" } : { class: "soft", x: right + 8, y: y + 15 }, said);
      draw("rect", { class: "lane", x: x(one.ends[2]), y, width: Math.max(1, x(one.ends[3]) - x(one.ends[2])), height: tall });
      for (const [t] of dates) draw("path", { class: "tick", d: `M${x(t)} ${y}V${y + tall}` });
      const mark = (kind, span, wide, a, b, tip) => {
        const middle = (x(span[2]) + x(span[3])) / 2, w = Math.max(wide, x(span[3]) - x(span[2]));
        const part = draw("rect", { class: `mark ${kind}`, x: Math.max(left, Math.min(right - w, middle - w / 2)), y: y + a, width: w, height: b - a }, null, tip);
        part.addEventListener("click", () => jump(one.i, span[0], span[1]));
      };
      for (const span of one.pages) mark("false", span, 2, 14, tall, `false alarm, ${stamp(one, span[2])}`);
      for (const e of one.incidents.filter((e) => e.found)) mark("found", e.span, 4, 1, 12, `found after ${late(e.delay)}: ${stamp(one, e.span[2])}`);
      for (const e of one.incidents.filter((e) => !e.found)) mark("missed", e.span, 6, 2, 12, `missed: ${stamp(one, e.span[2])}, ${lasting(one, e.span)}`);
      return svg;
    });
    if (dates.length) {
      const [svg, draw] = picture(top, "Dates");
      for (const [t, text] of dates) if (place(t, [low, high]) < right - 24) draw("text", { class: "soft", x: place(t, [low, high]), y: 14 }, text);
      drawn.unshift(svg);
    }
    target.replaceChildren(...drawn);
  }

  function table() {
    const only = $("missed-only").checked, wanted = $("missed-series").value;
    const rows = incidents.filter((x) => (!only || !x.found) && (wanted === "" || x.one.i === Number(wanted)));
    const missed = rows.filter((x) => !x.found).length;
    $("missed-title").textContent = only ? `Missed ${words.events}` : `All ${words.events}`;
    $("missed-note").textContent = !incidents.length ? `There are no ${words.events} in these scores.` : !rows.length ? `None was missed.` : `${T.whole(missed)} missed${only ? "" : ` of ${T.whole(rows.length)}`}. Choose one to see its scores.`;
    $("missed-table").hidden = !rows.length;
    const zone = series[0] && series[0].clock && series[0].clock.zone;
    T.table($("missed-table"), [
      { key: "start", label: "Start" + (zone ? ` (${zone})` : ""), sort: (x) => x.span[2], text: (x) => stamp(x.one, x.span[2]) },
      ...(series.length > 1 ? [{ key: "name", label: "Series", sort: (x) => x.one.name, text: (x) => x.one.name }] : []),
      { key: "lasting", label: timed ? "Duration" : "Points", number: true, sort: (x) => x.span[3] - x.span[2], text: (x) => lasting(x.one, x.span) },
      ...(only ? [] : [{ key: "delay", label: "First alarm after", number: true, sort: (x) => x.delay, text: (x) => (x.found ? late(x.delay) : "missed") }]),
      ...known.map((name) => ({ key: name, label: name, sort: (x) => x.about[name], text: (x) => x.about[name] ?? "" })),
    ], rows, { sort: "start", caption: "Incidents", jump: (x) => jump(x.one.i, x.span[0], x.span[1]) });
  }

  // Found and missed by series, and by every column of the incidents that has few values.
  function groups() {
    const summed = (title, label, keys, of, pages) => {
      const rows = keys.map((name) => {
        const own = incidents.filter((x) => of(x) === name), found = own.filter((x) => x.found);
        return { name, events: own.length, found: found.length, missed: own.length - found.length, delay: median(found.map((x) => x.delay)), cost: own.reduce((sum, x) => sum + x.cost, 0), ...(pages ? pages(name) : {}) };
      });
      const box = T.element("div", { class: "wide" });
      T.table(box, [
        { key: "name", label, text: (r) => r.name || "series" },
        { key: "missed", label: "Missed", number: true },
        { key: "found", label: "Found", number: true, text: (r) => `${r.found} of ${r.events}` },
        { key: "delay", label: "Median delay", number: true, text: (r) => late(r.delay) },
        ...(pages ? [{ key: "pages", label: words.pages[0].toUpperCase() + words.pages.slice(1), number: true }, ...(timed ? [{ key: "rate", label: "a week", number: true, roomy: true, text: (r) => (r.rate === null ? "–" : T.short(r.rate, 2)) }] : [])] : [{ key: "cost", label: "Cost", number: true, roomy: true, title: "Of these alone: false alarms have no part in it", text: (r) => T.short(r.cost, 4) }]),
      ], rows, { sort: "missed", down: true, caption: title });
      return [T.element("h3", { text: title }), box];
    };
    const boxes = [];
    if (series.length > 1) boxes.push(...summed("By series", "Series", series.map((one) => one.i), (x) => x.one.i, (i) => ({ name: series[i].name, pages: series[i].pages.length, rate: perWeek(series[i].pages.length, series[i].normal) })));
    for (const column of known) {
      const keys = [...new Set(incidents.map((x) => x.about[column] ?? "unknown"))];
      if (keys.length > 1 && keys.length <= Math.min(20, incidents.length / 2)) boxes.push(...summed(`By ${column}`, column, keys, (x) => x.about[column] ?? "unknown"));
    }
    $("by-boxes").replaceChildren(...boxes);
  }

  function detectors() {
    const number = (value, digits) => (value === null ? "–" : T.short(value, digits));
    T.table($("choice-table"), [
      { key: "detector", label: "Detector", best: (r) => r.detector === data.detector, text: (r) => r.detector },
      { key: "threshold", label: "Threshold", number: true, roomy: true, text: (r) => (r.message ? "none" : String(r.threshold)), title: "Alarms are scores above it" },
      { key: "detected", label: "Found", number: true, text: (r) => `${r.detected} of ${r.events}` },
      { key: "false_alarms", label: words.pages[0].toUpperCase() + words.pages.slice(1), number: true, text: (r) => T.whole(r.false_alarms) },
      ...(words.per ? [{ key: "rate", label: words.per, number: true, text: (r) => number(r.rate, 2) }] : []),
      { key: "median", label: "Median delay", number: true, text: (r) => late(r.median) },
      { key: "p90", label: "90 % within", number: true, roomy: true, text: (r) => late(r.p90) },
      { key: "cost", label: "Cost", number: true, roomy: true, text: (r) => number(r.cost, 4) },
    ], data.rows, { caption: "Detectors" });
  }

  $("missed-series").replaceChildren(T.element("option", { value: "", text: "all" }), ...series.filter((one) => one.incidents.length).map((one) => T.element("option", { value: one.i, text: one.name })));
  $("missed-series-box").hidden = series.length < 2;
  for (const id of ["missed-only", "missed-series"]) $(id).addEventListener("change", table);
  window.addEventListener("resize", strips);
  window.addEventListener("beforeprint", strips);
  tiles();
  strips();
  table();
  groups();
  detectors();
}
