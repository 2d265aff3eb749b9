// The findings of Lighthouse on the page, a product and a brand, on a phone and at a desk: scores, times and faults.
//
//   haat demo --products 600 --stores 6 --listen 127.0.0.1:8080          (with HAAT_PUBLIC_URL=http://127.0.0.1:8080)
//   npm install --ignore-scripts --prefix DIR lighthouse@12.8.2
//   CHROME_PATH=/usr/bin/chromium node bench/peers/lighthouse.mjs http://127.0.0.1:8080 DIR
//
// It ends with 1 where accessibility or the score of search engines is below 100. Emulated stores serve pictures over HTTP, which
// costs `best-practices` its only fault there.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const [base, folder] = process.argv.slice(2);
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const TIMES = ['first-contentful-paint', 'largest-contentful-paint', 'cumulative-layout-shift', 'total-blocking-time'];

const { data: [first] } = await (await fetch(`${base}/v1/search?in_stock=true&limit=1`)).json();
const pages = { start: '/', product: `/products/${first.id}`, brand: `/brands/${first.brand_slug}` };

function looked(path, preset) {
  const program = join(folder, 'node_modules/lighthouse/cli/index.js');
  const args = [program, base + path, '--quiet', '--output=json', `--only-categories=${CATEGORIES}`, '--chrome-flags=--headless=new --no-sandbox --disable-gpu', ...preset];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

let failed = false;
for (const [name, path] of Object.entries(pages)) {
  for (const [where, preset] of [['phone', []], ['desk', ['--preset=desktop']]]) {
    const { categories, audits } = looked(path, preset);
    const scores = CATEGORIES.map((category) => `${category} ${Math.round(categories[category].score * 100)}`);
    const times = TIMES.map((time) => `${time} ${audits[time].displayValue}`);
    const wrong = CATEGORIES.flatMap((category) => categories[category].auditRefs)
      .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 0.9)
      .map(({ id }) => `${id}: ${audits[id].displayValue ?? audits[id].title}`);
    failed ||= ['accessibility', 'seo'].some((category) => categories[category].score < 1);
    console.log([`${name}, ${where}: ${scores.join(', ')}`, times.join(', '), ...wrong].join('\n  '));
  }
}
process.exit(failed ? 1 : 0);
