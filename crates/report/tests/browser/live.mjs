// Opens the page of a flight that is under way in Chromium, and looks whether it goes on: `node live.mjs CHROMIUM PICTURES FLY ARGUMENT…`, run by `cargo xtask peers viewers`.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.cwd(), 'package.json'))('playwright-core');
const [, , executablePath, pictures, fly, ...args] = process.argv;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

let checks = 0;
const failures = [];
const check = (what, holds) => { checks++; if (!holds) { failures.push(what); console.log(`FAILED ${what}`); } };
const look = (page, selector) => page.$$eval(selector, (all) => all.map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (const dot of new Uint32Array(data.buffer)) sum = (Math.imul(sum, 31) + dot) | 0;
  return sum;
}));
const slider = (page) => page.$eval('input[type=range]', (input) => [Number(input.max), Number(input.value)]);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const flight = spawn(fly, [...args, '--view'], { stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
const ended = new Promise((done) => flight.on('exit', done));
const url = await new Promise((found, failed) => {
  flight.stderr.on('data', (data) => {
    said += data;
    const match = said.match(/in a browser: (\S+)/);
    if (match) found(match[1]);
  });
  flight.on('exit', (code) => failed(new Error(`fly ended with ${code}: ${said}`)));
});

const browser = await chromium.launch({ executablePath, args: FLAGS });
for (const width of [390, 1440]) {
  const is = (what, holds) => check(`${width} px: ${what}`, holds);
  const page = await (await browser.newContext({ viewport: { width, height: 900 } })).newPage();
  const errors = [];
  page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  await page.waitForSelector('html[data-live=on]', { timeout: 20000 }).catch(() => is('it is connected', false));
  // A column that came after the page loads it anew.
  await pause(1500);
  await page.waitForSelector('html[data-live=on]', { timeout: 5000 }).catch(() => is('it is connected again', false));
  const [before, stage, plots] = [await slider(page), await look(page, '.stage canvas'), await look(page, '.plot .frame canvas:not(.cursor)')];
  await pause(1000);
  const after = await slider(page);
  is(`time goes on: ${before} to ${after}`, after[0] > before[0] + 0.3);
  is('the picture is that of the end', Math.abs(after[1] - after[0]) < 1e-6);
  const [stage2, plots2] = [await look(page, '.stage canvas'), await look(page, '.plot .frame canvas:not(.cursor)')];
  is('the vehicle moves', stage2[0] !== stage[0]);
  is('there are plots', plots.length >= 3);
  is('every plot grows', plots.every((sum, i) => sum !== plots2[i]));
  // Who looks at an earlier time goes on doing so.
  await page.$eval('input[type=range]', (input) => { input.value = Number(input.max) / 2; input.dispatchEvent(new Event('input')); });
  const [, chosen] = await slider(page);
  await pause(500);
  const [, kept] = await slider(page);
  is(`an earlier time stays: ${chosen}, ${kept}`, Math.abs(kept - chosen) < 1e-6);
  await page.screenshot({ path: join(pictures, `live-${width}.png`) });
  if (width === 1440) {
    flight.kill('SIGINT');
    await page.waitForSelector('html[data-live=over]', { timeout: 10000 }).catch(() => is('its end is told', false));
    is('the verdict is shown', (await page.textContent('.verdict')).includes('interrupted'));
    await page.screenshot({ path: join(pictures, 'live-over.png') });
  }
  is(`no error on the console: ${errors.join('; ')}`, errors.length === 0);
}
await browser.close();
await ended;
console.log(`${checks} checks of the live page, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
