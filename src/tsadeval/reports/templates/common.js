"use strict";
// What all pages share: numbers as text, sortable tables, the theme, critical-difference diagrams.
const T = (() => {
  // Digits as Python prints them: halves go to the even digit, and only multiples of 1/32 can be halves of 1e-4.
  function fixed(x, digits = 4) {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    const scaled = x * 10 ** digits;
    if (digits === 4 && Number.isInteger(x * 32) && Math.abs(scaled % 1) === 0.5) {
      const even = 2 * Math.round(scaled / 2);
      x = even / 10 ** digits;
    }
    const text = x.toFixed(digits);
    return Number(text) === 0 ? (0).toFixed(digits) : text;
  }
  const sentence = (text) => text[0].toUpperCase() + text.slice(1) + ".";
  const whole = (x) => x.toLocaleString("en-US");
  const short = (x, digits = 6) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : String(Number(x.toPrecision(digits))));

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key === "text") made.textContent = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  // What scrolls has to do so by keys as well.
  function scrolls(target) {
    target.tabIndex = 0;
    target.setAttribute("role", "group");
    target.setAttribute("aria-label", target.querySelector("table").getAttribute("aria-label") || "Table");
  }

  // A table that sorts by its heads. columns: {key, label, hidden (a label that is not shown), number, text(row), title, cell(row, td), best(row), exact(row), roomy}.
  // `exact` is what a tooltip has: all digits, or why there is no value.
  // Columns that are `roomy` are left out on narrow screens.
  function table(target, columns, rows, options = {}) {
    const state = { key: options.sort || null, down: Boolean(options.down), filter: "" };
    const head = element("tr");
    const body = element("tbody");
    const made = element("table", {}, element("thead", {}, head), body);
    if (options.caption) made.setAttribute("aria-label", options.caption);
    const style = (column) => [column.number && "number", column.roomy && "roomy"].filter(Boolean).join(" ") || null;
    function order() {
      const column = columns.find((c) => c.key === state.key);
      let shown = rows;
      if (state.filter) {
        const wanted = state.filter.toLowerCase();
        shown = shown.filter((row) => columns.some((c) => String(c.text ? c.text(row) : row[c.key]).toLowerCase().includes(wanted)));
      }
      if (!column) return shown;
      const value = column.sort || ((row) => row[column.key]);
      const sign = state.down ? -1 : 1;
      return [...shown].sort((a, b) => {
        const x = value(a), y = value(b);
        const none = (v) => v === null || v === undefined || Number.isNaN(v);
        if (none(x) || none(y)) return none(x) - none(y);
        return x < y ? -sign : x > y ? sign : 0;
      });
    }
    function fill() {
      for (const [i, column] of columns.entries()) {
        const on = column.key === state.key;
        head.children[i].setAttribute("aria-sort", on ? (state.down ? "descending" : "ascending") : "none");
      }
      const shown = order();
      body.replaceChildren(...shown.slice(0, options.most || 2000).map((row) => {
        const line = element("tr", { class: options.rowClass && options.rowClass(row) });
        for (const column of columns) {
          const cell = element("td", { class: style(column) });
          if (column.cell) column.cell(row, cell);
          else cell.textContent = column.text ? column.text(row) : row[column.key];
          const exact = column.exact && column.exact(row);
          if (exact !== null && exact !== undefined && exact !== false) cell.title = String(exact);
          if (column.best && column.best(row)) cell.classList.add("best");
          line.append(cell);
        }
        if (options.jump) {
          line.classList.add("jump");
          line.tabIndex = 0;
          line.addEventListener("click", (e) => { if (!e.target.closest("a")) options.jump(row); });
          line.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); options.jump(row); } });
        }
        return line;
      }));
      if (options.after) options.after(shown.length);
    }
    for (const column of columns) {
      const button = element("button", { type: "button", title: column.title, "aria-label": column.hidden, text: column.label, onclick: () => {
        if (state.key === column.key) state.down = !state.down;
        else { state.key = column.key; state.down = Boolean(column.number); }
        fill();
      } });
      head.append(element("th", { scope: "col", class: style(column) }, button));
    }
    target.replaceChildren(made);
    scrolls(target);
    fill();
    return { fill, filter(text) { state.filter = text; fill(); }, rows(next) { rows = next; fill(); } };
  }

  function theme(button) {
    const words = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
    let now = "auto";
    try { now = localStorage.getItem("tsadeval-theme") || "auto"; } catch { /* pages from files may have no storage */ }
    const listeners = [];
    function show() {
      if (now === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = now;
      if (button) button.textContent = words[now];
      listeners.forEach((f) => f());
    }
    if (button) button.addEventListener("click", () => {
      now = { auto: "light", light: "dark", dark: "auto" }[now];
      try { localStorage.setItem("tsadeval-theme", now); } catch { /* as above */ }
      show();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    // Paper is light, and so are the figures on it.
    addEventListener("beforeprint", () => { document.documentElement.dataset.theme = "light"; listeners.forEach((f) => f(true)); });
    addEventListener("afterprint", show);
    show();
    return { changed(f) { listeners.push(f); } };
  }

  // Demsar's diagram: mean ranks on a line, bars over groups that are not significantly different.
  function diagram(target, names, ranks, groups) {
    const k = names.length;
    target.replaceChildren();
    if (k < 2 || ranks.some((r) => r === null)) return;
    const width = Math.max(300, target.clientWidth || 640);
    const order = ranks.map((_, i) => i).sort((a, b) => ranks[a] - ranks[b]);
    const left = order.slice(0, Math.ceil(k / 2)), right = order.slice(Math.ceil(k / 2)).reverse();
    const room = Math.min(0.36 * width, 48 + 7.4 * Math.max(...names.map((n) => n.length)));
    const low = room, high = width - room;
    // The part of the scale from 1 to k that has ranks on it.
    const from = Math.floor(Math.min(...ranks)), to = Math.max(Math.ceil(Math.max(...ranks)), from + 1);
    const x = (rank) => low + ((high - low) * (rank - from)) / (to - from);
    const first = 34 + 9 * groups.length, step = 20;
    const height = first + step * Math.max(left.length, right.length) + 6;
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", "100%");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Mean ranks: " + order.map((i) => `${names[i]} ${fixed(ranks[i], 2)}`).join(", "));
    const draw = (tag, attributes, text) => {
      const part = document.createElementNS(ns, tag);
      for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
      if (text !== undefined) part.textContent = text;
      svg.append(part);
      return part;
    };
    draw("path", { class: "axis", d: `M${low} 22H${high}` });
    const every = Math.max(1, Math.ceil((to - from) / Math.max(2, (high - low) / 28)));
    for (let rank = from; rank <= to; rank += every) {
      draw("path", { class: "axis", d: `M${x(rank)} 17V22` });
      draw("text", { x: x(rank), y: 13, "text-anchor": "middle" }, rank);
    }
    groups.forEach((group, i) => {
      const ends = group.map((j) => x(ranks[j]));
      draw("path", { class: "group", d: `M${Math.min(...ends) - 3} ${31 + 9 * i}H${Math.max(...ends) + 3}` });
    });
    const letters = Math.max(6, Math.floor((room - 44) / 7.2));
    const cut = (name) => (name.length > letters ? name.slice(0, letters - 1) + "…" : name);
    for (const [side, edge, away, anchor] of [[left, low, -1, "end"], [right, high, 1, "start"]]) {
      side.forEach((j, i) => {
        const y = first + step * (i + 0.5);
        draw("path", { class: "leader", d: `M${x(ranks[j])} 22V${y}H${edge + away}` });
        const label = anchor === "end" ? `${cut(names[j])} ${fixed(ranks[j], 2)}` : `${fixed(ranks[j], 2)} ${cut(names[j])}`;
        const text = draw("text", { x: edge + 4 * away, y: y + 4, "text-anchor": anchor }, label);
        const full = document.createElementNS(ns, "title");
        full.textContent = names[j];
        text.append(full);
      });
    }
    target.append(svg);
  }

  // What the diagram's bars say; there are none where every two neighbours differ, or of very many detectors.
  function bars(groups, many) {
    const tests = "Wilcoxon tests with Holm's correction";
    if (many) return "There are too many detectors to test every two.";
    return groups.length ? `Bars join detectors that are not significantly different at 5 % (${tests}).` : `Every two neighbours are significantly different at 5 % (${tests}).`;
  }

  // Spearman correlations as a coloured table.
  function heat(target, labels, matrix) {
    const body = element("tbody");
    matrix.forEach((row, i) => {
      const line = element("tr", {}, element("th", { scope: "row", text: labels[i] }));
      row.forEach((value) => {
        const cell = element("td", { text: fixed(value, 2) });
        if (value !== null) {
          const color = value < 0 ? "var(--false)" : "var(--found)";
          cell.style.background = `color-mix(in srgb, ${color} ${Math.round(55 * Math.abs(value))}%, transparent)`;
        }
        line.append(cell);
      });
      body.append(line);
    });
    const head = element("tr", {}, element("td"), ...labels.map((l) => element("th", { scope: "col", class: "number", text: l })));
    target.replaceChildren(element("table", { class: "heat", "aria-label": "Spearman correlation of metrics" }, element("thead", {}, head), body));
    scrolls(target);
  }

  return { fixed, whole, short, sentence, element, table, theme, diagram, bars, heat };
})();
