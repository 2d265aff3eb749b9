// What the cart holds, and changes to it: one after the other, each asked of the server once.

import { openCarts, send } from './server.js';

const KEPT = 'cart';
function kept() {
  try {
    const { id, count } = JSON.parse(localStorage.getItem(KEPT)) ?? {};
    if (/^[0-9a-f]{32}$/.test(id)) return { id, count: Number(count) || 0 };
  } catch { /* Kept by nothing that this page knows: there is no cart. */ }
  return { id: '', count: 0 };
}
function keep(id, count) {
  try {
    if (id) localStorage.setItem(KEPT, JSON.stringify({ id, count }));
    else localStorage.removeItem(KEPT);
  } catch { /* The cart lasts as long as the page. */ }
}

let { id, count } = kept();
/** The cart as the server last told it; null before that, and where there is none. */
export let cart = null;
export const cartCount = () => count;
export const hasCart = () => id !== '';
/** Whether a cart of this id is the one that the page shows. */
export const isCart = (other) => other === id;

const told = { change: () => {}, busy: () => {} };
/** Names what draws the cart when it changed, and what shows that it is being changed. */
export function onCart(change, busy) {
  Object.assign(told, { change, busy });
  // Another tab changed it.
  addEventListener('storage', ({ key }) => {
    if (key !== KEPT && key !== null) return;
    const other = kept();
    if (other.id !== id) cart = null;
    ({ id, count } = other);
    change();
  });
}

function take(answer) {
  cart = answer;
  id = answer.cart_id;
  count = answer.groups.flatMap(({ lines }) => lines).reduce((sum, line) => sum + line.qty, 0);
  keep(id, count);
  told.change();
}

function forget() {
  cart = null;
  id = '';
  count = 0;
  keep('', 0);
  told.change();
}

const at = (path = '') => `v1/cart/${id}${path}`;
const waiting = new Map();
let last = Promise.resolve();

/** Does `work` after what is being done; the same work, asked again before it ends, is that one. */
function once(name, work) {
  if (waiting.has(name)) return waiting.get(name);
  const done = last.then(work);
  waiting.set(name, done);
  told.busy(true);
  last = done.catch(() => {}).then(() => {
    waiting.delete(name);
    if (waiting.size === 0) told.busy(false);
  });
  return done;
}

/** A change of the cart that there is; one that is gone is forgotten. */
async function changed(method, path, body) {
  try {
    const answer = await send(method, at(path), body);
    take(answer);
    return answer;
  } catch (failure) {
    if (failure.code === 'cart_not_found') forget();
    throw failure;
  }
}

/** Finds the cart that was begun in another browser, where none is known here; false where there is none. */
async function found() {
  id ||= (await openCarts())[0]?.cart_id ?? '';
  return id !== '';
}

/** Reads the cart; null where there is none. */
export const readCart = () => once('read', async () => {
  if (!await found()) return null;
  try {
    return await changed('GET', '');
  } catch (failure) {
    if (failure.code === 'cart_not_found') return null;
    throw failure;
  }
});

/** Goes on with another cart of whoever is here. */
export const changeCart = (other) => once(`cart ${other}`, async () => {
  const answer = await send('GET', `v1/cart/${other}`);
  take(answer);
  return answer;
});

/** Puts an item into the cart, into a new one where there is none or it is gone. */
export const addItem = (item) => once(`add ${item.product_id} ${item.variant_id}`, async () => {
  if (await found()) {
    try {
      return await changed('POST', '/lines', { items: [item] });
    } catch (failure) {
      if (failure.code !== 'cart_not_found') throw failure;
    }
  }
  const answer = await send('POST', 'v1/cart', { items: [item] });
  take(answer);
  return answer;
});

const line = (name) => `/lines/${encodeURIComponent(name)}`;
export const setQty = (name, qty) => once(`qty ${name} ${qty}`, () => changed('PATCH', line(name), { qty }));
export const removeLine = (name) => once(`remove ${name}`, () => changed('DELETE', line(name)));
export const addCode = (brand, code) => once(`code ${brand} ${code}`, () => changed('POST', '/discount', { code, brand }));
export const removeCode = (brand, code) => once(`no code ${brand} ${code}`,
  () => changed('DELETE', `/discount/${encodeURIComponent(code)}?${new URLSearchParams({ brand })}`));
export const optimize = () => once('optimize', () => changed('POST', '/optimize', {}));
export const setAddress = (address) => once('address', () => changed('POST', '/address', address));
export const setDelivery = (brand, handle) => once(`delivery ${brand} ${handle}`, () => changed('POST', '/delivery', { brand, handle }));
/** Where each brand's part is checked out. */
export const checkOut = () => once('checkout', () => send('POST', 'v1/checkout', { cart_id: id }));
