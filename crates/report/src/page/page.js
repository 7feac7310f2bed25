// The page: verdict and numbers, the moving picture, plots, spectra, events, configuration.

const TONES = { good: '✓', bad: '✕', unknown: '○' };
/** Strokes of flights that are laid over each other, none of them that of a reference: as in pictures. */
const STROKES = ['solid', 'longdashed', 'dashdotted', 'dashdotdotted'];

async function main() {
  const contents = JSON.parse(document.getElementById('contents').textContent);
  const array = await openArrays();
  const flights = contents.flights.map((shown, i) => new FlightData(shown, i, array));
  flights.forEach((flight) => {
    // The body that the paths are of: a free one, else the last of a chain.
    flight.free = !!flight.columns['position.x'] || flight.scene.bodies.length === 1;
    flight.lead = flight.free ? 0 : flight.scene.bodies.length - 1;
  });
  const page = document.getElementById('report');
  const top = add(page, 'div');
  heading(top, flights);
  const all = [Math.min(...flights.map((f) => f.span[0])), Math.max(...flights.map((f) => f.span[1]))];
  const view = new View(all[0], all[1], 's');
  view.gaps = flights.length === 1 ? flights[0].gaps : [];
  const player = controls(page, view);
  const stage = new Stage(page, flights);
  player.camera(stage);
  add(page, 'p', 'soft small hint', 'Drag to turn, wheel or pinch to zoom, shift and drag to move. In plots: drag to zoom in, double-click for all of it, arrow keys for the cursor, + and − to zoom.');
  timeline(page, flights, view);
  add(page, 'h2', '', 'Over time');
  const lines = {
    time: (flight, line) => timeLine(flight, line, flights.length),
    spectrum: (flight, line) => spectrumLine(flight, line, flights.length),
  };
  panels(page, flights, 'panels', view, lines.time);
  const frequencies = flights.flatMap((f) => Object.values(f.densities).map(([x]) => array(x)));
  if (frequencies.length) {
    add(page, 'h2', '', 'Spectra');
    const low = Math.min(...frequencies.map((x) => x[0])), high = Math.max(...frequencies.map((x) => x[x.length - 1]));
    panels(page, flights, 'spectra', new View(low, high, 'Hz', true), lines.spectrum);
  }
  const told = add(page, 'div');
  events(told, flights, view);
  details(page, flights, contents);
  view.heard.push((time) => stage.show(time));
  const draw = () => { view.draw(); stage.draw(); document.querySelectorAll('.timeline canvas').forEach((canvas) => canvas.redraw()); View.spectra?.draw(); };
  // Everything once: who hears the time draws what is no plot.
  view.draw();
  View.spectra?.draw();
  view.heard.forEach((hear) => hear(view.at));
  let waiting = 0;
  addEventListener('resize', () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(draw); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  addEventListener('beforeprint', () => { document.documentElement.dataset.print = ''; draw(); });
  addEventListener('afterprint', () => { delete document.documentElement.dataset.print; draw(); });
  document.documentElement.dataset.ready = '';
  if (contents.live) follow(flights[0], contents.live, { top, told, view, stage, slider: player.slider, draw, heading: () => heading(top, flights), events: () => events(told, flights, view) });
}

function heading(page, flights) {
  if (flights.length === 1) {
    const [flight] = flights;
    add(page, 'h1', '', flight.name);
    verdict(add(page, 'p'), flight);
    notes(page, flight);
    const cards = add(page, 'div', 'cards');
    for (const number of flight.numbers) {
      const card = add(cards, 'div', 'card');
      const value = add(card, 'div', 'value', significant(number.value, 4));
      add(value, 'span', 'unit', number.unit);
      add(card, 'div', 'label', number.label);
    }
    return;
  }
  add(page, 'h1', '', `${flights.length} flights`);
  flights.forEach((flight) => notes(page, flight));
  const table = add(add(page, 'div', 'scroll'), 'table');
  const head = add(add(table, 'thead'), 'tr');
  add(head, 'th', '', '');
  flights.forEach((flight, i) => {
    const cell = add(head, 'th', 'number');
    swatch(cell, i, STROKES[i % 4]);
    cell.append(flight.label);
  });
  const body = add(table, 'tbody');
  const first = add(body, 'tr');
  add(first, 'th', '', 'verdict');
  flights.forEach((flight) => add(first, 'td', 'number verdict ' + flight.verdict.tone, flight.verdict.text));
  const length = add(body, 'tr');
  add(length, 'th', '', 'duration, s');
  flights.forEach((flight) => add(length, 'td', 'number', significant(flight.span[1] - flight.span[0], 5)));
  const rows = new Map();
  flights.forEach((flight) => flight.numbers.forEach((number) => rows.set(number.key, rows.get(number.key) || number)));
  for (const [key, number] of rows) {
    const row = add(body, 'tr');
    add(row, 'th', '', number.label + (number.unit ? ', ' + number.unit : '')).scope = 'row';
    const values = flights.map((flight) => flight.numbers.find((own) => own.key === key)?.value ?? NaN);
    const known = values.filter(Number.isFinite);
    // What reads the same is the same.
    const texts = values.map((value) => significant(value, 4));
    const best = number.less_is_better && known.length > 1 && new Set(texts).size > 1 ? significant(Math.min(...known), 4) : null;
    texts.forEach((text) => add(row, 'td', 'number' + (text === best ? ' best' : ''), text));
  }
}

function verdict(parent, flight) {
  add(parent, 'span', 'verdict ' + flight.verdict.tone, `${TONES[flight.verdict.tone]} ${flight.verdict.text}`);
  const fact = flight.facts.find(([label]) => label === 'flight');
  const errors = flight.facts.find(([label]) => label === 'errors');
  add(parent, 'span', 'soft', ` · ${fact ? fact[1] : ''}${errors ? ' · errors ' + errors[1] : ''}`);
}

function notes(page, flight) {
  if (!flight.notes.length) return;
  const box = add(page, 'div', 'notes');
  flight.notes.forEach((note) => add(box, 'p', '', note));
}

function controls(page, view) {
  const bar = add(page, 'div', 'controls');
  const play = add(bar, 'button', '', '▶ Play');
  play.type = 'button';
  play.title = 'Play or stop (space)';
  const slider = add(bar, 'input');
  Object.assign(slider, { type: 'range', min: view.all[0], max: view.all[1], step: 'any', value: view.all[0] });
  slider.setAttribute('aria-label', 'Time');
  const now = add(bar, 'output');
  const speed = choice(bar, 'Speed', [['0.1', '0.1×'], ['0.25', '¼×'], ['1', '1×'], ['4', '4×']], '1');
  let playing = 0, last = 0;
  const frame = (stamp) => {
    if (!playing) return;
    const passed = last ? (stamp - last) / 1000 : 0;
    last = stamp;
    const at = view.at + passed * Number(speed.value);
    view.move(at);
    if (at >= view.all[1]) stop(); else playing = requestAnimationFrame(frame);
  };
  const stop = () => { cancelAnimationFrame(playing); playing = 0; play.textContent = '▶ Play'; };
  const toggle = () => {
    if (playing) return stop();
    if (view.at >= view.all[1] - 1e-9) view.move(view.all[0]);
    last = 0;
    play.textContent = '❚❚ Stop';
    playing = requestAnimationFrame(frame);
  };
  play.addEventListener('click', toggle);
  addEventListener('keydown', (event) => {
    if (event.key === ' ' && !/^(BUTTON|SELECT|SUMMARY|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); toggle(); }
  });
  slider.addEventListener('input', () => view.move(Number(slider.value)));
  view.heard.push((time) => { slider.value = time; now.textContent = time.toFixed(3) + ' s'; slider.setAttribute('aria-valuetext', time.toFixed(2) + ' seconds'); });
  const whole = add(bar, 'button', '', 'Whole time');
  whole.type = 'button';
  whole.addEventListener('click', () => view.zoom(...view.all));
  return {
    slider,
    camera(stage) {
      const camera = choice(bar, 'Camera', stage.flights[0].free ? [['follow', 'Follow'], ['free', 'Whole path']] : [['free', 'Whole']], stage.flights[0].free ? 'follow' : 'free');
      camera.addEventListener('change', () => stage.look(camera.value));
      stage.onMode = (mode) => { camera.value = mode; };
      if (stage.flights[0].free) {
        const size = choice(bar, 'Size of the vehicle', [['1', 'True size'], ['2', '2× size'], ['5', '5× size'], ['10', '10× size']], '1');
        size.addEventListener('change', () => { stage.enlarged = Number(size.value); stage.draw(); });
      }
    },
  };
}

function choice(parent, label, options, value) {
  const select = add(parent, 'select');
  select.setAttribute('aria-label', label);
  select.title = label;
  for (const [key, text] of options) { const option = add(select, 'option', '', text); option.value = key; }
  select.value = value;
  return select;
}

/** The panels of all flights with the same key, as one plot. */
function panels(page, flights, kind, view, toLine) {
  const grid = add(page, 'div', 'plots');
  const merged = new Map();
  for (const flight of flights) {
    for (const panel of flight[kind]) {
      const own = merged.get(panel.key) || { panel, lines: [] };
      merged.set(panel.key, own);
      // Side by side, what waits to be asked for would crowd out what is compared.
      const wanted = panel.lines.filter((line) => flights.length === 1 || (!line.hidden && (line.stroke === 'solid' || flight.index === 0)));
      own.lines.push(...wanted.map((line) => toLine(flight, line)).filter(Boolean));
    }
  }
  for (const { panel, lines } of merged.values()) if (lines.length) grid.append(new Plot(panel, lines, view).element);
  if (kind === 'spectra') View.spectra = view;
  return view;
}

function timeLine(flight, line, count) {
  const column = flight.column(line.column);
  if (!column) return null;
  // A flight that is under way grows, and its cells with it.
  return {
    ...overlaid(flight, line, count),
    get low() { return flight.column(line.column).low; },
    get high() { return flight.column(line.column).high; },
    x: (i) => flight.span[0] + (flight.whole ? i : i + 0.5) * flight.cell,
    cells: (from, to) => [Math.max(Math.floor((from - flight.span[0]) / flight.cell) - 1, 0), Math.min(Math.ceil((to - flight.span[0]) / flight.cell) + 2, flight.column(line.column).low.length)],
    value: (time) => flight.at(line.column, time) * line.scale,
  };
}

function spectrumLine(flight, line, count) {
  const places = flight.densities[line.column];
  if (!places) return null;
  const [x, y] = places.map(flight.array);
  return { ...overlaid(flight, line, count), low: y, high: y, x: (i) => x[i], cells: () => [0, x.length], value: () => NaN };
}

/** Of several flights: the colour tells the component, the stroke the flight; references wait to be asked for. */
function overlaid(flight, line, count) {
  if (count === 1) return { ...line };
  return {
    ...line, label: `${flight.label}: ${line.label}`, stroke: line.stroke === 'solid' ? STROKES[flight.index % 4] : line.stroke,
    hidden: line.stroke !== 'solid' || flight.index > 3,
  };
}

function timeline(page, flights, view) {
  const words = flights.flatMap((flight) => flight.modes.map(([, mode]) => mode));
  if (!words.length && !flights.some((flight) => flight.events.length)) return;
  const modes = [...new Set(words)];
  const section = add(page, 'section', 'timeline');
  add(section, 'h2', '', 'Modes and events');
  const canvas = add(section, 'canvas');
  canvas.style.height = `${30 + 34 * flights.length}px`;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', flights.map((flight) => `${flight.label}: ${flight.modes.map(([time, mode]) => `${mode} from ${time.toFixed(2)} s`).join(', ')}`).join('. '));
  canvas.redraw = () => {
    const { context: c, w } = prepare(canvas);
    if (!w) return;
    const paint = colors();
    const X = (time) => MARGIN.left + ((time - view.low) / (view.high - view.low)) * (w - MARGIN.left - MARGIN.right);
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    flights.forEach((flight, f) => {
      const y = 6 + 34 * f;
      c.save();
      c.beginPath(); c.rect(MARGIN.left, 0, w - MARGIN.left - MARGIN.right, 1e4); c.clip();
      flight.modes.forEach(([from, mode], i) => {
        const to = flight.modes[i + 1] ? flight.modes[i + 1][0] : flight.span[1];
        const [a, b] = [X(from), X(to)];
        const calm = ['flying', 'armed', 'disarmed', 'arming'].includes(mode);
        c.globalAlpha = calm ? 0.22 : 0.55;
        c.fillStyle = calm ? paint.line(2) : paint.line(1);
        c.fillRect(a, y, Math.max(b - a - 1, 1), 18);
        c.globalAlpha = 1;
        c.fillStyle = paint.ink;
        c.textAlign = 'left';
        if (b - a > c.measureText(mode).width + 10) c.fillText(mode.replace('_', ' '), Math.max(a, MARGIN.left) + 5, y + 9);
      });
      c.fillStyle = paint.gap;
      flight.gaps.forEach(([from, to]) => c.fillRect(X(from), y, X(to) - X(from), 18));
      for (const event of flight.events) {
        if (event.level === 'debug') continue;
        c.fillStyle = { warning: paint.line(5), error: paint.line(1) }[event.level] || paint.soft;
        const x = X(event.time);
        c.beginPath(); c.moveTo(x, y + 20); c.lineTo(x - 4, y + 28); c.lineTo(x + 4, y + 28); c.closePath(); c.fill();
      }
      c.restore();
    });
    const x = X(view.at);
    c.strokeStyle = paint.focus;
    if (x >= MARGIN.left && x <= w - MARGIN.right) { c.beginPath(); c.moveTo(x, 2); c.lineTo(x, 4 + 34 * flights.length); c.stroke(); }
  };
  canvas.addEventListener('pointerdown', (event) => {
    const box = canvas.getBoundingClientRect();
    view.move(view.low + ((event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right)) * (view.high - view.low));
  });
  view.heard.push(canvas.redraw);
}

function events(page, flights, view) {
  const all = flights.flatMap((flight) => flight.events.map((event) => ({ ...event, flight }))).sort((a, b) => a.time - b.time);
  if (!all.length) return;
  add(page, 'h2', '', 'Events');
  const table = add(add(page, 'div', 'events scroll'), 'table');
  const head = add(add(table, 'thead'), 'tr');
  for (const word of ['time', ...(flights.length > 1 ? ['flight'] : []), 'level', 'message']) add(head, 'th', '', word);
  const body = add(table, 'tbody');
  for (const event of all) {
    const row = add(body, 'tr');
    const jump = add(add(row, 'td'), 'button', '', event.time.toFixed(3) + ' s');
    jump.type = 'button';
    jump.addEventListener('click', () => view.move(event.time));
    if (flights.length > 1) add(row, 'td', '', event.flight.label);
    add(row, 'td', { warning: 'unknown', error: 'bad' }[event.level] || 'soft', event.level);
    add(row, 'td', '', event.text);
  }
  const more = flights.reduce((sum, flight) => sum + flight.more_events, 0);
  if (more) add(page, 'p', 'soft small', `${more} more messages are in the log.`);
}

function details(page, flights, contents) {
  add(page, 'h2', '', 'Flight and configuration');
  for (const flight of flights) {
    if (flights.length > 1) add(page, 'h3', '', flight.label);
    const table = add(add(page, 'div', 'scroll'), 'table');
    const body = add(table, 'tbody');
    for (const [label, text] of flight.facts) { const row = add(body, 'tr'); add(row, 'th', 'soft', label).scope = 'row'; add(row, 'td', '', text); }
    for (const [label, text] of [['Configuration', flight.configuration], ['Vehicle', flight.vehicle]]) {
      if (!text) continue;
      const more = add(page, 'details');
      add(more, 'summary', '', label);
      add(more, 'pre', '', text).tabIndex = 0;
    }
  }
  const cells = flights.filter((flight) => !flight.whole);
  const resolution = cells.length
    ? ` Plots hold the smallest and the largest value of every ${significant(Math.max(...cells.map((f) => f.cell)) * 1000, 3)} ms, so no extreme is lost.`
    : ' Plots hold every tick.';
  add(page, 'p', 'soft small', `${contents.program}.${resolution} Numbers of the plots are single precision.`);
}

main().catch((error) => {
  add(document.getElementById('report'), 'p', 'bad', `This browser cannot show the report: ${error.message}`);
  throw error;
});
