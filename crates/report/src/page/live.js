// A flight that is under way: what is new of it comes over a WebSocket from where the page came from.

/** Numbers from a cell on, in an array that grows; what is not a number comes as null. */
function grown(array, from, values) {
  const n = from + values.length;
  let whole = new Float32Array(array ? array.buffer : 0, 0, array ? Math.min(array.length, from) : 0);
  if (whole.buffer.byteLength < 4 * n || whole.length < from) {
    const larger = new Float32Array(2 * n).fill(NaN);
    larger.set(whole);
    whole = larger;
  }
  const all = new Float32Array(whole.buffer, 0, n);
  values.forEach((value, i) => { all[from + i] = value === null ? NaN : value; });
  return all;
}

/** Adds what is new to a flight. */
function extend(flight, update) {
  for (const [name, [low, high]] of Object.entries(update.columns)) {
    const known = flight.column(name) || {};
    const apart = known.high === known.low ? known.high?.slice() : known.high;
    flight.grown.set(name, { low: grown(known.low, update.from[0], low), high: grown(apart, update.from[0], high.length ? high : low) });
  }
  for (const [name, values] of Object.entries(update.track)) {
    const [kind, number] = name.split('.');
    const set = flight.track[kind === 'pose' ? 0 : 1];
    set[number] = grown(set[number], update.from[1], values);
  }
  for (const key of ['span', 'cell', 'whole', 'track_cell', 'track_length', 'numbers', 'modes', 'gaps']) flight[key] = update[key];
  flight.duration = Math.max(flight.span[1] - flight.span[0], 1e-9);
  flight.events.push(...update.events);
  const fact = flight.facts.find(([label]) => label === 'flight');
  if (fact) fact[1] = `${flight.duration.toFixed(1)} s`;
}

/** Shows the flight as it goes on. Who looks at an earlier time goes on doing so. */
function follow(flight, cursor, { top, told, view, stage, slider, draw, heading, events }) {
  const state = add(document.body, 'p', 'live');
  state.setAttribute('role', 'status');
  const say = (text, is) => { state.textContent = text; document.documentElement.dataset.live = is; };
  const url = new URL('live', location.href);
  url.protocol = 'ws:';
  url.search = location.search;
  view.move(view.all[1]);
  const socket = new WebSocket(url);
  let over = false;
  socket.onopen = () => { socket.send(JSON.stringify(cursor)); say('● live', 'on'); };
  socket.onclose = () => { if (over) say('○ the flight is over', 'over'); else say('○ not connected any more', 'lost'); };
  socket.onmessage = ({ data }) => {
    const update = JSON.parse(data);
    if (update.over !== undefined) {
      over = true;
      flight.verdict = update.over;
      top.replaceChildren();
      heading();
      socket.close();
      return;
    }
    if (update.reload) { location.reload(); return; }
    const [low, high] = view.all;
    const [atEnd, whole, width] = [view.at >= high - 1e-9, view.low <= low && view.high >= high, view.high - view.low];
    const slides = view.high >= high;
    extend(flight, update);
    view.all = [flight.span[0], flight.span[1]];
    view.gaps = flight.gaps;
    [slider.min, slider.max] = view.all;
    if (whole) [view.low, view.high] = view.all;
    else if (slides) [view.low, view.high] = [view.all[1] - width, view.all[1]];
    stage.measure();
    top.replaceChildren();
    heading();
    if (update.events.length) { told.replaceChildren(); events(); }
    view.move(atEnd ? view.all[1] : view.at);
    draw();
    // Drawn first, then more: a slow browser falls behind by one update at most.
    setTimeout(() => { if (socket.readyState === WebSocket.OPEN) socket.send('more'); });
  };
}
