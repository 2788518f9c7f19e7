"use strict";
// Packed arrays and min-max pyramids.
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
// points are kept apart, so that alarms of both kinds can be drawn at any zoom. `inside` says what each entry is.
const NORMAL = 0, ANOMALOUS = 1, BOTH = 2, SKIPPED = 3;  // both: one entry stands for several points; skipped: not judged
function pyramid(low, high, inside, gap) {
  const levels = [{ low, high, normal: null, anomalous: null }];
  if (inside) {
    const normal = new Uint16Array(high.length), anomalous = new Uint16Array(high.length);
    for (let i = 0; i < high.length; i++) {
      if (inside[i] === NORMAL || inside[i] === BOTH) normal[i] = high[i];
      if (inside[i] === ANOMALOUS || inside[i] === BOTH) anomalous[i] = high[i];
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
