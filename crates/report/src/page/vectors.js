// Vectors as arrays of three numbers, quaternions as w, x, y, z.

const plus = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (length(a) || 1));

/** A vector of a body's axes in those of the world. */
function turn(q, v) {
  const w = q[0], u = [q[1], q[2], q[3]];
  const t = times(cross(u, v), 2);
  return plus(plus(v, t, w), cross(u, t));
}

/** Two directions across a third one. */
function across(axis) {
  const side = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  return [side, cross(axis, side)];
}

/** Points of a circle. */
function circle(center, axis, radius, count) {
  const [a, b] = across(axis);
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return plus(plus(center, a, radius * Math.cos(angle)), b, radius * Math.sin(angle));
  });
}

/** The points of shapes and their faces: each a polygon of these points whose normal points outwards, with the colour of its shape; `open` surfaces are seen from both sides. */
function solid(shapes) {
  const points = [], polygons = [];
  for (const shape of shapes) {
    const look = { color: shape.color, open: shape.kind === 'mesh' };
    const first = points.length;
    if (look.open) {
      points.push(...shape.vertices);
      for (const triangle of shape.triangles) polygons.push({ corners: triangle.map((corner) => first + corner), ...look });
      continue;
    }
    for (const face of faces(shape)) polygons.push({ corners: face.map((point) => points.push(point) - 1), ...look });
  }
  return { points, polygons };
}

/** The faces of a shape, each a polygon whose normal points outwards. */
function faces(shape) {
  const prism = (from, to, radius, count) => {
    // What is drawn far to near must not be long.
    const parts = Math.max(1, Math.min(Math.ceil(length(minus(to, from)) / (6 * radius)), 8));
    const axis = unit(minus(to, from));
    const rings = Array.from({ length: parts + 1 }, (_, k) => circle(plus(times(from, 1 - k / parts), to, k / parts), axis, radius, count));
    const sides = rings.slice(1).flatMap((high, k) => high.map((_, i) => { const j = (i + 1) % count, low = rings[k]; return [low[i], low[j], high[j], high[i]]; }));
    return [...sides, [...rings[0]].reverse(), rings[parts]];
  };
  switch (shape.kind) {
    case 'rod': return prism(shape.from, shape.to, shape.radius, 8);
    case 'cylinder': {
      const half = times(shape.axis, shape.length / 2);
      return prism(minus(shape.center, half), plus(shape.center, half), shape.radius, 16);
    }
    case 'box': {
      const corner = (i, j, k) => plus(plus(plus(shape.center, shape.edges[0], i), shape.edges[1], j), shape.edges[2], k);
      const all = [];
      for (const [p, q, r] of [[0, 1, 2], [1, 2, 0], [2, 0, 1]]) {
        for (const s of [-1, 1]) {
          const face = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([u, v]) => {
            const place = [0, 0, 0];
            [place[p], place[q], place[r]] = [s, u, v];
            return corner(...place);
          });
          const normal = cross(minus(face[1], face[0]), minus(face[2], face[0]));
          const middle = times(face.reduce((sum, point) => plus(sum, point), [0, 0, 0]), 1 / 4);
          all.push(dot(normal, minus(middle, shape.center)) < 0 ? face.reverse() : face);
        }
      }
      return all;
    }
    case 'sphere': {
      const rings = 7, count = 12;
      const point = (i, j) => {
        const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * j) / count];
        return plus(shape.center, [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)], shape.radius);
      };
      const all = [];
      for (let i = 0; i < rings; i++) for (let j = 0; j < count; j++) {
        all.push([point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)]);
      }
      return all;
    }
    default: return [];
  }
}
