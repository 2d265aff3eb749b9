// The filters beside the list: categories, facets with counts, brands.

import { $, counted, debounced, decor, el, redraw, unseen, whole } from './dom.js';
import { facetTitle, isColour, swatch } from './cards.js';
import { chosenCurrency, syncPrices, takePriceRange, takePrices } from './prices.js';
import { categories } from './start.js';
import { atStart, facetsOf, go, linker, NO_FILTERS, state, withFacet } from './state.js';
import { facet, facets, findValues, takeValues, valueName } from './values.js';

const panel = $('filters');
const sort = $('sort');

// A group shows this many values until it is asked for all of them.
const SHOWN = 7;
// From so many on, values are looked for rather than read.
const FIND_FROM = 15;
const OPEN_AT_FIRST = matchMedia('(max-width: 52rem)').matches ? 1 : 4;
const ORDER = ['color', 'size', 'material', 'pattern', 'fit', 'flavor', 'scent'];
const OWN_PLACE = ['category', 'brand'];
const last = (name) => (name === 'tag' ? 2 : name === 'vendor' ? 1 : 0);
const rank = (name) => (ORDER.indexOf(name) + 1 || ORDER.length + 1) + 100 * last(name);

const opened = new Map();
const entire = new Set();
const key = (name, value) => `${name}\n${value}`;

/** Takes what an answer says of facets and prices; `null` for an answer that says nothing. */
export function takeFacets(counted, prices) {
  takeValues(counted ?? []);
  takePriceRange(prices ?? null);
  showCategories();
  showFacets();
  syncPrices();
}

// ---- Categories ----

/** From the whole market down to where the visitor is, and what lies below it. */
function showCategories() {
  const listing = facet('category') ?? { values: [], total: 0 };
  const counts = new Map(listing.values.map((one) => [one.value, one]));
  // Of a long list the answer counts the beginning: of what it does not name, the count is not known.
  const uncounted = listing.total > listing.values.length ? null : 0;
  const here = state.category ? categories.get(state.category) : null;
  const path = [];
  for (let at = here; at; at = at.parent) path.unshift(at);
  const below = here ? here.children : categories.get('')?.children ?? [];
  // Without counts of this answer the tree's own stand in, but only where nothing else narrows.
  const listed = below.map((one) => ({ ...one, count: counts.size ? uncounted : state.q || state.brand ? null : one.product_count, ...counts.get(one.slug) }))
    .filter((one) => one.count !== 0);
  const row = (one) => el('li', {}, linker('into', { category: one.slug }, { 'data-key': `category ${one.slug}` },
    el('span', { class: 'name', dir: 'auto' }, one.name), one.count ? el('span', { class: 'quiet' }, counted(one)) : null));
  const up = path.slice(0, -1).map((one) => el('li', {}, linker('into up', { category: one.slug }, { 'data-key': `category ${one.slug}` }, decor('‹ '), el('span', { class: 'name', dir: 'auto' }, one.name))));
  const all = here ? el('li', {}, linker('into up', { category: '' }, { 'data-key': 'category' }, decor('‹ '), el('span', { class: 'name' }, 'All categories'))) : '';
  const shown = entire.has('category') ? listed : listed.slice(0, SHOWN);
  $('categories-group').hidden = !here && listed.length === 0;
  redraw($('categories'), all, ...up, here ? el('li', {}, el('span', { class: 'into here', 'aria-current': 'true', dir: 'auto' }, here.name)) : '',
    ...shown.map(row), ...(listed.length > SHOWN ? [el('li', {}, expander('category', 'Category', listed.length, showCategories))] : []));
}

// ---- Facets ----

/** A button that shows all values of a group, or the first ones again. */
function expander(name, title, total, draw) {
  const flip = () => {
    if (!entire.delete(name)) entire.add(name);
    draw();
    if (fields.has(name)) fields.get(name).value = '';
    if (name !== 'category') findValues(name, '', draw);
  };
  return el('button', { class: 'link', type: 'button', 'data-key': `more ${name}`, 'aria-expanded': String(entire.has(name)), click: flip },
    entire.has(name) ? 'Show fewer' : `Show all ${whole(total)}`, unseen(` values of ${title}`));
}

const LETTERS = ['xxxs', 'xxs', 'xs', 's', 'm', 'l', 'xl', 'xxl', '2xl', 'xxxl', '3xl', '4xl', '5xl'];
/** Sizes as they are worn, from small to large; other values stay as they are, those of most products first. */
function inOrder(name, values) {
  if (!/\bsize\b/.test(name)) return values;
  const letter = ({ value }) => LETTERS.indexOf(value.toLowerCase());
  return values.toSorted((a, b) => (letter(a) < 0) - (letter(b) < 0) || letter(a) - letter(b) || a.value.localeCompare(b.value, undefined, { numeric: true }));
}

/** A value of a facet, with how many products have it. */
function row(name, one, chosen) {
  return el('label', { class: one.count === 0 ? 'check none' : 'check' },
    el('input', { type: 'checkbox', value: one.value, 'data-facet': name, 'data-key': key(name, one.value), checked: chosen.has(one.value) }),
    isColour(name) ? swatch(one.value) : null, el('span', { class: 'name', dir: 'auto' }, valueName(name, one.value)), one.count >= 0 ? el('span', { class: 'quiet' }, unseen(', '), counted(one)) : null);
}

const fields = new Map();
/** A field to look for a value in: the same one each time, so that what is typed stays. */
function finder(name, title) {
  if (!fields.has(name)) {
    const field = el('input', { type: 'search', class: 'find', 'data-key': `find ${name}`, 'aria-label': `Find a value of ${title}`, placeholder: 'Find', maxlength: 100, autocomplete: 'off', spellcheck: 'false' });
    field.addEventListener('input', debounced(200, () => findValues(name, field.value.trim(), showFacets)));
    fields.set(name, field);
  }
  return fields.get(name);
}

function group({ name, values, total }, at, chosen) {
  const title = facetTitle(name);
  const held = opened.get(name) ?? (at < OPEN_AT_FIRST && !last(name) || chosen.size > 0);
  const all = entire.has(name);
  const shown = all ? values : values.filter((one, place) => place < SHOWN || chosen.has(one.value));
  return el('details', { class: 'group', open: held, toggle: ({ target }) => opened.set(name, target.open) },
    el('summary', { 'data-key': name }, el('span', { dir: 'auto' }, title), chosen.size ? el('span', { class: 'dot' }, unseen('chosen: '), String(chosen.size)) : null),
    all && total > FIND_FROM ? finder(name, title) : null,
    el('div', { role: 'group', 'aria-label': title, class: all ? 'values all' : 'values' },
      ...inOrder(name, shown).map((one) => row(name, one, chosen)), all && values.length === 0 ? el('p', { class: 'note' }, 'No such value') : null),
    total > SHOWN ? expander(name, title, total, showFacets) : null);
}

/** The values of a facet with those in front that are filtered by though the answer does not count them. */
function withChosen(one, chosen) {
  const missing = [...chosen].filter((value) => !one.values.some((known) => known.value === value)).map((value) => ({ value }));
  return missing.length && !one.typed ? { ...one, values: [...missing, ...one.values] } : one;
}

export function showFacets() {
  const held = document.activeElement;
  const chosen = facetsOf(state);
  const none = new Set();
  const seen = new Set();
  // Two names for the same values of the same products are one group.
  const twin = ({ name, values }) => { const all = JSON.stringify(values); return !chosen.has(name) && (seen.has(all) || !seen.add(all)); };
  const byRank = (a, b) => rank(a.name) - rank(b.name);
  const groups = facets().sort(byRank).filter((one) => !OWN_PLACE.includes(one.name) && (one.total > 1 || chosen.has(one.name)) && !(one.name === 'title' && one.values.every(({ value }) => value === 'default title')) && !twin(one));
  for (const [name, values] of chosen) {
    if (!OWN_PLACE.includes(name) && !groups.some((one) => one.name === name)) groups.push({ name, total: values.size, values: [] });
  }
  groups.sort(byRank);
  redraw($('facets'), ...groups.map((one, at) => group(withChosen(one, chosen.get(one.name) ?? none), at, chosen.get(one.name) ?? none)));
  // A field that was typed in is the same one, in another place.
  if (held?.classList.contains('find') && held.isConnected) held.focus({ preventScroll: true });
  showBrands(chosen.get('brand') ?? none);
}

// ---- Brands ----

/** The brands of what is listed, with counts; several may be chosen. */
function showBrands(chosen) {
  const one = withChosen(facet('brand') ?? { values: [], total: 0 }, chosen);
  const all = entire.has('brand');
  $('brand-choice').hidden = one.total < 2 && chosen.size === 0;
  $('brand-q').parentElement.classList.toggle('few', one.total <= SHOWN);
  const shown = all || one.typed ? one.values : one.values.filter(({ value }, place) => place < SHOWN || chosen.has(value));
  redraw($('brands'), ...shown.map((value) => row('brand', value, chosen)),
    one.values.length === 0 ? el('p', { class: 'note' }, 'No brand of this name') : '',
    one.total > SHOWN && !one.typed ? expander('brand', 'Brand', one.total, showFacets) : '');
}

// ---- The whole panel ----

/** Makes every control show the state, save a field that is being typed in. */
export function sync() {
  for (const name of ['in_stock', 'on_sale']) panel.elements[name].checked = state[name] === 'true';
  for (const radio of $('mode').querySelectorAll('input')) radio.checked = radio.value === state.mode;
  sort.value = state.sort;
  showCategories();
  showFacets();
  syncPrices();
}

/** Opens or closes the panel where the page is narrow. */
export function opens(shown) {
  document.body.classList.toggle('filtering', shown);
  $('filters-toggle').setAttribute('aria-expanded', String(shown));
}

function showPanel(shown) {
  opens(shown);
  (shown ? panel.elements.in_stock : $('filters-toggle')).focus();
}
const panelShown = () => document.body.classList.contains('filtering');

const findBrand = debounced(200, () => findValues('brand', $('brand-q').value.trim(), showFacets));

/** Listens to the filters. */
export function listen() {
  panel.addEventListener('input', ({ target }) => { if (target.id === 'brand-q') findBrand(); });
  panel.addEventListener('change', ({ target }) => {
    if (target.dataset.facet) go(withFacet(target.dataset.facet, target.value, target.checked));
    else if (target.name === 'in_stock' || target.name === 'on_sale') go({ [target.name]: String(target.checked) });
  });
  panel.addEventListener('submit', (event) => { event.preventDefault(); takePrices(); });
  sort.addEventListener('change', () => go({ sort: sort.value, currency: chosenCurrency() }));
  $('mode').addEventListener('change', ({ target }) => go({ mode: target.value }));
  $('filters-toggle').addEventListener('click', () => showPanel(!panelShown()));
  $('filters-clear').addEventListener('click', () => { go(NO_FILTERS); $(atStart() ? 'heading' : 'filters-done').focus({ preventScroll: true }); });
  $('filters-done').addEventListener('click', () => { showPanel(false); $('heading').scrollIntoView(); });
  panel.addEventListener('keydown', (event) => { if (event.key === 'Escape' && panelShown()) showPanel(false); });
}
