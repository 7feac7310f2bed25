// Opens reports in Chromium and looks whether they are drawn, move and obey: `node check.mjs CHROMIUM PICTURES REPORT…`, run by `cargo xtask report`.

import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(join(process.cwd(), 'package.json'))('playwright-core');
const [, , executablePath, pictures, ...reports] = process.argv;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
/** A report opens in less than this, ms. */
const OPEN = 3000;

let checks = 0;
const failures = [];
const check = (what, holds) => { checks++; if (!holds) { failures.push(what); console.log(`FAILED ${what}`); } };

/** Of each canvas that a selector finds: a checksum of its dots, and how many colours it has. */
const look = (page, selector) => page.$$eval(selector, (all) => all.map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const dots = new Uint32Array(data.buffer);
  let sum = 0;
  const seen = new Set();
  for (const dot of dots) { sum = (Math.imul(sum, 31) + dot) | 0; if (seen.size < 64) seen.add(dot); }
  return { sum, colors: seen.size };
}));
const differ = (a, b) => a.every((one, i) => one.sum !== b[i].sum);
const slider = (page) => page.$eval('input[type=range]', (input) => Number(input.value));

const browser = await chromium.launch({ executablePath, args: FLAGS });
for (const report of reports) {
  for (const width of [390, 1440]) {
    for (const colorScheme of ['light', 'dark']) {
      const name = `${basename(report, '.html')}, ${width} px, ${colorScheme}`;
      const is = (what, holds) => check(`${name}: ${what}`, holds);
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
      const page = await context.newPage();
      const said = [], asked = [];
      page.on('console', (message) => {
        // This check reads the canvases again and again, of which the browser warns.
        const own = message.text().includes('willReadFrequently');
        if (!own && ['error', 'warning'].includes(message.type())) said.push(message.text());
      });
      page.on('pageerror', (error) => said.push(error.message));
      page.on('request', (request) => { if (!request.url().startsWith('file:')) asked.push(request.url()); });
      const began = Date.now();
      await page.goto(pathToFileURL(report).href);
      await page.waitForSelector('html[data-ready]', { timeout: 30000 }).catch(() => is('it becomes ready', false));
      const took = Date.now() - began;
      is(`it opens in ${OPEN} ms, took ${took}`, took < OPEN);

      const plots = await look(page, '.plot .frame canvas:not(.cursor)');
      is('there are plots', plots.length >= 3);
      is('every plot is drawn', plots.every((plot) => plot.colors > 4));
      const stage = await look(page, '.stage canvas');
      is('the vehicle is drawn', stage.length === 1 && stage[0].colors > 12);
      const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      is('nothing is wider than the window', fits);
      const labelled = await page.$$eval('canvas:not([aria-hidden])', (all) => all.every((canvas) => canvas.getAttribute('aria-label')));
      is('every picture has a text', labelled);

      // The slider moves the picture and every cursor of the plots over time.
      const cursors = '.plot:not(.spectrum) canvas.cursor';
      const overTime = async () => (await page.$$(cursors)).length;
      const lookCursors = async () => {
        const found = await page.$$(cursors);
        return Promise.all(found.map((canvas) => canvas.evaluate((canvas) => {
          const dots = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
          return { sum: dots.reduce((sum, dot) => (Math.imul(sum, 31) + dot) | 0, 0) };
        })));
      };
      let before = await lookCursors();
      await page.$eval('input[type=range]', (input) => { input.value = Number(input.min) + 0.37 * (input.max - input.min); input.dispatchEvent(new Event('input')); });
      let after = await lookCursors();
      is('the slider moves every cursor', (await overTime()) > 2 && differ(before, after));
      is('the slider moves the vehicle', differ(stage, await look(page, '.stage canvas')));

      // The pointer over one plot moves the cursors of the others.
      before = after;
      const canvas = page.locator('.plot .frame canvas').first();
      await canvas.scrollIntoViewIfNeeded();
      const box = await canvas.boundingBox();
      const at = await slider(page);
      await page.mouse.move(box.x + 0.72 * box.width, box.y + box.height / 2);
      after = await lookCursors();
      is('cursors are linked', differ(before, after) && (await slider(page)) > at);

      // Keys, the legend, zooming, playing.
      const here = await slider(page);
      await canvas.focus();
      await page.keyboard.press('ArrowRight');
      is('keys move the cursor', (await slider(page)) > here);
      const drawn = await look(page, '.plot .frame canvas:not(.cursor)');
      await page.locator('.plot .legend button').first().click();
      const toggled = await look(page, '.plot .frame canvas:not(.cursor)');
      is('the legend hides a line', toggled[0].sum !== drawn[0].sum);
      await page.locator('.plot .legend button').first().click();
      await canvas.focus();
      await page.keyboard.press('+');
      const zoomed = await look(page, '.plot .frame canvas:not(.cursor)');
      is('zooming is common', zoomed.slice(0, 3).every((plot, i) => plot.sum !== drawn[i].sum));
      await page.keyboard.press('Escape');
      const whole = await look(page, '.plot .frame canvas:not(.cursor)');
      is('zooming out shows what was shown', whole[0].sum === drawn[0].sum);
      const from = await slider(page);
      await page.locator('.controls button').first().click();
      await page.waitForFunction((from) => Number(document.querySelector('input[type=range]').value) > from, from, { timeout: 5000 }).catch(() => {});
      await page.locator('.controls button').first().click();
      is('it plays', (await slider(page)) > from);

      is(`no error is said: ${said.join('; ')}`, said.length === 0);
      is(`nothing is asked for: ${asked.join(' ')}`, asked.length === 0);
      if (pictures !== '-') {
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path: join(pictures, `${basename(report, '.html')}-${width}-${colorScheme}.png`), fullPage: true });
      }
      await context.close();
    }
  }
}
await browser.close();
console.log(`${checks} checks of ${reports.length} reports, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
