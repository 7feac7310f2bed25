// Takes a small picture of each report, of its upper part with the vehicle in motion: `node gallery.mjs CHROMIUM FOLDER REPORT…`, run by `cargo xtask gallery`.

import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(join(process.cwd(), 'package.json'))('playwright-core');
const [, , executablePath, folder, ...reports] = process.argv;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
/** At which part of its time a flight is shown. */
const MOMENT = 0.35;

const browser = await chromium.launch({ executablePath, args: FLAGS });
const context = await browser.newContext({ viewport: { width: 1000, height: 1200 }, deviceScaleFactor: 0.5, offline: true });
for (const report of reports) {
  const page = await context.newPage();
  await page.goto(pathToFileURL(report).href);
  await page.waitForSelector('html[data-ready]', { timeout: 60000 });
  await page.$eval('input[type=range]', (slider, part) => {
    slider.value = String(Number(slider.min) + part * (Number(slider.max) - Number(slider.min)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  }, MOMENT);
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(folder, `${basename(report, '.html')}.png`) });
  await page.close();
}
await browser.close();
