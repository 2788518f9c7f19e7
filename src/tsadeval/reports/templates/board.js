"use strict";
// The leaderboard: standings by metric and group, and pages of detectors, series and metrics.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.body.dataset.root;
  const board = window.BOARD;
  T.theme($("theme"));
  const known = new Map(), waiting = new Map();

  // Data comes as scripts: pages that are opened as files may not read other files in any other way.
  window.STANDINGS = (data) => {
    known.set(data.metric, data.groups);
    (waiting.get(data.metric) || []).forEach((done) => done(data.groups));
    waiting.delete(data.metric);
  };
  function standings(metric) {
    if (known.has(metric.name)) return Promise.resolve(known.get(metric.name));
    return new Promise((done) => {
      if (waiting.has(metric.name)) { waiting.get(metric.name).push(done); return; }
      waiting.set(metric.name, [done]);
      document.head.append(T.element("script", { src: `${root}data/standings/${metric.path}.js` }));
    });
  }
  const link = (kind, entry, text) => T.element("a", { class: "name", title: entry.name, href: `${root}${kind}/${entry.path}.html`, text: text || entry.name });

  // A baseline is told by its kind: a detector may have such a name too.
  const called = (entry) => (entry.kind === "submission" ? entry.name : `${entry.name} (${entry.kind})`);

  function drawStanding(metric, group, found, baselines, filter) {
    const one = found[group];
    const rows = one.listed.map((d, i) => ({
      entry: board.detectors[d], name: board.detectors[d].name, i, mean: one.mean[i], rank: one.rank[i], low: one.low[i], high: one.high[i], defined: one.defined[i],
      letters: one.groups.map((g, j) => (g.includes(i) ? String.fromCharCode(97 + (j % 26)) : "")).join(""),
      told: one.best.includes(i), flaw: (one.flaws && one.flaws[i]) || "",
    })).filter((row) => baselines || row.entry.kind === "submission");
    // Nobody who is never first (see docs/compare.md) stands before the first of the others.
    const able = rows.filter((r) => !r.flaw), lowest = Math.min(...able.map((r) => r.rank ?? Infinity));
    const stand = (r) => (r.flaw && Number.isFinite(lowest) ? Math.max(r.rank, lowest) : r.rank);
    rows.sort((a, b) => stand(a) - stand(b) || !!a.flaw - !!b.flaw);
    rows.forEach((row, i) => { row.place = i + 1; });
    const k = one.listed.length, means = able.map((r) => r.mean).filter((v) => v !== null);
    const top = metric.lower ? Math.min(...means) : Math.max(...means);
    const at = (rank) => `${(100 * (rank - 1)) / Math.max(k - 1, 1)}%`;
    const columns = [
      { key: "place", label: "#", number: true },
      { key: "name", label: "Detector", cell: (r, td) => { td.append(link("detectors", r.entry)); if (r.entry.kind !== "submission") td.append(T.element("span", { class: "small soft kind", text: ` (${r.entry.kind})` })); else if (r.flaw) td.append(T.element("span", { class: "small soft kind", text: ` (never first: ${r.flaw})` })); } },
      { key: "mean", label: `Mean ${metric.label}`, number: true, text: (r) => T.fixed(r.mean), best: (r) => r.mean === top && !r.flaw },
      { key: "rank", label: "Mean rank", number: true, text: (r) => T.fixed(r.rank, 2) },
      { key: "low", label: "95 % interval", number: true, text: (r) => (r.low === null ? "–" : `${T.fixed(r.low, 2)}–${T.fixed(r.high, 2)}`) },
      { key: "bar", label: "", hidden: "Mean rank, drawn", roomy: true, sort: (r) => r.rank, text: () => "", cell: (r, td) => {
        if (r.rank === null) return;
        const line = T.element("i"), dot = T.element("b");
        line.style.left = at(r.low); line.style.width = `calc(${at(r.high)} - ${at(r.low)})`;
        dot.style.left = at(r.rank);
        td.append(T.element("span", { class: "rank", role: "img", "aria-label": `rank ${T.fixed(r.rank, 2)} of ${k}` }, line, dot));
      } },
      { key: "letters", label: "Ties", title: "Detectors that share a letter are not significantly different" },
      { key: "defined", label: "Series", number: true, text: (r) => `${r.defined} of ${one.n}` },
    ];
    const table = T.table($("table"), columns, rows, { sort: "place", caption: "Standings", rowClass: (r) => (r.entry.kind === "submission" ? null : "baseline") });
    if (filter) table.filter(filter);
    const shown = one.listed.map((d, i) => i).filter((i) => baselines || board.detectors[one.listed[i]].kind === "submission");
    const place = new Map(shown.map((i, j) => [i, j]));
    const groups = (one.groups || []).map((g) => g.filter((i) => place.has(i)).map((i) => place.get(i))).filter((g) => g.length > 1);
    const tested = Boolean(one.best && one.best.length);
    $("letters-note").textContent = tested && rows.some((r) => r.letters) ? "Ties: detectors that share a letter are not significantly different (Wilcoxon tests with Holm's correction, 5 %); one without a letter differs from all others." : "";
    if ($("diagram")) {
      $("diagram").replaceChildren();
      if (tested) T.diagram($("diagram"), shown.map((i) => called(board.detectors[one.listed[i]])), shown.map((i) => one.rank[i]), groups);
      $("diagram-note").textContent = tested ? `Mean ranks. ${T.bars(groups, one.many)}` : "There are too few series or detectors for tests.";
    }
    const words = [`${T.whole(one.n)} series on which the metric is defined.`];
    if (metric.lower) words.push("Lower is better.");
    if (one.friedman !== null && one.friedman !== undefined) words.push(`Friedman test (Iman-Davenport): p ${one.friedman < 1e-4 ? "< 0.0001" : "= " + T.fixed(one.friedman)}.`);
    if (one.too_few) words.push(T.sentence(one.too_few));
    const rest = board.detectors.length - one.listed.length;
    if (rest) words.push(`${rest} detectors have values on fewer than half of these series and are not listed.`);
    const short = one.listed.filter((d, i) => one.defined[i] < one.n).length;
    if (short) words.push(`${short} of those listed lack values on some of these series, where they count as worst; their means are over the others.`);
    $("note").textContent = one.listed.length ? words.join(" ") : "No detector has values on half of these series.";
    return table;
  }

  function fillGroups(select) {
    select.replaceChildren(...Object.entries(board.groups).map(([name, count]) => T.element("option", { value: name, text: `${name} (${count})` })));
    select.value = board.first_group;
  }

  function index() {
    const metric = $("metric"), group = $("group");
    metric.replaceChildren(...board.metrics.map((m) => T.element("option", { value: m.name, text: m.label })));
    fillGroups(group);
    // Addresses as #metric=vus_pr&group=NAB stay the same.
    function read() {
      const wanted = new URLSearchParams(location.hash.slice(1));
      metric.value = board.metrics.some((m) => m.name === wanted.get("metric")) ? wanted.get("metric") : board.first;
      group.value = wanted.get("group") in board.groups ? wanted.get("group") : board.first_group;
    }
    let table = null;
    async function show() {
      const chosen = board.metrics.find((m) => m.name === metric.value);
      const found = await standings(chosen);
      if (chosen.name !== metric.value) return;
      table = drawStanding(chosen, group.value, found, $("baselines").checked, $("filter").value);
      document.body.dataset.ready = `${metric.value} ${group.value}`;
    }
    function changed() {
      history.replaceState(null, "", "#" + new URLSearchParams({ metric: metric.value, group: group.value }));
      show();
    }
    metric.addEventListener("change", changed);
    group.addEventListener("change", changed);
    $("baselines").addEventListener("change", show);
    $("filter").addEventListener("input", (e) => table && table.filter(e.target.value));
    window.addEventListener("hashchange", () => { if (location.hash.includes("=")) { read(); show(); } });
    window.addEventListener("resize", show);
    read();
    show();
    const agree = board.agreement.map((row, i) => { const v = row.filter((x, j) => x !== null && j !== i); return v.length ? v.reduce((a, b) => a + b, 0) / v.length : null; });
    T.table($("metrics-table"), [
      { key: "label", label: "Metric", cell: (m, td) => td.append(link("metrics", m, m.label)) },
      { key: "gameability", label: "Gameability", number: true, text: (m) => T.fixed(m.gameability, 2) },
      { key: "one_liners", label: "One-liners", number: true, roomy: true, text: (m) => T.fixed(m.one_liners, 2), exact: (m) => m.one_liners === null && "lines of code need the series itself, which no file of labels has" },
      { key: "beats_median", label: "Beats the median", number: true, text: (m) => T.fixed(m.beats_median, 2) },
      { key: "agree", label: "Agreement", number: true, text: (m) => T.fixed(m.agree, 2) },
      { key: "summary", label: "What it is", roomy: true, cell: (m, td) => { td.textContent = m.summary; td.style.whiteSpace = "normal"; td.style.minWidth = "18rem"; } },
    ], board.metrics.map((m, i) => ({ ...m, agree: agree[i] })), { caption: "Metrics" });
    T.heat($("agreement"), board.metrics.map((m) => m.label), board.agreement);
    T.table($("series-table"), [
      { key: "name", label: "Series", cell: (s, td) => td.append(link("series", s)) },
      { key: "n", label: "Points", number: true, text: (s) => T.whole(s.n) },
      { key: "events", label: "Events", number: true, text: (s) => T.whole(s.events) },
      { key: "points", label: "Anomalous", number: true, text: (s) => T.whole(s.points) },
      { key: "median_length", label: "Median length", number: true, text: (s) => T.short(s.median_length) },
    ], board.series, { caption: "Series" });
  }

  // A page with one row per series or detector and a column per metric.
  function values(kind, label) {
    const data = JSON.parse($("data").textContent);
    const rows = data.rows.map((row, i) => ({ ...row, entry: row, values: data.values.map((column) => column[i]) })).filter((row) => row.values.some((v) => v !== null));
    const top = board.metrics.map((m, j) => {
      const found = rows.map((r) => r.values[j]).filter((v) => v !== null);
      return found.length > 1 && kind === "detectors" ? (m.lower ? Math.min(...found) : Math.max(...found)) : null;
    });
    const columns = [{ key: "name", label, cell: (r, td) => td.append(link(kind, r.entry)) }];
    board.metrics.forEach((m, j) => columns.push({ key: m.name, label: m.label, number: true, title: m.summary, sort: (r) => r.values[j], text: (r) => T.fixed(r.values[j]), best: (r) => top[j] !== null && r.values[j] === top[j] }));
    const table = T.table($("table"), columns, rows, { caption: "Values" });
    $("filter").addEventListener("input", (e) => table.filter(e.target.value));
    if ($("files")) T.table($("files"), [
      { key: "name", label: "Series", cell: (r, td) => td.append(link(kind, r.entry)) },
      { key: "sha256", label: "SHA-256", cell: (r, td) => td.append(T.element("span", { class: "mono", text: r.sha256 })) },
      { key: "message", label: "Note", text: (r) => r.message || "" },
    ], data.rows.filter((row) => row.sha256).map((row) => ({ ...row, entry: row })), { caption: "Score files" });
    if ($("standings")) places(data.standings);
    document.body.dataset.ready = "values";
  }

  // Where a detector stands by every metric: rows of [metric, mean, place, detectors, rank, low, high] by group.
  function places(data) {
    const group = $("group");
    fillGroups(group);
    function show() {
      const rows = data[group.value].map(([m, mean, place, of, rank, low, high]) => ({ metric: board.metrics[m], label: board.metrics[m].label, mean, place, of, rank, low, high }));
      T.table($("standings"), [
        { key: "label", label: "Metric", cell: (r, td) => td.append(link("metrics", r.metric, r.label)) },
        { key: "place", label: "Place", number: true, text: (r) => `${r.place} of ${r.of}` },
        { key: "mean", label: "Mean", number: true, roomy: true, text: (r) => T.fixed(r.mean) },
        { key: "rank", label: "Mean rank", number: true, text: (r) => T.fixed(r.rank, 2) },
        { key: "low", label: "95 % interval", number: true, text: (r) => (r.low === null ? "–" : `${T.fixed(r.low, 2)}–${T.fixed(r.high, 2)}`) },
      ], rows, { caption: "Standings" });
      $("no-standing").hidden = rows.length > 0;
    }
    if (!data[group.value].length) group.value = Object.keys(data).find((name) => data[name].length) || group.value;
    group.addEventListener("change", show);
    show();
  }

  function metric() {
    const data = JSON.parse($("data").textContent), chosen = board.metrics.find((m) => m.name === data.metric);
    fillGroups($("group"));
    async function show() {
      const found = await standings(chosen);
      drawStanding(chosen, $("group").value, found, true, "");
      document.body.dataset.ready = $("group").value;
    }
    $("group").addEventListener("change", show);
    window.addEventListener("resize", show);
    show();
  }

  // Tables that are in the page already: heads become buttons, and cells that start with a number sort by it.
  function sortable(table) {
    const heads = [...table.querySelectorAll("thead th")], body = table.tBodies[0];
    const key = (row, i) => { const text = row.cells[i].textContent, number = parseFloat(text); return i && !Number.isNaN(number) ? number : text.toLowerCase(); };
    heads.forEach((head, i) => {
      const button = T.element("button", { type: "button", text: head.textContent, onclick: () => {
        const down = head.getAttribute("aria-sort") === "none" ? i > 0 : head.getAttribute("aria-sort") === "ascending";
        heads.forEach((h) => h.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].sort((a, b) => {
          const x = key(a, i), y = key(b, i);
          if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;  // "-" is none, and comes last
          return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
        });
        body.append(...rows);
      } });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
  }

  function plain() {
    document.querySelectorAll(".sortable table").forEach(sortable);
    document.body.dataset.ready = "plain";
  }

  const views = { index, metric, plain, series: () => values("series", "Series"), detectors: () => values("detectors", "Detector") };
  views[document.body.dataset.view]();
})();
