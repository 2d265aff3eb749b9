// Asking and showing products: a search, or a walk through a category or a brand page by page.

import { $, el, plural, ROOT, whole } from './dom.js';
import { brandSize, nameBrand, readBrand } from './brand.js';
import { cardItem } from './cards.js';
import { nothingFound, showBeyond } from './empty.js';
import { takeFacets } from './facets.js';
import { label, takeUnderstood } from './label.js';
import { onPincode, placeAsked, showPlace } from './place.js';
import { addCurrency } from './prices.js';
import { ask, whenBack } from './server.js';
import { categories, showBelow, showFacts } from './start.js';
import { atStart, browsing, changer, facetsOf, linker, NO_FILTERS, NOTHING, query, state } from './state.js';
import { askValuesBy } from './values.js';

const LIMIT = 40;
const START = 24;
const PAGE = 36;
const grid = $('grid');

/** Whether the server can be walked through; else categories and brands are searched. */
let walks = true;
let asked = null;
let retry = 0;
let next = null;
/** Whether more was found than a search lists. */
let cut = false;

const SHARED = ['brand', 'price_min', 'price_max', 'currency', 'in_stock', 'on_sale', 'facets', 'pincode', 'deliver_by', 'sort', 'limit', 'fold'];
/** The request that answers what is asked; colours of one product are one card. */
function path(limit) {
  if (walks && browsing()) return `v1/browse?${query({ ...state, deliver_by: '', ...placeAsked(), limit: limit ?? PAGE, fold: 'color' }, ['category', ...SHARED])}`;
  const facets = facetsOf(state);
  if (state.category) facets.set('category', [state.category]);
  const wanted = { ...state, deliver_by: '', ...placeAsked(), limit: limit ?? (atStart() ? START : LIMIT), fold: 'color', facet_counts: atStart() ? '' : 'true',
    facets: facets.size ? JSON.stringify(Object.fromEntries([...facets].map(([name, values]) => [name, [...values]]))) : '' };
  return `v1/search?${query(wanted, ['q', 'mode', 'understand', ...SHARED, 'facet_counts'])}`;
}
askValuesBy(async (extra) => {
  const body = await ask(`${path(1)}&${new URLSearchParams(extra)}`, 'values');
  return body && (body.data.facets ?? body.provenance.facets);
});

onPincode(askAnew);

let pending = false;
/** Says of the question what there is to say, unless its answer is still to come: both change together. */
export const relabel = () => { if (!pending) label(); };

/** Comes when the first question is answered, or has failed. */
export let firstAnswer = null;

/** Asks anew when the question is another one than before. */
export function askAnew() {
  showPlace();
  if (path() === asked) return;
  if (firstAnswer) return void search();
  label();
  firstAnswer = search();
}

/** How long the answer waits for what is told of a brand, so that neither pushes the other away. */
const BRAND_MS = 700;

function busy(is) {
  pending = is;
  $('results').classList.toggle('waiting', is);
  grid.setAttribute('aria-busy', String(is));
}

async function search(attempt = 0) {
  clearTimeout(retry);
  const mine = path();
  asked = mine;
  busy(true);
  const started = performance.now();
  try {
    const brand = readBrand();
    const body = await ask(mine, 'search');
    if (!body) return;
    const took = performance.now() - started;
    const drawBrand = await Promise.race([brand, new Promise((enough) => { setTimeout(enough, BRAND_MS, null); })]);
    if (asked !== mine) return;
    if (drawBrand) drawBrand();
    else brand.then((draw) => draw());
    show(body, took);
  } catch (failure) {
    if (failure.unserved && walks && browsing()) {
      walks = false;
      return search();
    }
    const pause = failure.pause || (failure.status === 0 && navigator.onLine ? 4 : 0);
    if (pause && attempt < 3) retry = setTimeout(search, pause * 1000, attempt + 1);
    whenBack(failure, 'search', search);
    busy(false);
    takeFacets(null, null);
    takeUnderstood([]);
    label();
    $('took').textContent = '';
    const held = $('message').contains(document.activeElement);
    instead(failure.title, failure.show(() => search(), changer('plain', NOTHING, {}, 'To the start page')), true);
    if (held) $('message').querySelector('button')?.focus({ preventScroll: true });
  }
}

function take(found) {
  for (const card of found) {
    nameBrand(card.brand_slug, card.brand);
    addCurrency(card.currency);
  }
}

function show({ data, provenance }, took) {
  const found = Array.isArray(data) ? data : data.items;
  busy(false);
  next = data.next_cursor ?? null;
  cut = provenance.more ?? (!next && !atStart() && found.length === LIMIT);
  take(found);
  showFacts({ release: provenance.release });
  takeFacets(data.facets ?? provenance.facets, { ...provenance.price, ...data.price });
  takeUnderstood(provenance.understood ?? []);
  label();
  showBelow();
  tell(provenance, took);
  if (found.length === 0) return instead('No results', nothingFound());
  $('message').hidden = true;
  grid.hidden = false;
  grid.replaceChildren(...found.map((card, at) => cardItem(card, at, atStart() ? 'h3' : 'h2')));
  count(found.length);
  showBeyond(cut, found.length);
}

/** How many products a walk has in all, where nothing else narrows it; else nothing. */
function inAll() {
  const narrowed = Object.keys(NO_FILTERS).filter((key) => state[key]);
  if (narrowed.length !== 1) return 0;
  return (state.category ? categories.get(state.category)?.product_count : brandSize(state.brand)) ?? 0;
}

function count(shown) {
  const all = next ? inAll() : 0;
  const beyond = cut && state.q ? `More than ${plural(shown, 'product')}` : '';
  const said = all > shown ? `${whole(shown)} of ${plural(all, 'product')}` : next || cut && !state.q ? `The first ${plural(shown, 'product')}` : plural(shown, 'product');
  $('count').classList.remove('sr');
  $('count').textContent = beyond || (atStart() ? '' : said);
  $('filters-done').textContent = beyond || next && all <= shown ? `Show the first ${whole(shown)}` : `Show ${plural(Math.max(all, shown), 'product')}`;
  $('more').hidden = !next;
}

/** Counts anew when it is known how large categories and brands are. */
export function recount() {
  if (!grid.querySelector('[data-id]')) return;
  count(grid.children.length);
  showBeyond(cut, grid.children.length);
}

const MODES = { hybrid: 'words and meaning', semantic: 'meaning', lexical: 'words' };
const RELAXED = {
  all_but_one: 'Few products have all of these words, so some results lack one.',
  any_term: 'Few products have all of these words, so some results have only a few of them.',
  prefix: 'No product has this word, so these have words that begin with it.',
  meaning: 'No product has these words, so these are close in meaning.',
};

/** Why meaning was left out, where it is worth telling: words and numbers that have no meaning are not. */
const DEGRADED = {
  other_embedder: 'Search by meaning is off; these were found by words.',
  embedder_failed: 'Search by meaning is not available right now; these were found by words.',
};

/** How long it took, with what was searched by behind it; what was read differently than typed. */
function tell(provenance, took) {
  const engine = state.q ? provenance.engine : null;
  // For who builds on this: how long it took, what it was found by, and the request itself.
  $('took').replaceChildren(`${whole(Math.max(1, Math.round(took)))} ms`, engine ? `, by ${MODES[engine] ?? engine}` : '', ' · ', el('a', { class: 'link', href: new URL(asked, ROOT).href }, 'JSON'));
  const notes = [];
  const mended = state.q ? provenance.corrections ?? [] : [];
  if (mended.length) {
    const became = new Map(mended.map(({ from, to }) => [from.toLowerCase(), to]));
    const words = state.q.split(/(\s+)/).map((word) => became.get(word.toLowerCase()) ?? word).join('');
    const shown = words === state.q ? mended.map(({ to }) => to).join(', ') : words;
    notes.push(el('p', {}, 'Showing results for ', el('b', { dir: 'auto' }, shown), '. ', linker('link', { mode: 'lexical' }, {}, 'Search only for ', el('span', { dir: 'auto' }, `“${state.q}”`))));
  }
  const alike = state.q ? [...new Set((provenance.synonyms ?? []).map(({ to }) => to))].slice(0, 5) : [];
  if (alike.length) notes.push(el('p', {}, 'Also searched for ', el('b', { dir: 'auto' }, alike.join(', ')), '.'));
  if (state.q && RELAXED[provenance.relaxed]) notes.push(el('p', {}, RELAXED[provenance.relaxed]));
  if (state.q && DEGRADED[provenance.degraded]) notes.push(el('p', {}, DEGRADED[provenance.degraded]));
  $('notes').replaceChildren(...notes);
  $('notes').hidden = notes.length === 0;
}

function instead(said, content, failed = false) {
  next = null;
  grid.replaceChildren();
  grid.hidden = true;
  cut = false;
  showBeyond(false, 0);
  $('more').hidden = true;
  if (failed) $('notes').hidden = true;
  // Of a failure the message says it to the eye.
  $('count').textContent = said;
  $('count').classList.toggle('sr', failed);
  $('filters-done').textContent = 'Close the filters';
  $('message').replaceChildren(...content);
  $('message').hidden = false;
}

/** The next page of the walk. */
async function further() {
  const button = $('more');
  const first = grid.children.length;
  button.setAttribute('aria-busy', 'true');
  try {
    const body = await ask(`${asked}&${new URLSearchParams({ cursor: next })}`, 'search');
    if (!body) return;
    next = body.data.next_cursor ?? null;
    take(body.data.items);
    grid.append(...body.data.items.map((card, at) => cardItem(card, first + at)));
    count(grid.children.length);
    grid.children[first]?.querySelector('a.to').focus({ preventScroll: true });
  } catch (failure) {
    // A list ends with its release; the new one is another list.
    if (failure.status === 422) search();
    else $('count').textContent = `${failure.title}. ${failure.text}`;
  } finally {
    button.removeAttribute('aria-busy');
  }
}
$('more').addEventListener('click', further);
