// The API reference as a stranger meets it. Usage: PROFILE=DIR [SHOTS=DIR] node reference.mjs BASE [KEY]. With a key it tries
// operations in the console. It says each fact that holds, and ends with 1 where one does not.

import assert from 'node:assert/strict';
import { launch } from './chromium.mjs';

const [base, key] = process.argv.slice(2);
const { PROFILE: profile, SHOTS: shots } = process.env;
const [PHONE, DESK] = [{ width: 390, height: 844 }, { width: 1280, height: 900 }];

const document = await (await fetch(`${base}/openapi.json`)).json();
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const described = Object.entries(document.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => `${method.toUpperCase()} ${path}`)).sort();
const browser = await launch(profile);

const LISTED = "document.querySelectorAll('.opblock').length > 0";
const listed = "[...document.querySelectorAll('.opblock')].map((one) => `${one.querySelector('.opblock-summary-method').textContent} ${one.querySelector('.opblock-summary-path').dataset.path}`).sort()";
const WAYS = `
  globalThis.$ = (selector, from = document) => from.querySelector(selector);
  globalThis.type = (input, text) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value').set.call(input, text);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };
`;

async function visit(size = DESK, prefer = {}) {
  const page = await browser.open();
  await page.look({ ...size, ...prefer });
  await page.before(`globalThis.violations = []; addEventListener('securitypolicyviolation', (one) => violations.push(one.violatedDirective + ' ' + one.blockedURI));${WAYS}`);
  await page.go(`${base}/docs/`);
  await page.until(LISTED, 'operations are listed');
  return page;
}

/** Nothing failed, nothing was refused by the page's policy, and nothing was asked of another server. */
async function isClean(page) {
  assert.deepEqual(await page.evaluate('violations'), []);
  const elsewhere = await page.evaluate('performance.getEntriesByType("resource").map((one) => one.name).filter((name) => !name.startsWith(location.origin) && !name.startsWith("data:"))');
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(page.faults, []);
}

/** Opens the operation of this id, fills its parameters in, sends it; answers the status that the console shows. */
async function tried(page, id, parameters = {}) {
  const block = `$('.opblock[id$="-${id}"]')`;
  await page.evaluate(`if (!${block}.classList.contains('is-open')) $('.opblock-summary-control', ${block}).click()`);
  await page.until(`$('.try-out__btn', ${block})`);
  await page.evaluate(`if (!$('.btn.execute', ${block})) $('.try-out__btn', ${block}).click()`);
  await page.until(`$('.btn.execute', ${block})`);
  for (const [name, value] of Object.entries(parameters)) {
    await page.evaluate(`type($('tr[data-param-name="${name}"] input', ${block}), ${JSON.stringify(value)})`);
  }
  await page.evaluate(`$('.btn-clear', ${block})?.click()`);
  await page.evaluate(`$('.btn.execute', ${block}).click()`);
  await page.until(`$('.live-responses-table .response-col_status', ${block})`, `an answer of ${id}`);
  return { status: parseInt(await page.evaluate(`$('.live-responses-table tbody .response-col_status', ${block}).textContent`), 10), curl: await page.evaluate(`$('.curl', ${block})?.textContent ?? ''`), body: await page.evaluate(`$('.live-responses-table .response-col_description pre', ${block}).textContent`) };
}

async function authorize(page, token) {
  await page.evaluate("$('.auth-wrapper .authorize').click()");
  await page.until("$('.auth-container')");
  const form = "[...document.querySelectorAll('.auth-container')].find((one) => one.textContent.includes('Bearer'))";
  await page.evaluate(`$('.btn.authorize[type=button]', ${form})?.click()`);
  await page.until(`$('input', ${form})`);
  await page.evaluate(`type($('input', ${form}), ${JSON.stringify(token)})`);
  await page.evaluate(`$('button[type=submit]', ${form}).click()`);
  await page.evaluate("$('.btn-done').click()");
}

const facts = {
  async 'every operation is listed in its section, and nothing else'() {
    const page = await visit();
    assert.deepEqual(await page.evaluate(listed), described);
    const sections = await page.evaluate("[...document.querySelectorAll('.opblock-tag')].map((one) => one.dataset.tag)");
    assert.deepEqual(sections, document.tags.map((tag) => tag.name));
    await isClean(page);
  },

  async 'a phone shows it without a scroll to the side'() {
    const page = await visit(PHONE);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width);
    assert.deepEqual(await page.evaluate(listed), described);
    await isClean(page);
  },
};

if (key) {
  Object.assign(facts, {
    async 'a search is tried without a key and answers 200'() {
      const page = await visit();
      const { status, body } = await tried(page, 'search_products', { q: 'shoes', limit: '1' });
      assert.equal(status, 200);
      assert.ok(body.includes('provenance'), body);
      await isClean(page);
      if (shots) await page.shot(`${shots}/reference-tried-1280.png`);
    },

    async 'what needs a key is refused without one and answered with it'() {
      const page = await visit();
      assert.equal((await tried(page, 'get_me')).status, 401);
      await authorize(page, key);
      const { status, curl, body } = await tried(page, 'get_me');
      assert.equal(status, 200, body);
      assert.ok(curl.includes('Authorization: Bearer'), curl);
      assert.ok(body.includes('usage_today'), body);
      assert.deepEqual(await page.evaluate('violations'), []);
    },

    async 'a wrong key is told so'() {
      const page = await visit();
      await authorize(page, 'nonsense');
      const { status, body } = await tried(page, 'get_quota');
      assert.equal(status, 401);
      assert.ok(body.includes('invalid_key'), body);
    },

    async 'a key is forgotten with the page'() {
      const page = await visit();
      await authorize(page, key);
      assert.equal((await tried(page, 'get_me')).status, 200);
      await page.go(`${base}/docs/`);
      await page.until(LISTED);
      assert.equal((await tried(page, 'get_me')).status, 401);
      assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
    },
  });
}

let failed = 0;
for (const [name, holds] of Object.entries(facts)) {
  try {
    await holds();
    console.log(`ok: ${name}`);
  } catch (fault) {
    failed += 1;
    console.log(`FAILED: ${name}: ${fault.message}`);
  }
}
if (shots) {
  for (const size of [PHONE, DESK]) {
    for (const dark of [false, true]) {
      const page = await visit(size, { dark });
      await page.shot(`${shots}/reference-${size.width}${dark ? '-dark' : ''}.png`);
    }
  }
}
await browser.close();
process.exitCode = failed === 0 ? 0 : 1;
