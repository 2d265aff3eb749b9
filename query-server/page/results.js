// Asking and showing products: a search, or a walk through a category or a brand page by page.

import { $, el, plural, whole } from './dom.js';
import { cardItem } from './cards.js';
import { addCurrency, label, takeFacets, takeUnderstood } from './facets.js';
import { ask, whenBack } from './server.js';
import { brandSize, categories, nameBrand, showExamples, showFacts } from './start.js';
import { atStart, browsing, changer, facetsOf, filtered, linker, NO_FILTERS, NOTHING, query, state } from './state.js';

const LIMIT = 40;
const START = 24;
const PAGE = 36;
const grid = $('grid');

/** Whether the server can be walked through; else categories and brands are searched. */
let walks = true;
let asked = null;
let retry = 0;
let next = null;

const SHARED = ['brand', 'price_min', 'price_max', 'currency', 'in_stock', 'on_sale', 'facets', 'sort', 'limit'];
function path() {
  if (walks && browsing()) return `v1/browse?${query({ ...state, limit: PAGE }, ['category', ...SHARED])}`;
  const facets = facetsOf(state);
  if (state.category) facets.set('category', [state.category]);
  const wanted = { ...state, limit: atStart() ? START : LIMIT, facet_counts: atStart() ? '' : 'true',
    facets: facets.size ? JSON.stringify(Object.fromEntries([...facets].map(([name, values]) => [name, [...values]]))) : '' };
  return `v1/search?${query(wanted, ['q', 'mode', ...SHARED, 'facet_counts'])}`;
}

/** Asks anew when the question is another one than before. */
export function askAnew() {
  if (path() === asked) return;
  label();
  search();
}

async function search(attempt = 0) {
  clearTimeout(retry);
  asked = path();
  grid.setAttribute('aria-busy', 'true');
  const started = performance.now();
  try {
    const body = await ask(asked, 'search');
    if (body) show(body, performance.now() - started);
  } catch (failure) {
    if (failure.unserved && walks && browsing()) {
      walks = false;
      return search();
    }
    const pause = failure.pause || (failure.status === 0 && navigator.onLine ? 4 : 0);
    if (pause && attempt < 3) retry = setTimeout(search, pause * 1000, attempt + 1);
    whenBack(failure, 'search', search);
    takeFacets(null, null);
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
  next = data.next_cursor ?? null;
  take(found);
  showFacts({ release: provenance.release });
  takeFacets(data.facets ?? provenance.facets, data.price ?? provenance.price);
  takeUnderstood(provenance.understood ?? []);
  label();
  tell(provenance, took);
  if (found.length === 0) return nothing();
  $('message').hidden = true;
  grid.hidden = false;
  grid.replaceChildren(...found.map((card, at) => cardItem(card, at, atStart() ? 'h3' : 'h2')));
  grid.setAttribute('aria-busy', 'false');
  count(found.length);
}

/** How many products a walk has in all, where nothing else narrows it; else nothing. */
function inAll() {
  const narrowed = Object.keys(NO_FILTERS).filter((key) => state[key]);
  if (narrowed.length !== 1) return 0;
  return (state.category ? categories.get(state.category)?.product_count : brandSize(state.brand)) ?? 0;
}

function count(shown) {
  const cut = !next && !atStart() && shown === LIMIT;
  const all = next ? inAll() : 0;
  const some = `${state.q ? 'best' : 'first'} ${whole(shown)}`;
  $('count').classList.remove('sr');
  $('count').textContent = all > shown ? `${whole(shown)} of ${plural(all, 'product')}` : next || cut ? `The ${some} products` : plural(shown, 'product');
  $('filters-done').textContent = all <= shown && (next || cut) ? `Show the ${some}` : `Show ${plural(Math.max(all, shown), 'product')}`;
  $('more').hidden = !next;
}

/** Counts anew when it is known how large categories and brands are. */
export const recount = () => { if (grid.querySelector('[data-id]')) count(grid.children.length); };

const MODES = { hybrid: 'words and meaning', semantic: 'meaning', lexical: 'words' };
const RELAXED = {
  all_but_one: 'Few products have all of these words, so some of these lack one.',
  any_term: 'Few products have all of these words, so some of these have only a few of them.',
  prefix: 'Nothing has this word, so these have words that begin with it.',
  meaning: 'No product has these words, so these are near in meaning.',
};

/** Why meaning was left out, where it is worth telling: words and numbers that have no meaning are not. */
const DEGRADED = {
  other_embedder: 'Meaning cannot be searched with these settings; these were found by words.',
  embedder_failed: 'Meaning could not be searched just now; these were found by words.',
};

/** How long it took, with what was searched by behind it; what was read differently than typed. */
function tell(provenance, took) {
  const engine = state.q ? provenance.engine : null;
  $('took').textContent = `${whole(Math.max(1, Math.round(took)))} ms`;
  $('took').title = engine ? `Found by ${MODES[engine] ?? engine}` : '';
  const notes = [];
  const mended = state.q ? provenance.corrections ?? [] : [];
  if (mended.length) {
    const became = new Map(mended.map(({ from, to }) => [from.toLowerCase(), to]));
    const words = state.q.split(/(\s+)/).map((word) => became.get(word.toLowerCase()) ?? word).join('');
    const shown = words === state.q ? mended.map(({ to }) => to).join(', ') : words;
    notes.push(el('p', {}, 'Showing results for ', el('b', { dir: 'auto' }, shown), '. ', linker('link', { mode: 'lexical' }, {}, 'Search for exactly ', el('span', { dir: 'auto' }, `“${state.q}”`))));
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
  grid.setAttribute('aria-busy', 'false');
  $('more').hidden = true;
  $('notes').hidden = true;
  // Of a failure the message says it to the eye.
  $('count').textContent = said;
  $('count').classList.toggle('sr', failed);
  $('filters-done').textContent = 'Back to the results';
  $('message').replaceChildren(...content);
  $('message').hidden = false;
}

function nothing() {
  instead('No products', [el('h2', {}, 'No stall has this'), ...(filtered()
    ? [el('p', {}, 'The filters leave nothing over. Without them there may be more.'), changer('plain', NO_FILTERS, {}, 'Clear the filters')]
    : state.mode === 'lexical' ? [el('p', {}, 'No product has exactly these words.'), changer('plain', { mode: '' }, {}, 'Search by words and meaning')]
      : [el('p', {}, 'Try fewer or other words.'), el('div', { class: 'examples', 'data-examples': true })])]);
  showExamples();
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
    grid.children[first]?.querySelector('a').focus({ preventScroll: true });
  } catch (failure) {
    // A list ends with its release; the new one is another list.
    if (failure.status === 422) search();
    else $('count').textContent = `${failure.title}. ${failure.text}`;
  } finally {
    button.removeAttribute('aria-busy');
  }
}
$('more').addEventListener('click', further);
