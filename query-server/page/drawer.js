// The cart as a drawer: what every brand's store says of it, from adding an item to the brands' own checkouts.

import { $, bare, decor, el, plural, price, redraw, unseen, webUrl, whole } from './dom.js';
import { askAccount, drawAccount } from './account.js';
import { addItem, cart, cartCount, changeCart, checkOut, hasCart, onCart, optimize, readCart, setAddress } from './cart.js';
import { countryOptions } from './countries.js';
import { groupSection, sumRows } from './group.js';
import { ask, signIn } from './server.js';
import { brandName } from './brand.js';
import { openProduct } from './state.js';

const dialog = $('cart');
const form = $('cart-address');

/** What could not be done, in a buyer's words. */
const PROBLEMS = {
  product_not_found: 'The store no longer sells this product or variant, or it left the cart.',
  brand_not_found: 'This brand is no longer listed.',
  store_unavailable: 'The store cannot be reached right now. Its part is shown as last known.',
  store_timeout: 'The store did not answer in time.',
  outcome_unknown: 'It may be done already. Look at the cart before trying again.',
  store_throttled: 'The store is receiving too many requests. Try again in a moment.',
  store_unreadable: 'The store’s answer could not be read.',
};

/** What failed, in words; refusals of the server say it best themselves. */
function words(failure) {
  if (failure.unserved) return 'This market has no carts. Each product’s page leads to the brand’s own store.';
  if (failure.code === 'cart_not_found') return 'That cart has expired. The next item you add starts a new one.';
  const known = PROBLEMS[failure.code] ?? PROBLEMS[failure.fault];
  if (known) return known;
  if (failure.status === 0) return 'No answer. Check your connection and try again; nothing is done twice.';
  if (failure.status === 429) return 'Too many requests. Try again in a moment.';
  if (failure.status === 503) return 'Carts cannot be changed right now. Try again in a moment.';
  if (failure.status === 422) return 'This was not understood. Check what you entered.';
  if (failure.detail && failure.status < 500) return failure.detail;
  return 'Something went wrong on our side. Try again; nothing is done twice.';
}

const say = (text) => { $('cart-said').textContent = text; };

function wrong(failure, again) {
  const place = $('cart-wrong');
  if (!failure) return place.replaceChildren();
  if (failure.status === 401) {
    $('cart-groups').replaceChildren();
    for (const id of ['cart-more', 'cart-foot', 'cart-problems']) $(id).hidden = true;
    return place.replaceChildren(el('div', { class: 'message' }, el('h3', {}, 'Sign in for a cart'),
      el('p', {}, 'The cart belongs to your account, so nobody else can see it. Sign in, then add it again.'), el('a', { class: 'plain', href: signIn('#cart') }, 'Sign in')));
  }
  $('cart-body').scrollTop = dialog.scrollTop = 0;
  place.replaceChildren(el('p', { class: 'wrong' }, words(failure), again && failure.passing ? el('button', { class: 'link', type: 'button', click: again }, 'Try again') : null));
}

/** Does a change: says what is done, then what came of it, or what went wrong. */
async function run(doing, work, done, settled = () => {}) {
  say(doing);
  wrong(null);
  try {
    const answer = await work();
    settled();
    const said = !answer ? '' : answer.problems.length ? 'Not everything could be done. See the problems below.' : done(answer);
    draw();
    say(said);
    return answer;
  } catch (failure) {
    settled();
    draw();
    say('');
    wrong(failure, () => run(doing, work, done, settled));
    return null;
  }
}

// ---- Drawing ----

function drawCount() {
  const count = cartCount();
  $('cart-count').textContent = count > 0 ? (count > 99 ? '99+' : whole(count)) : '';
  $('cart-count-said').textContent = count > 0 ? `, ${plural(count, 'item')}` : ', empty';
}

function problem({ brand_slug: slug, product_id: product, code, detail }) {
  const title = product && cart.groups.flatMap(({ lines }) => lines).find((line) => line.product_id === product)?.title;
  return el('li', {}, slug ? el('b', { dir: 'auto' }, brandName(slug), ': ') : '', title ? `${title}. ` : '', PROBLEMS[code] ?? detail);
}

function draw() {
  drawCount();
  drawAccount(openOther);
  // What was found for another state of the cart holds no more.
  $('cart-links').replaceChildren();
  $('cart-saved').replaceChildren();
  $('cart-checkout').hidden = false;
  const groups = cart?.groups ?? [];
  const problems = cart?.problems ?? [];
  $('cart-problems').replaceChildren(...problems.map(problem));
  $('cart-problems').hidden = problems.length === 0;
  const empty = groups.length === 0;
  $('cart-more').hidden = $('cart-foot').hidden = empty;
  if (empty) {
    const held = $('cart-groups').contains(document.activeElement);
    $('cart-groups').replaceChildren(cart || !hasCart() ? el('div', { class: 'message' }, el('h3', {}, 'Your cart is empty'), el('p', {}, 'Add products from any brand. You pay each brand at its own store.')) : '');
    if (held) $('cart-title').focus();
    return;
  }
  const focused = $('cart-groups').contains(document.activeElement);
  for (const { brand_slug: slug, brand } of groups) names.set(slug, brand);
  redraw($('cart-groups'), ...groups.map((group) => groupSection(group, run)));
  // What had the focus may be gone with the change.
  if (focused && !$('cart-groups').contains(document.activeElement)) $('cart-title').focus({ preventScroll: true });
  const delivered = groups.some(({ delivery_options: ways }) => ways.some(({ selected }) => selected));
  $('cart-totals').replaceChildren(...cart.totals.flatMap((sum) => sumRows(sum, cart.totals.length > 1 ? `Total in ${sum.currency}` : 'Total', delivered)));
}

const names = new Map();
const nameOf = (slug) => names.get(slug) ?? brandName(slug);

function busy(is) {
  $('cart-progress').hidden = !is;
  dialog.setAttribute('aria-busy', String(is));
}

// ---- Codes, address, checkout ----

const STOPPED = { budget: 'this store allows no more at once', throttled: 'the store asked for a pause', store: 'the store stopped answering', changed: 'the cart has changed' };

function tried({ brand_slug: slug, saved_minor: saved, codes, tested, untested, stopped_by: stopped }) {
  const code = cart.groups.find((group) => group.brand_slug === slug)?.currency;
  const rest = untested > 0 ? `, ${whole(untested)} not${stopped ? `: ${STOPPED[stopped] ?? stopped}` : ''}` : '';
  return el('li', {}, el('b', { dir: 'auto' }, nameOf(slug)), saved > 0 ? ` ${price(saved, code)} saved with ${codes.join(' and ')}` : ' nothing better found, unchanged',
    el('span', { class: 'quiet' }, ` (${plural(tested, 'code')} tried${rest})`));
}

async function findCodes() {
  const answer = await run('Trying codes at every store. This may take a moment…', optimize, ({ saved }) => {
    const sums = saved.filter((one) => one.saved_minor > 0).map((one) => price(one.saved_minor, one.currency));
    return sums.length ? `${sums.join(' and ')} saved.` : 'No better codes were found. Your cart is unchanged.';
  });
  if (answer) $('cart-saved').replaceChildren(el('ul', { class: 'saved' }, ...answer.optimized.map(tried)));
}

const FIELDS = ['zip', 'country', 'province', 'city'];
const KEPT = 'cart-address';
// Somebody signed out in another tab.
addEventListener('storage', ({ key }) => { if (key === null) { sessionStorage.removeItem(KEPT); form.reset(); } });
/** What was typed stays for this visit; a postal code that was asked about before is offered. */
function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT)) ?? { zip: localStorage.getItem('pincode') ?? '' };
    for (const name of FIELDS) form.elements[name].value = kept[name] ?? '';
  } catch { /* It is typed again. */ }
}

async function deliver(event) {
  event.preventDefault();
  const given = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value));
  try { sessionStorage.setItem(KEPT, JSON.stringify(given)); } catch { /* It is typed again. */ }
  const answer = await run('Getting delivery options from every store…', () => setAddress(given), ({ groups }) => {
    const without = groups.filter(({ delivery_options: ways }) => ways.length === 0).map(({ brand }) => brand);
    return without.length ? `No delivery there from ${without.join(', ')}.` : 'Choose how each brand delivers.';
  });
  // The choice stands above, with each brand: whoever still waits at the form is led there.
  if (answer && form.contains(document.activeElement)) $('cart-groups').querySelector('.ways input:checked')?.focus();
}

const total = (one) => price(one.total_minor, one.currency);
const link = (one) => el('a', { class: 'buy', href: webUrl(one.checkout_url).href, target: '_blank', rel: 'noopener noreferrer', referrerpolicy: 'no-referrer' },
  el('span', {}, `Check out at ${nameOf(one.brand_slug)}`, unseen(' ')), el('span', { class: 'sum' }, total(one), unseen(' (opens in a new tab)')), decor('↗'));

async function toCheckout() {
  say('Getting checkout links from every store…');
  wrong(null);
  try {
    const answer = await checkOut();
    const open = answer.checkouts.filter((one) => webUrl(one.checkout_url));
    say(open.length ? `${plural(open.length, 'checkout')}, one for each brand.` : 'No store can be checked out right now.');
    $('cart-links').replaceChildren(...open.map(link), ...(answer.problems.length ? [el('ul', { class: 'cart-problems' }, ...answer.problems.map(problem))] : []));
    if (open.length === 0) return;
    $('cart-checkout').hidden = true;
    $('cart-links').querySelector('a').focus();
  } catch (failure) {
    say('');
    wrong(failure, toCheckout);
  }
}

// ---- Opening, adding ----

function show() {
  if (dialog.open) return;
  dialog.showModal();
  $('cart-title').focus({ preventScroll: true });
  askAccount().then(() => drawAccount(openOther));
}

/** Shows another cart of whoever is here. */
async function openOther(id) {
  await run('Checking with the stores…', () => changeCart(id), () => 'This is your other cart.');
  $('cart-title').focus({ preventScroll: true });
}

/** Shows the cart as it is at the stores now. */
export async function openCart() {
  show();
  draw();
  await run(hasCart() ? 'Checking with the stores…' : '', readCart, () => '');
}

/** Puts an item into the cart and shows it. */
export async function addToCart(item, title) {
  show();
  const answer = await run(`Adding ${title}…`, () => addItem(item), () => `${title} is in the cart.`);
  if (answer) $('cart-groups').querySelector(`[data-id="${CSS.escape(item.product_id)}"]`)?.scrollIntoView({ block: 'nearest' });
}

/** Adds a card's product where there is nothing to choose; else `choose` opens it. */
export async function addFromCard(button, choose) {
  if (button.getAttribute('aria-busy') === 'true') return;
  const id = button.dataset.add;
  button.setAttribute('aria-busy', 'true');
  try {
    const body = await ask(`v1/products/${encodeURIComponent(id)}`, `add ${id}`);
    if (!body) return;
    if ((body.data.variants ?? []).length > 1) return choose();
    addToCart({ product_id: id, qty: 1 }, body.data.title);
  } catch (failure) {
    show();
    draw();
    wrong(failure, () => { dialog.close(); addFromCard(button, choose); });
  } finally {
    button.removeAttribute('aria-busy');
  }
}

$('cart-open').addEventListener('click', openCart);
$('cart-close').addEventListener('click', () => dialog.close());
$('cart-optimize').addEventListener('click', findCodes);
$('cart-checkout').addEventListener('click', toCheckout);
form.addEventListener('submit', deliver);
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) return dialog.close();
  const id = event.target.closest('a[data-id]')?.dataset.id;
  if (!id || !bare(event)) return;
  event.preventDefault();
  dialog.close();
  openProduct(id);
});
onCart(() => { if (dialog.open) draw(); else drawCount(); }, busy);
form.elements.country.append(...countryOptions());
recall();
drawCount();
