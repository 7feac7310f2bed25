// Plots: lines over time or frequency on a canvas, with a cursor that all share.

const colors = () => {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue('--' + name).trim();
  return { line: (i) => get('c' + (i % 8)), ink: get('ink'), soft: get('soft'), grid: get('grid'), faint: get('faint'),
    shade: get('shade'), gap: get('gap'), focus: get('focus'), paper: get('paper'), sky: get('sky'), ground: get('ground') };
};

/** A number with so many digits, for people. */
function significant(value, digits = 4) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(digits - 2, 1)).replace('e+', 'e');
  return String(Number(value.toPrecision(digits)));
}

/** Round numbers between two. */
function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(wanted, 1);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** Prepares a canvas for its size on the screen; returns its context in CSS pixels. */
function prepare(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const { clientWidth: w, clientHeight: h } = canvas;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  return { context, w, h };
}

const DASHES = { solid: [], dashed: [6, 4], dotted: [1.5, 3], dashdotted: [7, 3, 1.5, 3], longdashed: [12, 4], dashdotdotted: [7, 3, 1.5, 3, 1.5, 3] };
const MARGIN = { left: 54, right: 10, top: 8, bottom: 22 };

/** A sample of a line. */
function swatch(parent, color, stroke) {
  const sample = add(parent, 'span', 'swatch');
  sample.style.color = `var(--c${color % 8})`;
  sample.innerHTML = `<svg width="26" height="4"><path d="M0 2h26" stroke-dasharray="${DASHES[stroke].join(' ')}"/></svg>`;
}

/** One plot. `lines`: {label, color, stroke, scale, hidden, x(i), low, high}; the abscissa is `view`, which several share. */
class Plot {
  constructor(panel, lines, view) {
    Object.assign(this, { panel, lines, view });
    this.element = document.createElement('section');
    this.element.className = view.log ? 'plot spectrum' : 'plot';
    const head = add(this.element, 'div', 'head');
    add(head, 'h3', '', panel.title);
    if (panel.unit) add(head, 'span', 'soft small', panel.unit);
    const frame = add(this.element, 'div', 'frame');
    this.canvas = add(frame, 'canvas');
    this.over = add(frame, 'canvas', 'cursor');
    this.over.setAttribute('aria-hidden', 'true');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', this.describe());
    this.legend = add(this.element, 'ul', 'legend');
    for (const line of lines) this.entry(line);
    if (panel.note) add(this.element, 'p', 'soft small', panel.note);
    view.join(this);
    this.listen();
  }

  /** What a reader who does not see it is told: the range of each line. */
  describe() {
    const ranges = this.lines.filter((line) => !line.hidden).map((line) => {
      // Taken once: they are looked up anew each time.
      const { low: lows, high: highs } = line;
      let low = Infinity, high = -Infinity;
      for (let i = 0; i < lows.length; i++) {
        if (lows[i] < low) low = lows[i];
        if (highs[i] > high) high = highs[i];
      }
      return `${line.label} ${significant(low * line.scale, 3)} to ${significant(high * line.scale, 3)}`;
    });
    return `${this.panel.title} ${this.panel.unit ? 'in ' + this.panel.unit : ''}: ${ranges.join(', ')}`;
  }

  entry(line) {
    const button = add(add(this.legend, 'li'), 'button');
    button.type = 'button';
    button.setAttribute('aria-pressed', String(!line.hidden));
    swatch(button, line.color, line.stroke);
    add(button, 'span', '', line.label);
    line.now = add(button, 'span', 'now');
    button.addEventListener('click', () => {
      line.hidden = !line.hidden;
      button.setAttribute('aria-pressed', String(!line.hidden));
      this.canvas.setAttribute('aria-label', this.describe());
      this.draw();
    });
  }

  listen() {
    const { canvas, view } = this;
    const x = (event) => {
      const box = canvas.getBoundingClientRect();
      return view.low + ((event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right)) * (view.high - view.low);
    };
    let from = null;
    canvas.addEventListener('pointerdown', (event) => { from = { at: x(event), px: event.clientX }; view.move(x(event)); });
    canvas.addEventListener('pointermove', (event) => {
      if (from && event.buttons && Math.abs(event.clientX - from.px) > 6 && event.pointerType === 'mouse') {
        view.selected = [from.at, x(event)];
      }
      if (event.pointerType === 'mouse' || event.buttons) view.move(x(event));
    });
    const end = () => {
      const selected = view.selected;
      view.selected = null;
      from = null;
      if (selected) view.zoom(Math.min(...selected), Math.max(...selected));
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('dblclick', () => view.zoom(view.all[0], view.all[1]));
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      view.scale(Math.exp(event.deltaY * 0.004), x(event));
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => view.key(event));
  }

  /** The range of what is shown, with some room. */
  range() {
    const { low: from, high: to } = this.view;
    const { log, limits } = this.panel;
    let low = Infinity, high = -Infinity;
    for (const line of this.lines) {
      if (line.hidden || (log && line.label === 'W by theory')) continue;
      const { low: lows, high: highs } = line;
      const [first, last] = line.cells(from, to);
      for (let i = first; i < last; i++) {
        const a = lows[i] * line.scale, b = highs[i] * line.scale;
        if (a < low && (!log || a > 0)) low = a;
        if (b > high) high = b;
      }
    }
    if (!(low <= high)) return log ? [1, 10] : [-1, 1];
    if (log) {
      if (!(high > 0)) return [1, 10];
      low = Math.max(low, high * 1e-14);
      return [10 ** Math.floor(Math.log10(low) * 2) ** 1 ? low / 1.5 : low, high * 1.5];
    }
    // Limits that are near belong to the picture.
    if (limits) {
      const room = high - low || Math.abs(high) || 1;
      if (limits[1] - high < 1.2 * room) high = Math.max(high, limits[1]);
      if (low - limits[0] < 1.2 * room) low = Math.min(low, limits[0]);
    }
    const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
    return [low - room, high + room];
  }

  draw() {
    const { context: c, w, h } = prepare(this.canvas);
    if (w === 0) return;
    const paint = colors();
    const { view, panel } = this;
    const [low, high] = this.range();
    const box = { x: MARGIN.left, y: MARGIN.top, w: w - MARGIN.left - MARGIN.right, h: h - MARGIN.top - MARGIN.bottom };
    const X = view.log
      ? (x) => box.x + (Math.log(x / view.low) / Math.log(view.high / view.low)) * box.w
      : (x) => box.x + ((x - view.low) / (view.high - view.low)) * box.w;
    const Y = panel.log
      ? (y) => box.y + box.h - (Math.log(Math.max(y, low * 1e-3) / low) / Math.log(high / low)) * box.h
      : (y) => box.y + box.h - ((y - low) / (high - low)) * box.h;
    this.X = X;
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    const levels = panel.log ? decades(low, high, box.h / 26) : ticks(low, high, box.h / 38);
    c.lineWidth = 1;
    for (const level of levels) {
      const y = Math.round(Y(level)) + 0.5;
      c.strokeStyle = paint.grid;
      c.beginPath(); c.moveTo(box.x, y); c.lineTo(box.x + box.w, y); c.stroke();
      c.fillStyle = paint.soft;
      c.textAlign = 'right';
      c.fillText(panel.log ? power(level) : significant(level), box.x - 6, y);
    }
    c.textAlign = 'center';
    c.textBaseline = 'top';
    const times = view.log ? decades(view.low, view.high, box.w / 60) : ticks(view.low, view.high, box.w / 70);
    times.forEach((time, i) => {
      const x = Math.round(X(time)) + 0.5;
      c.strokeStyle = paint.grid;
      c.beginPath(); c.moveTo(x, box.y); c.lineTo(x, box.y + box.h); c.stroke();
      c.fillStyle = paint.soft;
      const last = i === times.length - 1;
      c.fillText(significant(time) + (last ? ' ' + view.unit : ''), Math.min(x, w - 18), box.y + box.h + 6);
    });
    c.save();
    c.beginPath(); c.rect(box.x, box.y, box.w, box.h); c.clip();
    for (const [from, to] of view.gaps) { c.fillStyle = paint.gap; c.fillRect(X(from), box.y, Math.max(X(to) - X(from), 1), box.h); }
    if (panel.limits) {
      c.fillStyle = paint.shade;
      const [bottom, top] = panel.limits.map(Y);
      if (top > box.y) c.fillRect(box.x, box.y, box.w, top - box.y);
      if (bottom < box.y + box.h) c.fillRect(box.x, bottom, box.w, box.y + box.h - bottom);
    }
    c.lineJoin = 'round';
    for (const line of this.lines) if (!line.hidden) this.line(c, line, X, Y, paint, box);
    c.restore();
    c.strokeStyle = paint.faint;
    c.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
    this.cursor();
  }

  /** A line: of several cells under one dot, the vertical from the smallest to the largest. */
  line(c, line, X, Y, paint, box) {
    const { view } = this;
    const { low: lows, high: highs } = line;
    const [first, last] = line.cells(view.low, view.high);
    c.strokeStyle = paint.line(line.color);
    c.lineWidth = line.stroke === 'solid' ? 1.5 : 1.25;
    c.setLineDash(DASHES[line.stroke]);
    c.beginPath();
    let open = false, broken = false, at = -1, low = Infinity, high = -Infinity, entry = 0, exit = 0, before = -Infinity;
    const flush = () => {
      if (at < 0) return;
      const x = box.x + at;
      if (open) c.lineTo(x, Y(entry)); else c.moveTo(x, Y(entry));
      if (low !== high) { c.lineTo(x, Y(low)); c.lineTo(x, Y(high)); }
      c.lineTo(x, Y(exit));
      open = true;
      at = -1;
    };
    const fine = box.w * 1.5 > last - first;
    for (let i = first; i < last; i++) {
      const a = lows[i] * line.scale, b = highs[i] * line.scale;
      if (!(a <= b || b <= a)) { if (fine) open = false; else broken = true; continue; }
      if (fine) {
        const x = X(line.x(i));
        if (open) c.lineTo(x, Y(a)); else { c.moveTo(x, Y(a)); if (a === b) c.lineTo(x + 0.01, Y(a)); }
        if (a !== b) c.lineTo(x, Y(b));
        open = true;
        continue;
      }
      const dot = Math.round(X(line.x(i)) - box.x);
      if (dot !== at) {
        flush();
        // Cells without a number under one dot are no gap that can be seen.
        if (broken && dot - before > 1) open = false;
        [broken, before] = [false, dot];
        at = dot; low = a; high = b; entry = a; exit = b;
      } else { broken = false; low = Math.min(low, a, b); high = Math.max(high, a, b); exit = b; }
    }
    flush();
    c.stroke();
    c.setLineDash([]);
  }

  /** The cursor, the selection, and the values in the legend. */
  cursor() {
    const { context: c, h } = prepare(this.over);
    const { view } = this;
    const paint = colors();
    if (!this.X) return;
    if (view.selected) {
      const [a, b] = view.selected.map(this.X);
      c.fillStyle = paint.gap;
      c.fillRect(Math.min(a, b), MARGIN.top, Math.abs(b - a), h - MARGIN.top - MARGIN.bottom);
    }
    // Over frequency there is no cursor.
    if (view.log) return;
    if (view.at >= view.low && view.at <= view.high) {
      const x = Math.round(this.X(view.at)) + 0.5;
      c.strokeStyle = paint.focus;
      c.beginPath(); c.moveTo(x, MARGIN.top); c.lineTo(x, h - MARGIN.bottom); c.stroke();
    }
    for (const line of this.lines) line.now.textContent = line.hidden ? '' : significant(line.value(view.at), 4);
  }
}

/** Powers of ten between two numbers, at most so many. */
function decades(low, high, most) {
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((to - from + 1) / Math.max(most, 2)));
  const found = [];
  for (let k = from; k <= to; k += step) found.push(10 ** k);
  return found.length > 1 ? found : [...new Set([...found, Number(low.toPrecision(2)), Number(high.toPrecision(2))])].filter((x) => x >= low && x <= high);
}

function power(value) {
  if (value >= 0.01 && value < 1e4) return significant(value, 2);
  return value.toExponential(0).replace('e+', 'e');
}

/** What plots share: the part of the abscissa that is shown, and the cursor. */
class View {
  constructor(low, high, unit, log = false) {
    Object.assign(this, { low, high, all: [low, high], unit, log, at: low, gaps: [], plots: [], selected: null, heard: [] });
  }
  join(plot) { this.plots.push(plot); }
  move(at) {
    if (this.log) return;
    this.at = Math.min(Math.max(at, this.all[0]), this.all[1]);
    this.plots.forEach((plot) => plot.cursor());
    this.heard.forEach((hear) => hear(this.at));
  }
  zoom(low, high) {
    if (this.log || !(high - low > 1e-6)) return;
    [this.low, this.high] = [Math.max(low, this.all[0]), Math.min(high, this.all[1])];
    this.draw();
    this.heard.forEach((hear) => hear(this.at));
  }
  scale(by, about) {
    const width = Math.min((this.high - this.low) * by, this.all[1] - this.all[0]);
    const part = (about - this.low) / (this.high - this.low);
    const low = Math.min(Math.max(about - part * width, this.all[0]), this.all[1] - width);
    this.zoom(low, low + width);
  }
  draw() { this.plots.forEach((plot) => plot.draw()); }
  key(event) {
    const step = (this.high - this.low) / (event.shiftKey ? 20 : 200);
    const act = {
      ArrowLeft: () => this.move(this.at - step), ArrowRight: () => this.move(this.at + step),
      Home: () => this.move(this.all[0]), End: () => this.move(this.all[1]),
      '+': () => this.scale(0.7, this.at), '-': () => this.scale(1 / 0.7, this.at), Escape: () => this.zoom(...this.all),
    }[event.key];
    if (act && !this.log) { event.preventDefault(); act(); }
  }
}

function add(parent, tag, className = '', text = '') {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}
