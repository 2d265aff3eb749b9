// What is asked. It lives in the URL, so that it can be shared and the back button works.

import { $, bare, el, isItem, ROOT } from './dom.js';

const SORTS = ['price_asc', 'price_desc', 'rating', 'newest'];
const MODES = ['semantic', 'lexical'];
const KEYS = ['q', 'category', 'brand', 'facets', 'price_min', 'price_max', 'currency', 'in_stock', 'on_sale', 'deliver_by', 'sort', 'mode', 'understand', 'product'];
export const NO_FILTERS = { category: '', brand: '', facets: '', price_min: '', price_max: '', in_stock: '', on_sale: '', deliver_by: '' };
export const NOTHING = Object.fromEntries(KEYS.map((key) => [key, '']));

/** The facets of a state: a map of names to sets of values. */
export function facetsOf({ facets }) {
  let given = null;
  try { given = JSON.parse(facets || 'null'); } catch { /* No facets at all. */ }
  const scalar = (value) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
  const read = given && typeof given === 'object' && !Array.isArray(given)
    ? Object.entries(given).map(([name, values]) => [name, new Set([values].flat().filter(scalar).map(String))]) : [];
  return new Map(read.filter(([, values]) => values.size > 0));
}

const facetText = (facets) => (facets.size ? JSON.stringify(Object.fromEntries([...facets].map(([name, values]) => [name, [...values]]))) : '');

/** The change of `facets` that takes a value in or out. */
export function withFacet(name, value, wanted) {
  const facets = facetsOf(state);
  const values = facets.get(name) ?? new Set();
  if (wanted) values.add(value); else values.delete(value);
  if (values.size) facets.set(name, values); else facets.delete(name);
  return { facets: facetText(facets) };
}

function tidy(next) {
  for (const key of ['price_min', 'price_max']) if (!/^\d{1,15}$/.test(next[key])) next[key] = '';
  for (const key of ['in_stock', 'on_sale']) if (next[key] !== 'true') next[key] = '';
  if (!/^\d{4}-\d{2}-\d{2}$/.test(next.deliver_by) || Number.isNaN(Date.parse(next.deliver_by))) next.deliver_by = '';
  if (!SORTS.includes(next.sort)) next.sort = '';
  if (!MODES.includes(next.mode) || !next.q) next.mode = '';
  if (next.understand !== 'false' || !next.q || next.mode) next.understand = '';
  next.facets = facetText(facetsOf(next));
  const compares = next.price_min || next.price_max || next.sort.startsWith('price');
  if (!compares || !/^[A-Z]{3}$/.test(next.currency)) next.currency = '';
  return next;
}

// A brand has an address of its own; everything else is in the query.
const BRANDS = `${ROOT.pathname}brands/`;
function read() {
  const given = new URLSearchParams(location.search);
  const next = Object.fromEntries(KEYS.map((key) => [key, (given.get(key) ?? '').trim()]));
  if (location.pathname.startsWith(BRANDS)) {
    try { next.brand = decodeURIComponent(location.pathname.slice(BRANDS.length)); } catch { /* No brand at all. */ }
  }
  return tidy(next);
}

export const query = (of, keys) => new URLSearchParams(keys.filter((key) => of[key]).map((key) => [key, of[key]])).toString();
/** The page's address when `patch` is applied to what is asked. */
export function address(patch) {
  const next = tidy({ ...state, ...patch });
  const path = next.brand && !next.q ? BRANDS + encodeURIComponent(next.brand) : ROOT.pathname;
  return `${path}?${query(next, KEYS.filter((key) => key !== 'brand' || path === ROOT.pathname))}`.replace(/\?$/, '');
}
/** The address of a product's own document. */
export const productAddress = (id) => `${ROOT.pathname}products/${encodeURIComponent(id)}`;

export let state = read();
export const filtered = () => Object.keys(NO_FILTERS).some((key) => state[key]);
/** Nothing is asked: the start page. */
export const atStart = () => !state.q && !state.sort && !filtered();
/** A category or a brand is walked through, not searched. */
export const browsing = () => !state.q && Boolean(state.category || state.brand);

let render = () => {};
/** Names what draws the page when the state has changed, and draws it. */
export function onChange(draw) {
  render = draw;
  addEventListener('popstate', () => { state = read(); render(true); });
  render(true);
}

export function go(patch, { replace = false, mark = null } = {}) {
  // The document of one product has no list.
  if (isItem) return location.assign(address(patch));
  const next = tidy({ ...state, ...patch });
  if (KEYS.every((key) => next[key] === state[key])) return;
  const to = address(patch);
  const other = next.q !== state.q;
  state = next;
  if (replace) history.replaceState(history.state, '', to);
  else history.pushState(mark, '', to);
  render('q' in patch);
  // Another search is read from its beginning.
  if (other) scrollTo(0, 0);
}

/** Opens a product; closing it goes back over all that were opened since. */
export function openProduct(id) {
  if (isItem) return location.assign(productAddress(id));
  const before = history.state?.opened ?? 0;
  go({ product: id }, { mark: before || !state.product ? { opened: before + 1 } : null });
}

export function closeProduct() {
  if (history.state?.opened) history.go(-history.state.opened);
  else go({ product: '' }, { replace: true });
}

/** A button that changes what is asked; it may vanish with that, so the heading takes the focus. */
export function changer(kind, patch, props, ...content) {
  const change = () => { go(patch); $('heading')?.focus({ preventScroll: true }); };
  return el('button', { class: kind, type: 'button', click: change, ...props }, ...content);
}

/** A link to another question. */
export function linker(kind, patch, props, ...content) {
  const follow = (event) => {
    if (!bare(event)) return;
    event.preventDefault();
    go(patch);
    $('heading')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  return el('a', { class: kind, href: address(patch), click: follow, ...props }, ...content);
}
