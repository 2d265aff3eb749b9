// What the page says of the question: where it is, heading, title, what was read out of it, filters in use.

import { $, decor, el, nameTab, price, unseen } from './dom.js';
import { brandName } from './brand.js';
import { facetTitle } from './cards.js';
import { opens } from './facets.js';
import { dated, pincode } from './place.js';
import { chosenCurrency } from './prices.js';
import { categoryName, categories } from './start.js';
import { atStart, browsing, changer, facetsOf, linker, NO_FILTERS, state, withFacet } from './state.js';
import { valueName } from './values.js';

/** The heading of the products: the page's own, or below the start page's. */
function headed(tag) {
  const before = $('heading');
  if (before.localName === tag) return before;
  const heading = el(tag, { id: 'heading', tabindex: -1, dir: 'auto' });
  before.replaceWith(heading);
  return heading;
}

// ---- What was read out of the query ----

let understood = [];
/** Takes what an answer says that it read out of the query. */
export function takeUnderstood(parts) { understood = parts; }

const FIRST = { price_asc: 'cheapest first', price_desc: 'most expensive first', newest: 'newest first', rating: 'best rated first', size_desc: 'largest first', size_asc: 'smallest first', weight_desc: 'heaviest first', weight_asc: 'lightest first' };
/** What a stretch of the query was read as, in few words. */
function readAs({ text, meaning, filter, order }) {
  if (order) return FIRST[order] ?? text;
  if (meaning === 'excluded') return `not ${filter.excluded[0]}`;
  if (meaning === 'phrase') return `“${text}”`;
  if (meaning !== 'price') return text;
  const amount = (name, word) => (filter[name] === undefined ? '' : `${word} ${price(filter[name], filter.currency)}`);
  return `${amount('price_min', 'from')} ${amount('price_max', 'up to')}`.trim();
}

/** The query without a stretch of it. */
const without = (text) => state.q.replace(text, ' ').replace(/"\s*"/g, ' ').replace(/\s+/g, ' ').trim();

/** What was read out of the query and can be taken back: its words, and the change that does so. */
export const readings = () => understood.filter(({ text, filter, order }) => (filter || order) && state.q.includes(text)).map((part) => [readAs(part), { q: without(part.text) }]);

// ---- Filters in use ----

const MODES = { semantic: 'By meaning', lexical: 'Exact words' };

/** The filters in use: their words, and the change that takes them away. */
export function filtersInUse() {
  const amount = (name, word) => (state[name] ? `${word} ${price(Number(state[name]), chosenCurrency())}` : '');
  const named = ([name, values]) => [...values].map((value) => [name === 'brand' ? valueName(name, value) : `${facetTitle(name)}: ${valueName(name, value)}`, withFacet(name, value, false)]);
  return [[state.category && categoryName(state.category), { category: '' }], [state.brand && brandName(state.brand), { brand: '' }], ...[...facetsOf(state)].flatMap(named),
    [`${amount('price_min', 'from')} ${amount('price_max', 'up to')}`.trim(), { price_min: '', price_max: '' }],
    [state.in_stock && 'In stock', { in_stock: '' }], [state.on_sale && 'On sale', { on_sale: '' }],
    [pincode() && state.deliver_by && `Arrives by ${dated(state.deliver_by)}`, { deliver_by: '' }]].filter(([text]) => text);
}

const chip = ([text, patch]) => el('li', {}, changer('chip on', patch, { 'aria-label': `Remove ${text}` }, el('span', { dir: 'auto' }, text), decor(' ×')));

function showActive() {
  const used = filtersInUse();
  const read = readings();
  const mode = [[MODES[state.mode], { mode: '' }], [state.understand && 'Words only', { understand: '' }]].filter(([text]) => text);
  const literal = read.length > 0 ? el('li', {}, changer('link', { understand: 'false' }, { title: 'Search for the words as they are typed' }, 'Use the words only')) : '';
  $('active').replaceChildren(...[...read, ...mode, ...used].map(chip), literal, used.length > 1 ? el('li', {}, changer('link', NO_FILTERS, {}, 'Clear all')) : '');
  $('active').hidden = used.length + read.length + mode.length === 0;
  $('filters-clear').hidden = used.length === 0;
  $('filters-count').replaceChildren(...(used.length ? [String(used.length), unseen(' in use')] : []));
}

/** Says of the question what there is to say. */
export function label() {
  const start = atStart();
  document.body.classList.toggle('start', start);
  $('intro').hidden = !start;
  $('mode').hidden = !state.q;
  if (start) opens(false);
  const place = [state.category && categoryName(state.category), state.brand && brandName(state.brand)].filter(Boolean).join(' · ');
  headed(start ? 'h2' : 'h1').textContent = state.q ? `“${state.q}”` : place || (start ? 'From all brands' : 'All products');
  nameTab({ list: state.q || place });
  showCrumbs();
  showActive();
}

function showCrumbs() {
  const path = [];
  for (let at = browsing() ? categories.get(state.category)?.parent : null; at?.slug; at = at.parent) path.unshift(at);
  const crumb = (text, patch) => el('li', {}, linker('', patch, { dir: 'auto' }, text));
  $('crumbs').hidden = !browsing();
  $('crumbs').firstElementChild.replaceChildren(...(browsing() ? [crumb('Market', { ...NO_FILTERS, sort: '' }), ...path.map((one) => crumb(one.name, { category: one.slug }))] : []));
}
