// The market inside a chat: product cards, prices of this moment, a cart. It speaks to its host alone (MCP Apps, 2026-01-26),
// loads nothing, and writes what stores say as text.

const $ = (id) => document.getElementById(id);
const sellsCarts = document.body.dataset.carts === 'true';
const root = document.documentElement;

/** Builds an element; texts among the children become text nodes, empty ones are left out. */
function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false && child !== ''));
  return node;
}
const unseen = (text) => el('span', { class: 'unseen' }, text);

// ---- The host ----

const host = { tools: false, links: false, locale: undefined };
const waiting = new Map();
let asked = 0;

// The host is whoever embeds this page; its origin is not known before it answers.
const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const notify = (method, params = {}) => post({ method, params });
const request = (method, params) => new Promise((resolve, reject) => {
  const id = ++asked;
  waiting.set(id, { resolve, reject });
  post({ id, method, params });
});

function answered({ id, result, error }) {
  const { resolve, reject } = waiting.get(id) ?? {};
  waiting.delete(id);
  if (error) reject?.(new Error(error.message));
  else resolve?.(result);
}

const handlers = new Map(Object.entries({
  'ui/notifications/tool-result': (result) => show(result),
  'ui/notifications/tool-cancelled': () => say('This was cancelled.'),
  'ui/notifications/host-context-changed': (context) => take(context),
  'ui/resource-teardown': () => {},
  ping: () => {},
}));

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) return answered(data);
  const handle = handlers.get(data.method);
  handle?.(data.params ?? {});
  if (data.id === undefined) return;
  post(handle ? { id: data.id, result: {} } : { id: data.id, error: { code: -32601, message: 'This app has no such method.' } });
});

/** Takes what the host says of itself: colours, letters, language. */
function take({ theme, styles, locale }) {
  if (theme === 'light' || theme === 'dark') root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) if (name.startsWith('--') && value) root.style.setProperty(name, value);
  if (locale) {
    try { host.locale = Intl.getCanonicalLocales(locale)[0]; } catch { /* The browser's own. */ }
  }
}

// ---- Money and time ----

// Minor units by ISO 4217, as the server counts them; browsers state fewer for some.
const OTHER_EXPONENTS = new Map(Object.entries({
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 3: 'BHD IQD JOD KWD LYD OMR TND', 4: 'CLF UYW',
}).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)])));

function money(minor, currency) {
  if (typeof minor !== 'number') return '';
  const digits = OTHER_EXPONENTS.get(currency) ?? 2;
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits, trailingZeroDisplay: 'stripIfInteger' };
  const format = new Intl.NumberFormat(host.locale, currency ? { style: 'currency', currency, ...decimals } : decimals);
  return format.format(minor / 10 ** digits);
}
const clock = (time) => new Intl.DateTimeFormat(host.locale, { hour: 'numeric', minute: '2-digit' }).format(new Date(time));
const day = (time) => new Intl.DateTimeFormat(host.locale, { dateStyle: 'medium' }).format(new Date(time));

// ---- What is shown ----

/** Cards by product, in their order; prices that stores said, by product; the variant that is chosen of each. */
const cards = new Map();
const prices = new Map();
const chosen = new Map();
let cart = null;
let links = null;

function say(text, isBad = false) {
  $('said').textContent = text;
  $('said').classList.toggle('bad', isBad);
}

/** The data of a tool's result. A tool that failed throws what it says. */
function dataOf({ isError, structuredContent, content }) {
  const text = content?.find((block) => block.type === 'text')?.text ?? '';
  if (!isError) return (structuredContent ?? JSON.parse(text)).data;
  let told = text;
  try {
    const { detail, title, code } = JSON.parse(text);
    told = Array.isArray(detail) ? detail.map(({ msg }) => msg).join(' ') : detail ?? title ?? code;
  } catch { /* The text says it. */ }
  throw new Error(told || 'The tool failed.');
}

/** Draws a tool's result: of whichever tool, by what it holds. */
function show(result) {
  try {
    takeIn(dataOf(result));
  } catch (fault) {
    say(fault.message, true);
  }
  draw();
}

function takeIn(data) {
  const list = Array.isArray(data) ? data : data?.items;
  if (list || (data?.title && data.id)) {
    cards.clear();
    for (const card of list ?? [data]) if (card?.id) cards.set(card.id, card);
    say(cards.size === 0 ? 'No products.' : '');
  } else if (data?.groups) {
    [cart, links] = [data, null];
  } else if (data?.checkouts) {
    links = data;
    cart ??= { cart_id: data.cart_id, groups: [], totals: [], problems: [] };
  } else if (data && 'verified' in data) {
    prices.set(data.product_id, data);
    if (!cards.has(data.product_id)) cards.set(data.product_id, { id: data.product_id, title: data.title, brand: data.brand_slug });
  } else {
    say('There is nothing to show.');
  }
}

function draw() {
  const held = document.activeElement?.dataset?.key;
  $('cards').replaceChildren(...[...cards.values()].map(cardItem));
  drawCart();
  if (held !== undefined) [...document.querySelectorAll('[data-key]')].find((one) => one.dataset.key === held && !one.disabled)?.focus({ preventScroll: true });
}

/** A button that asks the host; one at a time, so that no answer is drawn over a newer one. */
function does(key, label, about, action) {
  return el('button', { type: 'button', 'data-key': key, click: () => run(action) }, label, about ? unseen(`: ${about}`) : null);
}

let isBusy = false;
async function run(action) {
  if (isBusy) return;
  isBusy = true;
  document.querySelector('main').setAttribute('aria-busy', 'true');
  say('One moment.');
  try {
    say(await action() ?? '');
  } catch (fault) {
    say(fault.message, true);
  }
  isBusy = false;
  document.querySelector('main').removeAttribute('aria-busy');
  draw();
}

const call = async (name, args) => dataOf(await request('tools/call', { name, arguments: args }));

// ---- Products ----

function cardItem(card) {
  const now = prices.get(card.id);
  const { title = 'A product', brand } = card;
  const canBuy = (now?.in_stock ?? card.in_stock) !== false;
  return el('li', { class: 'card', 'data-id': card.id },
    el('span', { class: 'tile', 'aria-hidden': 'true' }, [...brand ?? title][0]?.toUpperCase()),
    el('h2', { dir: 'auto' }, title),
    brand ? el('p', { class: 'soft', dir: 'auto' }, brand) : null,
    ...(now ? priceNow(now) : priceStored(card)),
    now ? variantChoice(card, now) : null,
    host.tools ? el('p', { class: 'does' },
      does(`price ${card.id}`, 'Price now', title, () => askPrice(card)),
      sellsCarts && canBuy ? does(`add ${card.id}`, 'Add to cart', title, () => add(card)) : null) : null);
}

function priceStored({ price_min_minor: price, currency, in_stock: inStock }) {
  return [
    price > 0 ? el('p', { class: 'price' }, money(price, currency)) : null,
    price > 0 || inStock === false ? el('p', { class: 'soft' }, inStock === false ? 'Sold out when it was last read' : 'As it was last read') : null,
  ];
}

function priceNow({ verified, as_of: asOf, detail, currency, price_min_minor: least, price_max_minor: most, in_stock: inStock }) {
  const range = least === most || !(most > 0) ? money(least, currency) : `${money(least, currency)} to ${money(most, currency)}`;
  const told = verified
    ? el('p', { class: 'good' }, `Checked at the store at ${clock(asOf)}${inStock === false ? ': sold out' : ''}`)
    : el('p', { class: 'bad' }, `Not verified${detail ? `: ${detail}` : ''}${asOf ? ` Last known on ${day(asOf)}.` : ''}`);
  return [least > 0 ? el('p', { class: 'price' }, range) : null, told];
}

const available = ({ variants = [] }) => variants.filter((one) => one.available);

/** The variants that can be bought, where there are several. */
function variantChoice(card, now) {
  const variants = available(now);
  if (variants.length < 2) return null;
  const option = (one) => el('option', { value: one.variant_id, selected: chosen.get(card.id) === one.variant_id }, `${one.title} · ${money(one.amount_minor, now.currency)}`);
  return el('select', { 'data-key': `variant ${card.id}`, 'aria-label': `Variant of ${card.title}`, change: ({ target }) => chosen.set(card.id, target.value) }, ...variants.map(option));
}

async function askPrice(card) {
  const now = await call('get_price', { ident: card.id });
  prices.set(card.id, now);
  return now.verified ? `${card.title}: the store was asked.` : `${card.title}: the store did not answer.`;
}

// ---- The cart ----

/** A key under which a change is made once, however often the host sends it. */
const onceKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function add(card) {
  const now = prices.get(card.id);
  const variants = now?.verified ? available(now) : [];
  const variant = variants.find((one) => one.variant_id === chosen.get(card.id)) ?? variants[0];
  const item = { product_id: card.id, qty: 1, ...(variant ? { variant_id: variant.variant_id, price_minor: variant.amount_minor } : {}) };
  const args = { items: [item], idempotency_key: onceKey() };
  await changed(cart?.groups.length ? call('update_cart', { cart_id: cart.cart_id, ...args }) : call('create_cart', args));
  return cart.problems.length ? '' : `${card.title} is in the cart.`;
}

/** Takes a changed cart, and lets the model know of it. */
async function changed(cartCalled) {
  [cart, links] = [await cartCalled, null];
  const pieces = cart.groups.flatMap((group) => group.lines).reduce((sum, line) => sum + line.qty, 0);
  const text = `The person's cart is ${cart.cart_id}, with ${pieces} pieces.`;
  request('ui/update-model-context', { content: [{ type: 'text', text }], structuredContent: { cart_id: cart.cart_id, pieces } }).catch(() => {});
}

async function setQuantity(line, qty) {
  await changed(call('update_cart', { cart_id: cart.cart_id, line_id: line.line_id, qty }));
  return qty === 0 ? `${line.title} is taken out.` : `${line.title}: ${qty}.`;
}

function drawCart() {
  $('cart').hidden = cart === null;
  if (cart === null) return;
  const notes = cart.problems.map(({ detail }) => el('p', { class: 'bad' }, detail));
  $('groups').replaceChildren(...cart.groups.map(group), ...notes, ...(cart.groups.length || links ? [] : [el('p', { class: 'soft' }, 'The cart is empty.')]));
  const sums = cart.totals.map(({ total_minor: total, currency }) => money(total, currency)).join(' and ');
  $('totals').textContent = sums && `Total: ${sums}`;
  $('checkout').replaceChildren(...checkout());
}

function group({ brand, currency, lines, discount_codes: codes, automatic_discounts: automatic, warnings, verified }) {
  return el('div', {},
    el('h3', { dir: 'auto' }, brand),
    verified ? null : el('p', { class: 'soft' }, 'As it was last known.'),
    ...lines.map((one) => lineItem(one, currency)),
    ...codes.map((code) => codeItem(code, currency)),
    ...automatic.map(({ title, discount_minor: off }) => el('p', { class: 'good', dir: 'auto' }, `${title}: −${money(off, currency)}`)),
    ...warnings.map(({ detail }) => el('p', { class: 'soft' }, detail)));
}

function codeItem({ code, applicable, discount_minor: off, refusal }, currency) {
  if (applicable) return el('p', { class: 'good' }, `${code} takes off ${money(off, currency)}.`);
  return el('p', { class: 'bad' }, `${code} does not apply${refusal?.detail ? `: ${refusal.detail}` : '.'}`);
}

function lineItem(line, currency) {
  const name = line.variant_title ? `${line.title}, ${line.variant_title}` : line.title;
  const { price_held: held, price_changed: change } = line;
  return el('div', { class: 'line', 'data-line': line.line_id },
    el('div', {}, el('span', { dir: 'auto' }, name),
      el('p', { class: 'soft' }, `${money(line.unit_price_minor, currency)} each`),
      held === true ? el('p', { class: 'good' }, 'The price held.') : null,
      change ? el('p', { class: 'bad' }, `It was shown for ${money(change.shown_minor, change.shown_currency)}.`) : null,
      line.available ? null : el('p', { class: 'bad' }, 'Sold out')),
    host.tools && sellsCarts ? el('div', { class: 'steps' },
      does(`less ${line.line_id}`, line.qty > 1 ? '−' : 'Remove', line.qty > 1 ? `one less of ${name}` : name, () => setQuantity(line, Math.max(line.qty - 1, 0))),
      el('span', {}, unseen('Quantity: '), String(line.qty)),
      does(`more ${line.line_id}`, '+', `one more of ${name}`, () => setQuantity(line, line.qty + 1))) : el('span', {}, `× ${line.qty}`));
}

/** The way out: links that the host opens, each at one store. */
function checkout() {
  if (links === null) {
    const canAsk = host.tools && sellsCarts && cart.groups.length > 0;
    return canAsk ? [does('checkout', 'Check out', '', async () => { links = await call('checkout_links', { cart_id: cart.cart_id }); return 'You pay at each store.'; })] : [];
  }
  const brandOf = (slug) => cart.groups.find((one) => one.brand_slug === slug)?.brand ?? slug;
  const way = ({ brand_slug: slug, checkout_url: url, total_minor: total, currency }) => (host.links
    ? does(`open ${slug}`, `Pay ${money(total, currency)} at ${brandOf(slug)}`, '', async () => { await request('ui/open-link', { url }); return 'The checkout is open.'; })
    : el('span', { class: 'soft' }, `${brandOf(slug)}: ${url}`));
  return [...links.checkouts.map(way), ...links.problems.map(({ detail }) => el('span', { class: 'bad' }, detail))];
}

// ---- Begin ----

const appInfo = { name: 'haat', version: '1.0.0' };
request('ui/initialize', { protocolVersion: '2026-01-26', appInfo, appCapabilities: { availableDisplayModes: ['inline'] } }).then((told) => {
  host.tools = Boolean(told?.hostCapabilities?.serverTools);
  host.links = Boolean(told?.hostCapabilities?.openLinks);
  take(told?.hostContext ?? {});
  notify('ui/notifications/initialized');
  new ResizeObserver(() => notify('ui/notifications/size-changed', { width: root.clientWidth, height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(document.body);
}).catch((fault) => say(fault.message, true));
