'use strict';
// The arrays of the page: base64, zlib, then for each array planes of bytes of the differences of its numbers' bits.

/** Resolves to a function from a place `[first, count]` to its numbers. */
async function openArrays() {
  const text = document.getElementById('data').textContent;
  const binary = atob(text);
  // A loop: `Uint8Array.from` takes ten times as long.
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const known = new Map();
  return (place) => {
    if (!place) return null;
    const [first, count] = place;
    let numbers = known.get(first + ':' + count);
    if (!numbers) {
      const bits = new Uint32Array(count);
      const [a, b, c, d] = [0, 1, 2, 3].map((plane) => 4 * first + plane * count);
      let before = 0;
      for (let i = 0; i < count; i++) {
        before = (before + (bytes[a + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16) | (bytes[d + i] << 24))) >>> 0;
        bits[i] = before;
      }
      numbers = new Float32Array(bits.buffer);
      known.set(first + ':' + count, numbers);
    }
    return numbers;
  };
}

/** A flight of the page, with its columns as arrays. Its cells begin with its first tick. */
class FlightData {
  constructor(shown, index, array) {
    Object.assign(this, shown);
    this.index = index;
    this.array = array;
    this.duration = Math.max(this.span[1] - this.span[0], 1e-9);
    this.grown = new Map();
    this.track = this.poses.map((set) => set.map((place) => array(place)));
  }

  /** The smallest and the largest numbers of the cells of a column, or nothing. */
  column(name) {
    if (this.grown.has(name)) return this.grown.get(name);
    const places = this.columns[name];
    if (!places) return null;
    const low = this.array(places[0]);
    return { low, high: places[1] ? this.array(places[1]) : low };
  }

  /** A column's value at a time: the middle of its cell, NaN where there is none. */
  at(name, time) {
    const column = this.column(name);
    if (!column) return NaN;
    const since = (time - this.span[0]) / this.cell;
    const cell = Math.round(this.whole ? since : since - 0.5);
    if (cell < 0 || cell >= column.low.length) return NaN;
    return (column.low[cell] + column.high[cell]) / 2;
  }

  /** Pose of a body (or of its reference): position and quaternion w, x, y, z between the two poses that are known; nothing where there is none. */
  pose(kind, body, time) {
    const own = this.track[kind];
    const t = Math.min(Math.max((time - this.span[0]) / this.track_cell, 0), this.track_length - 1);
    const i = Math.floor(t), part = t - i;
    const read = (k, cell) => (own[7 * body + k] ? own[7 * body + k][cell] : NaN);
    const a = [], b = [];
    for (let k = 0; k < 7; k++) { a.push(read(k, i)); b.push(read(k, i + 1)); }
    if (!a.every(Number.isFinite)) return null;
    if (!b.every(Number.isFinite)) return { r: a.slice(0, 3), q: a.slice(3) };
    const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1;
    const mixed = a.map((x, k) => x + part * ((k < 3 ? b[k] : sign * b[k]) - x));
    const length = Math.hypot(mixed[3], mixed[4], mixed[5], mixed[6]) || 1;
    return { r: mixed.slice(0, 3), q: mixed.slice(3).map((x) => x / length) };
  }
}
