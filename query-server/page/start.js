// Ways into the market when nothing is searched: what it holds, its categories, example searches.

import { $, day, el, moment, plural, unseen, whole } from './dom.js';
import { picture } from './cards.js';
import { ask, whenBack } from './server.js';
import { changer, linker, NO_FILTERS, state } from './state.js';

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
    ['Catalogues last changed', span(facts.seen)], ['Published', facts.published && moment(facts.published)],
    ['Release', facts.release && el('code', {}, facts.release)]].filter(([, value]) => value);
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
const BELOW = 2;

function enter(one, parent) {
  const entry = { ...one, parent, children: [] };
  entry.children = (one.children ?? []).map((child) => enter(child, entry)).sort((a, b) => b.product_count - a.product_count);
  categories.set(one.slug, entry).set(String(one.id ?? ''), entry);
  return entry;
}

const thumb = (one, sizes) => el('span', { class: 'thumb' }, picture(one.image, { widths: [120, 180, 240], sizes, letter: one.name }));

/** Asks for the category tree; answers the whole market. */
export async function readCategories() {
  const { data } = await ask('v1/categories', 'categories');
  const market = enter({ slug: '', name: 'All categories', children: data }, null);
  // The tops hang below nothing: the way up ends at them.
  for (const top of market.children) top.parent = null;
  return market;
}

export async function loadCategories() {
  const market = await readCategories();
  const shelf = (one) => {
    const below = one.children.slice(0, BELOW);
    return el('li', { class: 'shelf' }, thumb(one, '4.5rem'), el('div', {}, el('h3', {}, linker('', { category: one.slug }, { dir: 'auto' }, one.name)),
      el('p', { class: 'quiet' }, plural(one.product_count, 'product')),
      below.length ? el('ul', {}, ...below.map((child) => el('li', {}, linker('', { category: child.slug }, { dir: 'auto' }, child.name)))) : null));
  };
  $('shelves').replaceChildren(...market.children.slice(0, SHELVES).map(shelf));
  $('shelves-part').hidden = market.children.length === 0;
}

/** The categories of most products, the tops left out where they have others below them. */
export function popularCategories(limit) {
  const all = [...new Set(categories.values())].filter(({ slug, children }) => slug && children.length === 0);
  return all.sort((a, b) => b.product_count - a.product_count).slice(0, limit);
}

/** Within a category: what lies right below it, with pictures. */
export function showBelow() {
  const children = state.category && !state.q && !state.brand ? categories.get(state.category)?.children ?? [] : [];
  $('below').replaceChildren(...children.map((one) => el('li', {}, linker('tile', { category: one.slug }, {}, thumb(one, '2.75rem'),
    el('span', { class: 'text2' }, el('span', { dir: 'auto' }, one.name), el('span', { class: 'quiet' }, unseen(', '), whole(one.product_count), unseen(' products')))))));
  $('below').hidden = children.length === 0;
}

// ---- Examples ----

let examples = [];
/** Example searches: what the largest brands sell, and what is cheaper now. */
export function takeExamples(brands) {
  const seen = new Set();
  const fresh = (text) => text.length <= 28 && !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase());
  const kinds = brands.map((brand) => brand.categories.map((category) => category.name).find(fresh)).filter(Boolean).slice(0, 6);
  const stores = kinds.length ? [] : brands.filter((brand) => fresh(brand.name)).slice(0, 6);
  examples = [...kinds.map((text) => ({ text, patch: { q: text.toLowerCase() } })), ...stores.map(({ name, slug }) => ({ text: name, patch: { q: '', brand: slug } })),
    { text: 'On sale now', patch: { q: '', on_sale: 'true' } }];
  showExamples();
}

export function showExamples() {
  const chip = ({ text, patch }) => changer('chip', { ...NO_FILTERS, mode: '', understand: '', ...patch }, { dir: 'auto' }, text);
  for (const place of document.querySelectorAll('[data-examples]')) {
    place.replaceChildren(...(examples.length ? [el('span', { class: 'quiet' }, 'Try'), ...examples.map(chip)] : []));
  }
}
