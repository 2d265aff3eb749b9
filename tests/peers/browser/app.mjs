// The market's app inside a chat (MCP Apps), in a host of our own: a page, a sandbox of another origin in it, the app in that.
// Usage: PROFILE=DIR [AXE=FILE] [SHOTS=DIR] node app.mjs BASE KEY. It says each fact that holds, and ends with 1 where one does not.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { launch } from './chromium.mjs';

const [base, key] = process.argv.slice(2);
const { PROFILE: profile, AXE: axePath = '', SHOTS: shots = '' } = process.env;
const axe = axePath && await readFile(axePath, 'utf8');
const [PHONE, DESK] = [{ width: 390, height: 844 }, { width: 1280, height: 900 }];

// ---- The host: it passes on what the app asks of the market, with the person's key ----

async function forwarded(body) {
  const answer = await fetch(`${base}/v1/mcp`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-service-key': key }, body });
  return answer.text();
}
const market = async (method, params = {}) => JSON.parse(await forwarded(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).result;

function hostScript(sandbox, uri) {
  const asked = new URLSearchParams(location.search);
  const hostCapabilities = asked.has('bare') ? {} : { serverTools: {}, openLinks: {} };
  const hostContext = { theme: asked.get('theme') ?? 'light', locale: 'en-IN', displayMode: 'inline', styles: { variables: { '--border-radius-md': '6px' } } };
  Object.assign(globalThis, { log: [], opened: [], context: null, initialized: false });
  const frame = document.getElementById('sandbox');
  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, sandbox);
  const ask = async (method, params) => (await fetch('/mcp', { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).json();
  const answers = {
    'ui/initialize': async () => ({ result: { protocolVersion: '2026-01-26', hostInfo: { name: 'host', version: '1' }, hostCapabilities, hostContext } }),
    'tools/call': (params) => ask('tools/call', params),
    'ui/open-link': async ({ url }) => { opened.push(url); return { result: {} }; },
    'ui/update-model-context': async (params) => { context = params; return { result: {} }; },
  };
  const notified = {
    async 'ui/notifications/sandbox-proxy-ready'() {
      const [{ text, _meta: { ui } }] = (await ask('resources/read', { uri })).result.contents;
      post({ method: 'ui/notifications/sandbox-resource-ready', params: { html: text, csp: ui.csp } });
    },
    'ui/notifications/initialized'() { initialized = true; },
    'ui/notifications/size-changed'({ height }) { frame.style.height = `${height}px`; },
  };
  addEventListener('message', async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    log.push(data);
    const { id, method, params } = data;
    if (id === undefined || method === undefined) return notified[method]?.(params);
    const { result, error } = method in answers ? await answers[method](params) : { error: { code: -32601, message: 'No such method.' } };
    post({ id, ...(error ? { error } : { result }) });
  });
  globalThis.told = post;
  globalThis.calls = async (name, args) => {
    post({ method: 'ui/notifications/tool-input', params: { arguments: args } });
    const { result } = await ask('tools/call', { name, arguments: args });
    post({ method: 'ui/notifications/tool-result', params: result });
  };
  frame.src = sandbox;
}

function sandboxScript() {
  let view;
  const policy = ({ connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] }) => [
    "default-src 'none'", ...['script-src', 'style-src'].map((name) => `${name} 'self' 'unsafe-inline' ${resourceDomains.join(' ')}`),
    `connect-src 'self' ${connectDomains.join(' ')}`, `img-src 'self' data: ${resourceDomains.join(' ')}`, `font-src 'self' ${resourceDomains.join(' ')}`,
    `media-src 'self' data: ${resourceDomains.join(' ')}`, `frame-src ${frameDomains.join(' ') || "'none'"}`, "object-src 'none'", `base-uri ${baseUriDomains.join(' ') || "'self'"}`,
  ].join('; ');
  const watch = "<scr" + "ipt>globalThis.violations = []; addEventListener('securitypolicyviolation', (one) => violations.push(one.violatedDirective + ' ' + one.blockedURI));</scr" + 'ipt>';
  function load({ html, csp }) {
    view = document.createElement('iframe');
    Object.assign(view, { title: 'App', srcdoc: html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${policy(csp)}">${watch}`) });
    view.setAttribute('sandbox', 'allow-scripts allow-same-origin');
    document.body.append(view);
  }
  addEventListener('message', ({ source, data }) => {
    if (source === view?.contentWindow) parent.postMessage(data, '*');
    else if (source === parent && data.method === 'ui/notifications/sandbox-resource-ready') load(data.params);
    else if (source === parent && view) view.contentWindow.postMessage(data, '*');
  });
  parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
}

async function served(pages) {
  const server = createServer(async (request, response) => {
    const page = pages[new URL(request.url, 'http://host').pathname];
    if (!page) return response.writeHead(204).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [type, body] = await page(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'content-type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}
const html = (title, style, body, script, ...args) => async () => ['text/html; charset=utf-8', `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style><body>${body}<script>(${script})(${args.map((arg) => JSON.stringify(arg)).join(', ')})</script>`];

const { tools } = await market('tools/list');
const named = [...new Set(tools.map((tool) => tool._meta?.ui?.resourceUri).filter(Boolean))];
const sandbox = await served({ '/': html('Sandbox', 'body { margin: 0 } iframe { display: block; width: 100%; height: 100vh; border: 0 }', '', sandboxScript) });
const host = await served({
  '/': html('Host', 'body { margin: 0 } main { max-width: 760px; margin: auto } iframe { display: block; width: 100%; height: 20rem; border: 0 }',
    '<main><iframe id="sandbox" title="Sandbox" sandbox="allow-scripts allow-same-origin"></iframe></main>', hostScript, sandbox.address.slice(0, -1), named[0]),
  '/mcp': async (body) => ['application/json', await forwarded(body)],
});
const browser = await launch(profile);

/** A chat with the app in it, which has shaken hands: the host's page, and the app. */
async function chat({ size = DESK, query = '' } = {}) {
  const page = await browser.open();
  await page.look({ ...size, dark: query.includes('theme=dark') });
  await page.go(`${host.address}?${query}`);
  await page.until('initialized', 'the app is initialized');
  return { page, app: await page.frame("document.getElementById('cards')"), size };
}

async function searched(options, args = { q: 'cotton', in_stock: true, limit: 6 }) {
  const here = await chat(options);
  await here.page.evaluate(`calls('search_products', ${JSON.stringify(args)})`);
  await here.app.until("document.querySelectorAll('.card').length > 0", 'the cards of a search');
  return here;
}

const money = (minor, currency) => new Intl.NumberFormat('en-IN', { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' }).format(minor / 100);
const press = (selector) => `document.querySelector(${JSON.stringify(selector)}).click()`;
const IDLE = "!document.querySelector('main').hasAttribute('aria-busy')";

/** Nothing failed, nothing was refused by the policy, nothing was loaded, and nothing is wider than its place. */
async function isClean({ page, app, size }) {
  assert.deepEqual(await app.evaluate('violations'), []);
  assert.deepEqual(await app.evaluate("performance.getEntriesByType('resource').map((one) => one.name)"), []);
  assert.deepEqual(page.faults, []);
  assert.ok(await app.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'the app is wider than its place');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), size.width);
}

/** A cart of the first card, of the price that its store says now. */
async function bought(here) {
  const { app } = here;
  const id = await app.evaluate("document.querySelector('.card').dataset.id");
  await app.evaluate(press(`[data-key="price ${id}"]`));
  await app.until(`document.querySelector('[data-id="${id}"] .good') && ${IDLE}`, 'the price now');
  await app.evaluate(press(`[data-key="add ${id}"]`));
  await app.until(`document.querySelector('.line') && ${IDLE}`, 'a line in the cart');
  return id;
}

const facts = {
  async 'tools name one page, which is listed and says that it loads nothing'() {
    const { resources } = await market('resources/list');
    assert.deepEqual(named, resources.map(({ uri }) => uri));
    const { contents: [content] } = await market('resources/read', { uri: named[0] });
    assert.deepEqual(Object.values(content._meta.ui.csp).flat(), []);
    assert.doesNotMatch(content.text, /\b(src|href|import)\s*[=(]|url\(/);
  },

  async 'a search is drawn as cards'() {
    const here = await searched();
    const { structuredContent: { data } } = await market('tools/call', { name: 'search_products', arguments: { q: 'cotton', in_stock: true, limit: 6 } });
    const drawn = await here.app.evaluate("[...document.querySelectorAll('.card')].map((card) => [card.dataset.id, card.querySelector('h2').textContent, card.querySelector('.price').textContent])");
    assert.deepEqual(drawn, data.map((card) => [card.id, card.title, money(card.price_min_minor, card.currency)]));
    await isClean(here);
  },

  async 'a price is asked of the store, and the cart says that it held'() {
    const here = await searched();
    const id = await bought(here);
    const { structuredContent: { data } } = await market('tools/call', { name: 'get_price', arguments: { ident: id } });
    assert.ok((await here.app.evaluate(`document.querySelector('[data-id="${id}"] .price').textContent`)).startsWith(money(data.price_min_minor, data.currency)));
    assert.match(await here.app.evaluate(`document.querySelector('[data-id="${id}"] .good').textContent`), /^Checked at the store at /);
    assert.equal(await here.app.evaluate("document.querySelector('.line .good').textContent"), 'The price held.');
    await isClean(here);
  },

  async 'a cart is changed, is told to the model, and ends at checkouts that the host opens'() {
    const here = await searched();
    const { page, app } = here;
    await bought(here);
    const line = await app.evaluate("document.querySelector('.line').dataset.line");
    await app.evaluate(press(`[data-key="more ${line}"]`));
    await app.until(`document.querySelector('.steps > span').textContent === 'Quantity: 2' && ${IDLE}`, 'two of it');
    assert.equal(await page.evaluate('context.structuredContent.pieces'), 2);
    const { structuredContent: { data } } = await market('tools/call', { name: 'get_cart', arguments: { cart_id: await page.evaluate('context.structuredContent.cart_id') } });
    assert.equal(await app.evaluate("document.getElementById('totals').textContent"), `Total: ${money(data.totals[0].total_minor, data.totals[0].currency)}`);
    await app.evaluate(press('[data-key="checkout"]'));
    await app.until("document.querySelector('[data-key^=\"open \"]')", 'a way to pay');
    await app.evaluate(press('[data-key^="open "]'));
    await page.until('opened.length === 1', 'the host opens it');
    const url = await page.evaluate('opened[0]');
    assert.equal((await fetch(url)).status, 200, url);
    await app.until(IDLE);
    for (const pieces of [1, 0]) {
      await app.evaluate(press(`[data-key="less ${line}"]`));
      await page.until(`context.structuredContent.pieces === ${pieces}`, `${pieces} of it`);
      await app.until(IDLE);
    }
    assert.equal(await app.evaluate("document.getElementById('groups').textContent"), 'The cart is empty.');
    await isClean(here);
  },

  async 'each tool that names the page is drawn by it'() {
    const here = await searched();
    const { page, app } = here;
    const id = await bought(here);
    const cart = await page.evaluate('context.structuredContent.cart_id');
    const { structuredContent: { data: product } } = await market('tools/call', { name: 'get_product', arguments: { ident: id } });
    const results = {
      search_products: [{ q: 'tea', limit: 2 }, "document.querySelectorAll('.card').length === 2"],
      get_product: [{ ident: id }, `document.querySelector('.card:only-child h2').textContent === ${JSON.stringify(product.title)}`],
      get_price: [{ ident: id }, `document.querySelector('[data-id="${id}"] .good')`],
      recommend: [{ product_id: id, limit: 3 }, "document.querySelectorAll('.card').length === 3"],
      browse: [{ brand: product.brand_slug, limit: 2 }, "document.querySelectorAll('.card').length === 2"],
      create_cart: [{ items: [{ product_id: id, qty: 3 }] }, "document.querySelector('.steps > span').textContent === 'Quantity: 3'"],
      update_cart: [{ cart_id: cart, items: [{ product_id: id, qty: 1 }] }, "document.querySelector('.steps > span').textContent === 'Quantity: 2'"],
      apply_discount: [{ cart_id: cart, code: 'NOSUCHCODE' }, "document.getElementById('groups').textContent.includes('NOSUCHCODE does not apply')"],
      get_cart: [{ cart_id: cart }, "document.querySelectorAll('.line').length === 1"],
      checkout_links: [{ cart_id: cart }, "document.querySelector('[data-key^=\"open \"]')"],
    };
    assert.deepEqual(Object.keys(results).sort(), tools.filter((tool) => tool._meta?.ui).map(({ name }) => name).sort());
    for (const [name, [args, isDrawn]] of Object.entries(results)) {
      await page.evaluate(`calls(${JSON.stringify(name)}, ${JSON.stringify(args)})`);
      await app.until(isDrawn, name);
    }
    await isClean(here);
  },

  async 'what a store writes stays text, and a tool that fails says why'() {
    const here = await chat();
    const { page, app } = here;
    const title = '<img src=x onerror="globalThis.ran = true"><b>Tea</b>';
    const card = { id: 'a', title, brand: '</script><script>ran = true</script>', price_min_minor: 100, currency: 'INR', in_stock: true };
    await page.evaluate(`told({ method: 'ui/notifications/tool-result', params: ${JSON.stringify({ content: [], structuredContent: { data: [card] } })} })`);
    await app.until("document.querySelector('.card')");
    assert.equal(await app.evaluate("document.querySelector('h2').textContent"), title);
    assert.deepEqual(await app.evaluate("[document.querySelectorAll('.card img, .card b, .card script').length, globalThis.ran === undefined]"), [0, true]);
    await page.evaluate("calls('get_price', { ident: 'nothing' })");
    await app.until("document.querySelector('#said.bad')", 'the fault');
    assert.notEqual(await app.evaluate("document.getElementById('said').textContent"), '');
    await isClean(here);
  },

  async 'a host that passes nothing on gets cards to look at'() {
    const here = await searched({ query: 'bare' });
    assert.equal(await here.app.evaluate("document.querySelectorAll('button').length"), 0);
    await isClean(here);
  },

  async 'axe finds nothing, light or dark, wide or narrow'() {
    if (!axe) return 'axe is not installed';
    for (const size of [PHONE, DESK]) {
      for (const theme of ['light', 'dark']) {
        const here = await searched({ size, query: `theme=${theme}` });
        await bought(here);
        await isClean(here);
        await here.app.evaluate(axe);
        const found = await here.app.evaluate("axe.run(document, { resultTypes: ['violations'] }).then(({ violations: all }) => all.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' | ')}`))");
        assert.deepEqual(found, [], `${size.width} ${theme}`);
        if (shots) await here.page.shot(`${shots}/app-${size.width}-${theme}.png`, { captureBeyondViewport: true });
        await here.page.leave();
      }
    }
    return '';
  },
};

let failed = 0;
for (const [name, holds] of Object.entries(facts)) {
  try {
    const unless = await holds();
    console.log(`ok: ${name}${unless ? ` (${unless})` : ''}`);
  } catch (fault) {
    failed += 1;
    console.log(`FAILED: ${name}: ${fault.message}`);
  }
}
await browser.close();
for (const { server } of [host, sandbox]) server.close();
process.exitCode = failed === 0 ? 0 : 1;
