// When nothing is found, and when there is more than is listed: ways on.

import { $, counted, el, whole } from './dom.js';
import { filtersInUse, readings } from './label.js';
import { ask } from './server.js';
import { categories, showExamples } from './start.js';
import { changer, filtered, linker, NO_FILTERS, state, withFacet } from './state.js';
import { facet } from './values.js';

const WAYS = 4;
const way = (patch, ...content) => el('li', {}, changer('chip', patch, { dir: 'auto' }, ...content));
const ways = (title, list) => (list.length ? el('section', { class: 'ways-on' }, el('h3', {}, title), el('ul', {}, ...list)) : '');

/** Other words and places for what was typed, as they are suggested. */
async function similar(place) {
  const typed = state.q;
  const body = await ask(`v1/suggest?${new URLSearchParams({ q: typed, limit: WAYS })}`, 'ways on').catch(() => null);
  if (!body || typed !== state.q || !place.isConnected) return;
  const { queries = [], categories: kinds = [], brands = [] } = body.data;
  const fresh = queries.filter((text) => text.toLowerCase() !== typed.toLowerCase());
  place.replaceChildren(ways(filtered() ? 'Try instead' : 'Did you mean', [...fresh.map((text) => way({ q: text, understand: '' }, text)),
    ...kinds.map((one) => way({ ...NO_FILTERS, q: '', category: one.slug }, one.name)), ...brands.map((one) => way({ ...NO_FILTERS, q: '', brand: one.slug }, one.name))]));
}

/** What to try where nothing was found: fewer filters, less that was read, meaning, other spellings. */
export function nothingFound() {
  const used = filtersInUse();
  const read = readings();
  const fewer = [...(used.length > 1 ? used : []), ...read].map(([text, patch]) => way(patch, `Without “${text}”`));
  const clear = filtered() ? way(NO_FILTERS, used.length > 1 ? 'Clear all filters' : `Without “${used[0][0]}”`) : '';
  const by = [state.q && state.mode === 'lexical' && way({ mode: '' }, 'Search by words and meaning'), state.q && state.mode !== 'semantic' && way({ mode: 'semantic' }, 'Search by meaning'),
    state.understand && way({ understand: '' }, 'Read prices and wishes in my words')].filter(Boolean);
  const place = el('div', {});
  const said = filtered() ? 'No product fits all of these filters.' : state.mode === 'lexical' ? 'No product has exactly these words.' : 'Check the spelling, or try fewer or more general words.';
  if (state.q) similar(place);
  queueMicrotask(showExamples);
  return [el('h2', {}, 'No results'), el('p', {}, said), ways('Use fewer filters', clear ? [...fewer, clear] : fewer), ways('Search differently', by), place,
    filtered() ? '' : el('div', { class: 'examples', 'data-examples': true })];
}

/** More was found than a search lists: narrower searches, and whole categories to browse. */
export function showBeyond(more, shown) {
  const place = $('beyond');
  place.hidden = !more || !state.q;
  if (place.hidden) return place.replaceChildren();
  const kinds = (facet('category')?.values ?? []).filter(({ value }) => value !== state.category);
  const leaves = kinds.filter(({ value }) => categories.has(value) && !categories.get(value).children.some((child) => kinds.some((one) => one.value === child.slug)));
  const labelled = (one) => [one.label, ' ', el('span', { class: 'quiet' }, counted(one))];
  const within = leaves.slice(0, WAYS).map((one) => way({ category: one.value }, ...labelled(one)));
  const brands = (facet('brand')?.values ?? []).slice(0, WAYS).map((one) => way(withFacet('brand', one.value, true), ...labelled(one)));
  const whole_ = leaves.slice(0, 2).map((one) => el('li', {}, linker('chip', { ...NO_FILTERS, q: '', mode: '', understand: '', category: one.value }, { dir: 'auto' }, `All of ${one.label}`)));
  place.replaceChildren(el('h2', { id: 'beyond-title' }, `These are the best ${whole(shown)}. There are more.`),
    ways('Narrow this search', within), ways('By brand', brands), ways('Browse everything', whole_));
}
