// The vehicle in motion: solids drawn far to near on a 2D canvas, which prints, needs no graphics card, and stays sharp.

/** How long the path stays bright, s. */
const TRAIL = 20;
/** Focal length, in parts of the smaller side of the stage. */
const FOCAL = 1.25;
/** From so many diameters away the whole of a sphere is seen. */
const AROUND = 0.5 / Math.sin(Math.atan(0.5 / FOCAL));
const LIGHT = unit([0.35, -0.5, 0.8]);

/** An RGB colour as three numbers, from any that a canvas understands. */
const rgb = (() => {
  const context = document.createElement('canvas').getContext('2d');
  const known = new Map();
  return (color) => {
    if (!known.has(color)) {
      context.fillStyle = color;
      known.set(color, context.fillStyle.match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16)));
    }
    return known.get(color);
  };
})();

class Stage {
  constructor(parent, flights) {
    this.flights = flights;
    this.element = add(parent, 'div', 'stage');
    this.canvas = add(this.element, 'canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'The vehicle in motion, its reference and their paths. Arrow keys turn the camera, plus and minus zoom, space plays.');
    this.readout = add(this.element, 'div', 'readout');
    this.time = flights[0].span[0];
    this.mode = 'follow';
    this.enlarged = 1;
    this.models = flights.map((flight) => flight.scene.bodies.map((body) => solid(body.shapes)));
    this.measure();
    this.camera = { yaw: -0.95, pitch: 0.42, distance: 1, target: [0, 0, 0] };
    this.look(this.mode);
    this.listen();
  }

  /** Paths and how far they go. */
  measure() {
    this.paths = this.flights.map((flight) => [0, 1].map((kind) => {
      const n = flight.track_length, step = Math.max(1, Math.floor(n / 3000));
      const points = [];
      for (let i = 0; i < n; i += step) {
        const time = flight.span[0] + i * flight.track_cell;
        const at = flight.pose(kind, flight.lead, time);
        points.push({ time, at: at ? at.r : null });
      }
      return points;
    }));
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (point) => point.forEach((x, k) => { low[k] = Math.min(low[k], x); high[k] = Math.max(high[k], x); });
    this.size = Math.max(...this.flights.map((flight) => flight.scene.size));
    this.flights.forEach((flight, f) => {
      this.paths[f].flat().forEach((point) => point.at && take(point.at));
      for (let i = 0; i < 60; i++) {
        for (let body = 0; body < flight.scene.bodies.length; body++) {
          for (const kind of [0, 1]) {
            const pose = flight.pose(kind, body, flight.span[0] + (flight.duration * i) / 59);
            if (!pose) continue;
            take(pose.r);
            // What reaches far from its joint, such as a pole.
            if (!flight.free && i % 6 === 0) this.models[f][body].points.forEach((p) => take(plus(pose.r, turn(pose.q, p))));
          }
        }
      }
    });
    if (low[0] > high[0]) { take([0, 0, 0]); }
    this.middle = times(plus(low, high), 0.5);
    this.extent = Math.max(length(minus(high, low)), 2.4 * this.size);
    const fixed = this.flights[0].lead !== 0 || !this.flights[0].free;
    const bottom = low[2] - (fixed ? 0 : 1.1 * this.size);
    this.floor = bottom > -1e-9 && bottom < 0.7 * this.extent ? 0 : low[2] - 0.06 * this.extent - (fixed ? 0 : 0.6 * this.size);
    if (low[2] >= -1e-6 && low[2] < 0.4 * this.extent) this.floor = Math.min(0, low[2]);
  }

  look(mode) {
    this.mode = mode;
    const c = this.camera;
    if (mode === 'follow') c.distance = Math.max(this.size * this.enlarged * 6.5, 0.24 * this.extent);
    else { c.distance = AROUND * this.extent; c.target = this.middle.slice(); }
    if (!this.flights[0].free) { c.distance = AROUND * this.extent; c.target = this.middle.slice(); }
    this.draw();
  }

  listen() {
    const { canvas, camera } = this;
    const pointers = new Map();
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId); pointers.set(event.pointerId, [event.clientX, event.clientY]); });
    const gone = (event) => pointers.delete(event.pointerId);
    canvas.addEventListener('pointerup', gone);
    canvas.addEventListener('pointercancel', gone);
    canvas.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const spread = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        camera.distance *= spread(before) / spread(now);
      } else if (event.shiftKey || event.buttons & 6) {
        const { right, up } = this.axes();
        const k = camera.distance / canvas.clientHeight;
        camera.target = plus(plus(camera.target, right, -dx * k), up, dy * k);
        if (this.mode === 'follow') this.onMode?.('free');
        this.mode = 'free';
      } else this.orbit(-dx * 0.008, dy * 0.008);
      pointers.set(event.pointerId, now);
      this.draw();
    });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => { event.preventDefault(); camera.distance *= Math.exp(event.deltaY * 0.0012); this.draw(); }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      const act = {
        ArrowLeft: () => this.orbit(-0.1, 0), ArrowRight: () => this.orbit(0.1, 0), ArrowUp: () => this.orbit(0, 0.1), ArrowDown: () => this.orbit(0, -0.1),
        '+': () => { camera.distance *= 0.85; }, '-': () => { camera.distance /= 0.85; },
      }[event.key];
      if (act) { event.preventDefault(); act(); this.draw(); }
    });
  }

  orbit(yaw, pitch) {
    this.camera.yaw += yaw;
    this.camera.pitch = Math.min(Math.max(this.camera.pitch + pitch, -1.5), 1.5);
  }

  axes() {
    const { yaw, pitch } = this.camera;
    const back = [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)];
    const right = [-Math.sin(yaw), Math.cos(yaw), 0];
    return { back, right, up: cross(back, right) };
  }

  show(time) { this.time = time; this.draw(); }

  draw() {
    const { context: c, w, h } = prepare(this.canvas);
    if (w === 0) return;
    const paint = colors();
    const first = this.flights[0];
    const clamp = (flight) => Math.min(Math.max(this.time, flight.span[0]), flight.span[1]);
    if (this.mode === 'follow' && first.free) {
      const pose = first.pose(0, first.lead, clamp(first));
      if (pose) this.camera.target = pose.r;
    }
    const { back, right, up } = this.axes();
    const eye = plus(this.camera.target, back, this.camera.distance);
    const focal = FOCAL * Math.min(h, w * 0.95);
    const near = 0.02 * this.camera.distance;
    const view = (p) => { const v = minus(p, eye); return [dot(v, right), dot(v, up), -dot(v, back)]; };
    const flat = (v) => [w / 2 + (focal * v[0]) / v[2], h / 2 - (focal * v[1]) / v[2]];
    const segment = (a, b) => {
      let [p, q] = [view(a), view(b)];
      if (p[2] < near && q[2] < near) return null;
      const cut = (inside, outside) => plus(outside, minus(inside, outside), (near - outside[2]) / (inside[2] - outside[2]));
      if (p[2] < near) p = cut(q, p);
      if (q[2] < near) q = cut(p, q);
      return [flat(p), flat(q)];
    };
    const polyline = (points, color, width, dash = []) => {
      c.strokeStyle = color; c.lineWidth = width; c.setLineDash(dash); c.lineJoin = 'round';
      c.beginPath();
      let last = null;
      for (let i = 0; i + 1 < points.length; i++) {
        if (!points[i] || !points[i + 1]) { last = null; continue; }
        const s = segment(points[i], points[i + 1]);
        if (!s) { last = null; continue; }
        if (!last || Math.hypot(last[0] - s[0][0], last[1] - s[0][1]) > 0.5) c.moveTo(...s[0]);
        c.lineTo(...s[1]);
        last = s[1];
      }
      c.stroke();
      c.setLineDash([]);
    };

    this.ground(polyline, paint);
    const items = [];
    const words = [];
    this.flights.forEach((flight, f) => {
      const several = this.flights.length > 1;
      const own = several ? paint.line(f) : paint.line(0);
      const time = clamp(flight);
      const [flown, wanted] = this.paths[f];
      const drop = (points) => points.map((point) => point.at && [point.at[0], point.at[1], this.floor]);
      if (flight.free) polyline(drop(flown), paint.faint, 1);
      polyline(wanted.map((point) => point.at), several ? own : paint.line(4), 1.25, [5, 5]);
      c.globalAlpha = 0.3;
      polyline(flown.map((point) => point.at), own, 1.5);
      c.globalAlpha = 1;
      const now = flight.pose(0, flight.lead, time);
      // Of a long flight the last stretch is bright.
      const past = flown.filter((point) => point.time <= time && point.time > time - TRAIL).map((point) => point.at);
      polyline(now ? [...past, now.r] : past, own, 2.25);
      if (now && flight.free) polyline([now.r, [now.r[0], now.r[1], this.floor]], paint.faint, 1, [2, 3]);
      const center = now ? now.r : [0, 0, 0];
      const grown = (p) => plus(center, minus(p, center), this.enlarged);
      for (const kind of [1, 0]) {
        const ghost = kind === 1;
        const base = rgb(ghost ? (several ? own : paint.line(4)) : several ? own : paint.soft);
        flight.scene.bodies.forEach((_, body) => {
          const pose = flight.pose(kind, body, time);
          if (!pose) return;
          const ghostCenter = ghost ? (flight.pose(1, flight.lead, time) || pose).r : center;
          const place = (p) => { const at = plus(pose.r, turn(pose.q, p)); return plus(ghostCenter, minus(at, ghostCenter), this.enlarged); };
          const { points, polygons } = this.models[f][body];
          const placed = points.map(place), seen = placed.map(view), flattened = seen.map(flat);
          for (const { corners, color, open } of polygons) {
            // Described colours tell parts of one vehicle apart; of several flights each has its own.
            const own = color && !ghost && !several;
            const look = { base: own ? color.slice(0, 3).map((part) => 255 * part) : base, alpha: ghost ? 0.2 : own ? color[3] : 1, open };
            this.face(items, corners.map((i) => placed[i]), corners.map((i) => seen[i]), corners.map((i) => flattened[i]), look, eye, near);
          }
          if (!ghost || this.flights.length === 1) this.rotors(items, flight, body, pose, place, ghost, time, paint, view, flat, near, own);
        });
      }
      for (const rope of flight.scene.ropes) {
        const end = (k) => {
          if (rope.bodies[k] === null) return grown(rope.points[k]);
          const pose = flight.pose(0, rope.bodies[k], time);
          return pose && grown(plus(pose.r, turn(pose.q, rope.points[k])));
        };
        const [a, b] = [end(0), end(1)];
        const s = a && b && segment(a, b);
        if (s) items.push({ depth: view(times(plus(a, b), 0.5))[2], paint: () => { c.strokeStyle = paint.ink; c.lineWidth = 1.2; c.beginPath(); c.moveTo(...s[0]); c.lineTo(...s[1]); c.stroke(); } });
      }
      if (several) words.push(`${flight.label}`);
      if (now && flight.free) words.push(`x ${now.r[0].toFixed(2)}  y ${now.r[1].toFixed(2)}  z ${now.r[2].toFixed(2)} m`);
      const wind = ['x', 'y', 'z'].map((axis) => flight.at('wind.' + axis, time));
      if (wind.every(Number.isFinite)) {
        words.push(`wind ${length(wind).toFixed(1)} m/s`);
        if (now && length(wind) > 0.05) this.arrow(items, plus(now.r, [0, 0, 1.6 * this.size * this.enlarged]), times(wind, (0.28 * this.size * this.enlarged)), rgb(paint.line(6)), view, flat, near, 0.05);
      }
    });
    items.sort((a, b) => b.depth - a.depth);
    for (const item of items) item.paint(c);
    this.triad(c, h, right, up, back, paint);
    this.readout.textContent = words.join('\n');
  }

  ground(polyline, paint) {
    const span = this.extent * 1.15;
    const step = ticks(0, span, 9)[1] || 1;
    const [x, y] = this.middle;
    const [i0, i1] = [Math.floor((x - span) / step), Math.ceil((x + span) / step)];
    const [j0, j1] = [Math.floor((y - span) / step), Math.ceil((y + span) / step)];
    for (let i = i0; i <= i1; i++) polyline([[i * step, j0 * step, this.floor], [i * step, j1 * step, this.floor]], paint.ground, i === 0 ? 1.6 : 0.8);
    for (let j = j0; j <= j1; j++) polyline([[i0 * step, j * step, this.floor], [i1 * step, j * step, this.floor]], paint.ground, j === 0 ? 1.6 : 0.8);
    this.step = step;
  }

  /** A polygon; one of an open surface is seen from both sides. */
  face(items, points, seen, outline, { base, alpha, open }, eye, near) {
    let normal = unit(cross(minus(points[1], points[0]), minus(points[2], points[0])));
    if (dot(normal, minus(eye, points[0])) <= 0) {
      if (!open) return;
      normal = times(normal, -1);
    }
    if (seen.some((v) => v[2] < near)) return;
    const light = 0.58 + 0.5 * Math.max(dot(normal, LIGHT), -0.5);
    const color = base.map((part) => Math.round(Math.min(part * light + 22 * light, 255)));
    items.push({
      depth: seen.reduce((sum, v) => sum + v[2], 0) / seen.length + (alpha < 1 ? 1e-6 : 0),
      paint: (c) => {
        c.fillStyle = `rgba(${color}, ${alpha})`;
        c.strokeStyle = alpha < 1 ? `rgba(${base}, .35)` : c.fillStyle;
        c.lineWidth = 0.6;
        c.beginPath();
        outline.forEach((p, i) => (i ? c.lineTo(...p) : c.moveTo(...p)));
        c.closePath(); c.fill();
        // The edges of a ghost's many triangles would hide what is behind it.
        if (alpha === 1 || !open) c.stroke();
      },
    });
  }

  rotors(items, flight, body, pose, place, ghost, time, paint, view, flat, near, own) {
    flight.scene.rotors.forEach((rotor, i) => {
      if (rotor.body !== body) return;
      const [thrust, tilt] = flight.rotors[i].map((k) => {
        if (k === null) return NaN;
        const real = flight.at('actual.' + k, time);
        return Number.isFinite(real) ? real : flight.at('command.' + k, time);
      });
      let axis = rotor.axis;
      if (rotor.tilt && Number.isFinite(tilt) && !ghost) axis = plus(times(axis, Math.cos(tilt)), cross(rotor.tilt, axis), Math.sin(tilt));
      const lifted = plus(rotor.position, axis, 0.05 * flight.scene.size);
      const seen = circle(lifted, axis, rotor.radius, 32).map((p) => view(place(p)));
      if (seen.every((v) => v[2] >= near)) {
        const outline = seen.map(flat);
        const color = rgb(ghost ? paint.line(4) : paint.line(i % 8 === 3 ? 5 : i % 8));
        const tint = this.flights.length > 1 ? rgb(own) : color;
        items.push({
          depth: seen.reduce((sum, v) => sum + v[2], 0) / seen.length,
          paint: (c) => {
            c.fillStyle = `rgba(${tint}, ${ghost ? 0.06 : 0.2})`;
            c.strokeStyle = `rgba(${tint}, ${ghost ? 0.45 : 0.9})`;
            c.lineWidth = ghost ? 0.8 : 1.4;
            c.beginPath();
            outline.forEach((p, k) => (k ? c.lineTo(...p) : c.moveTo(...p)));
            c.closePath(); c.fill(); c.stroke();
          },
        });
        if (!ghost && Number.isFinite(thrust)) {
          const from = place(lifted);
          const to = place(plus(lifted, axis, (1.25 * flight.scene.size * thrust) / (rotor.max_thrust || 1)));
          this.arrow(items, from, minus(to, from), tint, view, flat, near, 0.035);
        }
      }
    });
  }

  /** An arrow with a round shaft, as two polygons that face the camera. */
  arrow(items, from, vector, color, view, flat, near, thickness) {
    const end = plus(from, vector);
    const [a, b] = [view(from), view(end)];
    if (a[2] < near || b[2] < near) return;
    const [p, q] = [flat(a), flat(b)];
    const long = Math.hypot(q[0] - p[0], q[1] - p[1]);
    const scale = (thickness * this.size * this.enlarged * Math.min(this.canvas.clientHeight, this.canvas.clientWidth)) / a[2];
    const half = Math.max(scale, 1.1), head = Math.min(Math.max(5 * half, 6), long);
    items.push({
      depth: (a[2] + b[2]) / 2 - 1e-3,
      paint: (c) => {
        if (long < 1) return;
        const [x, y] = [(q[0] - p[0]) / long, (q[1] - p[1]) / long];
        c.strokeStyle = c.fillStyle = `rgb(${color})`;
        c.lineWidth = 1.6 * half; c.lineCap = 'round';
        c.beginPath(); c.moveTo(...p); c.lineTo(q[0] - x * head * 0.8, q[1] - y * head * 0.8); c.stroke();
        c.lineCap = 'butt';
        c.beginPath(); c.moveTo(...q);
        c.lineTo(q[0] - x * head - y * head * 0.42, q[1] - y * head + x * head * 0.42);
        c.lineTo(q[0] - x * head + y * head * 0.42, q[1] - y * head - x * head * 0.42);
        c.closePath(); c.fill();
      },
    });
  }

  triad(c, h, right, up, back, paint) {
    const origin = [38, h - 38];
    c.font = '11px system-ui, sans-serif'; c.textAlign = 'center'; c.textBaseline = 'middle';
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis, i) => ({ axis, i, depth: dot(axis, back) })).sort((a, b) => a.depth - b.depth).forEach(({ axis, i }) => {
      const to = [origin[0] + 24 * dot(axis, right), origin[1] - 24 * dot(axis, up)];
      c.strokeStyle = c.fillStyle = paint.line(i);
      c.lineWidth = 2;
      c.beginPath(); c.moveTo(...origin); c.lineTo(...to); c.stroke();
      c.fillText('xyz'[i], origin[0] + 33 * dot(axis, right), origin[1] - 33 * dot(axis, up));
    });
    c.fillStyle = paint.soft;
    c.textAlign = 'left';
    c.fillText(`grid ${significant(this.step, 2)} m`, 78, h - 14);
  }
}
