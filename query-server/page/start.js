// Ways into the market when nothing is searched: what it holds, its categories, its brands, example searches.

import { $, day, el, moment, plural, redraw, unseen, whole } from './dom.js';
import { picture } from './cards.js';
import { ask, whenBack } from './server.js';
import { changer, linker, NO_FILTERS, query, state } from './state.js';

/** Loads a part of the page that it can be without, now and, if nobody answers, when the connection is back. */
export const loadPart = (name, load, then) => load().then(then).catch((failure) => whenBack(failure, `part ${name}`, () => loadPart(name, load, then)));

// ---- What the market holds ----

let facts = {};
export function showFacts(news) {
  // What was said of another release holds no more.
  const { products, brands } = facts;
  facts = news.release && facts.release && news.release !== facts.release ? { products, brands, ...news } : { ...facts, ...news };
  const parts = [facts.products >= 0 && plural(facts.products, 'product'), facts.brands >= 0 && plural(facts.brands, 'brand')].filter(Boolean);
  for (const line of document.querySelectorAll('[data-facts]')) {
    line.replaceChildren(...parts.map((part) => el('span', {}, part)));
  }
  const span = ({ oldest, newest } = {}) => oldest && newest && [...new Set([oldest, newest].map(moment))].join(' to ');
  const { failed, held_back: held } = facts.outcomes ?? {};
  const rows = [['Stores last checked', span(facts.checked)],
    ['Could not be read', failed > 0 && `${plural(failed, 'store')}, shown as last read`], ['Held back', held > 0 && `${plural(held, 'store')}, until a doubtful change is confirmed`],
    ['Catalogues last changed', span(facts.seen)], ['Put together', facts.published && moment(facts.published)],
    ['Release', facts.release && el('code', {}, facts.release)]].filter(([, value]) => value);
  $('data').hidden = rows.length === 0;
  $('data').querySelector('dl').replaceChildren(...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
  if (parts.length) $('lead').textContent = `${plural(facts.products, 'product')} of ${plural(facts.brands, 'brand store')}, side by side. You buy at the store itself.`;
  warnIfStale(facts.checked?.newest);
}

const DAY = 86400000;
const STALE_DAYS = 2;

/** Says so where no store has been checked for days: then a market without news is no quiet one. */
function warnIfStale(newest) {
  const past = newest ? Math.floor((Date.now() - Date.parse(newest)) / DAY) : 0;
  $('stale').hidden = !(past >= STALE_DAYS);
  $('stale').textContent = past >= STALE_DAYS ? `No store has been checked since ${day(newest)}, ${plural(past, 'day')} ago. Prices and stock may be out of date.` : '';
}

/** Asks what the market holds; answers the currencies, those of most products first. */
export async function loadFacts() {
  const { data } = await ask('v1/stats', 'stats');
  showFacts({ products: data.products, brands: data.brands, release: data.release.id });
  showFacts({ published: data.release.published_at, seen: data.refreshed_at, checked: data.checked_at, outcomes: data.check_outcomes });
  return [...data.currencies].sort((a, b) => b.products - a.products).map((one) => one.currency);
}

// ---- Categories ----

/** The category tree by slug and by id; '' is the whole market. Each knows its parent. */
export const categories = new Map();
export const categoryName = (slug) => categories.get(slug)?.name ?? slug;

const SHELVES = 12;
const BELOW = 4;

function enter(one, parent) {
  const entry = { ...one, parent, children: [] };
  entry.children = (one.children ?? []).map((child) => enter(child, entry)).sort((a, b) => b.product_count - a.product_count);
  categories.set(one.slug, entry).set(String(one.id ?? ''), entry);
  return entry;
}

export async function loadCategories() {
  const { data } = await ask('v1/categories', 'categories');
  const market = enter({ slug: '', name: 'All categories', children: data }, null);
  // The tops hang below nothing: the way up ends at them.
  for (const top of market.children) top.parent = null;
  const shelf = (one) => {
    const below = one.children.slice(0, BELOW);
    return el('li', { class: 'shelf' }, el('h3', {}, linker('', { category: one.slug }, { dir: 'auto' }, one.name), el('span', { class: 'quiet' }, unseen(', '), whole(one.product_count), unseen(' products'))),
      below.length ? el('ul', {}, ...below.map((child) => el('li', {}, linker('', { category: child.slug }, { dir: 'auto' }, child.name)))) : null);
  };
  $('shelves').replaceChildren(...market.children.slice(0, SHELVES).map(shelf));
  $('shelves-part').hidden = market.children.length === 0;
}

// ---- Brands ----

let brands = [];
const names = new Map();
let next = null;
export const brandName = (slug) => names.get(slug) ?? slug;
/** How many products a brand has; undefined where it is not known. */
export const brandSize = (slug) => brands.find((brand) => brand.slug === slug)?.product_count;
export const nameBrand = (slug, name) => names.set(slug, name);

const PAGE = 24;
export async function loadBrands(q = '') {
  const body = await ask(`v1/brands?${query({ q, limit: q ? 50 : 100 }, ['q', 'limit'])}`, 'brands');
  if (!body) return;
  brands = body.data;
  for (const brand of brands) nameBrand(brand.slug, brand.name);
  if (!q) {
    takeExamples();
    next = body.provenance.page?.next_cursor ?? null;
    showStalls(brands);
  }
  showBrandChoice(true);
}

const stall = (brand) => el('li', {}, linker('stall', { brand: brand.slug }, {},
  el('span', { class: 'sign' }, picture(brand.logo, { widths: [96, 144], sizes: '44px', letter: brand.name })),
  el('span', { class: 'text2' }, el('span', { dir: 'auto' }, brand.name), el('span', { class: 'quiet' }, plural(brand.product_count, 'product')))));

/** Some of the brands, more of them when asked, page after page. */
function showStalls(known) {
  const list = $('stalls');
  const button = $('stalls-more');
  list.replaceChildren(...known.slice(0, PAGE).map(stall));
  $('stalls-part').hidden = known.length === 0;
  let rest = known.slice(PAGE);
  button.hidden = rest.length === 0 && !next;
  button.onclick = async () => {
    const first = list.children.length;
    if (rest.length === 0) {
      const body = await ask(`v1/brands?${new URLSearchParams({ limit: 100, cursor: next })}`, 'brand page').catch(() => null);
      next = body?.provenance.page?.next_cursor ?? null;
      rest = body?.data ?? [];
      for (const brand of rest) nameBrand(brand.slug, brand.name);
    }
    list.append(...rest.map(stall));
    rest = [];
    button.hidden = !next;
    list.children[first]?.querySelector('a').focus({ preventScroll: true });
  };
}

const CHECKED = {
  changed: 'What was found then is shown here.',
  unchanged: 'Nothing had changed.',
  held_back: 'What it showed then looked doubtful. Until that is confirmed, its earlier catalogue is shown here.',
  failed: 'It could not be read then. Its earlier catalogue is shown here.',
};

let checkedFor = '';
/** Of a brand that is looked at: when its store was last checked, and what came of it. */
export async function showBrandCheck() {
  const { brand } = state;
  if (brand === checkedFor) return;
  checkedFor = brand;
  const line = $('brand-check');
  line.hidden = true;
  if (!brand) return;
  const body = await ask(`v1/brands/${encodeURIComponent(brand)}`, 'brand').catch((failure) => {
    if (failure.passing) checkedFor = '';
    whenBack(failure, 'brand', showBrandCheck);
    return null;
  });
  const { checked_at: at, check_outcome: outcome } = body?.data ?? {};
  if (!at || brand !== state.brand) return;
  line.replaceChildren(`Store last checked ${moment(at)}. `, CHECKED[outcome] ?? '');
  line.classList.toggle('doubt', outcome === 'held_back' || outcome === 'failed');
  line.hidden = false;
}

let drawnFor = null;
/** The choice of one brand among the filters. Counts stand only where nothing else narrows. */
export function showBrandChoice(anew = false) {
  const narrowed = Boolean(state.q || state.category || state.facets);
  const drawing = `${state.brand}\n${narrowed}`;
  if (!anew && drawing === drawnFor) return;
  drawnFor = drawing;
  const option = (slug, name, count) => el('label', { class: 'check' }, el('input', { type: 'radio', name: 'brand', value: slug, checked: slug === state.brand, 'data-key': slug }),
    el('span', { class: 'name', dir: 'auto' }, name), count >= 0 && !narrowed ? el('span', { class: 'quiet' }, unseen(', '), whole(count)) : null);
  const other = state.brand && !brands.some((brand) => brand.slug === state.brand);
  redraw($('brands'), option('', 'All brands'), ...(other ? [option(state.brand, brandName(state.brand))] : []),
    ...brands.map((brand) => option(brand.slug, brand.name, brand.product_count)), brands.length || !$('brand-q').value ? '' : el('p', { class: 'note' }, 'No brand of this name'));
}

// ---- Examples ----

let examples = [];
/** Example searches: what the largest brands sell, and what is cheaper now. */
function takeExamples() {
  const seen = new Set();
  const fresh = (text) => text.length <= 28 && !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase());
  const kinds = brands.map((brand) => brand.categories.map((category) => category.name).find(fresh)).filter(Boolean).slice(0, 6);
  const stores = kinds.length ? [] : brands.filter((brand) => fresh(brand.name)).slice(0, 6);
  examples = [...kinds.map((text) => ({ text, patch: { q: text.toLowerCase() } })), ...stores.map(({ name, slug }) => ({ text: name, patch: { q: '', brand: slug } })),
    { text: 'On sale now', patch: { q: '', on_sale: 'true' } }];
  showExamples();
}

export function showExamples() {
  const chip = ({ text, patch }) => changer('chip', { ...NO_FILTERS, ...patch }, { dir: 'auto' }, text);
  for (const place of document.querySelectorAll('[data-examples]')) {
    place.replaceChildren(...(examples.length ? [el('span', { class: 'quiet' }, 'Try'), ...examples.map(chip)] : []));
  }
}
