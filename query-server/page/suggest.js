// Suggestions while a search is typed, and before: a combobox with a list box, as the ARIA practices describe it. The
// text stays what was typed until a suggestion is chosen.

import { $, debounced, el, plural, price, whole } from './dom.js';
import { cards, picture } from './cards.js';
import { ask, drop } from './server.js';
import { forgetSearches, recentSearches, remember } from './recent.js';
import { popularCategories } from './start.js';
import { go, NO_FILTERS, openProduct, state } from './state.js';

const LIMIT = 6;
const WAIT = 90;
const [input, list, said] = ['q', 'suggestions', 'suggestions-said'].map($);

let served = true;
let instead = () => {};
let options = [];
let active = -1;

const shown = () => input.getAttribute('aria-expanded') === 'true';

function mark(at) {
  active = at;
  options.forEach(({ node }, index) => node.setAttribute('aria-selected', String(index === at)));
  if (at < 0) input.removeAttribute('aria-activedescendant');
  else {
    input.setAttribute('aria-activedescendant', options[at].node.id);
    options[at].node.scrollIntoView({ block: 'nearest' });
  }
}

export function closeSuggestions() {
  fetching.cancel();
  drop('suggest');
  input.setAttribute('aria-expanded', 'false');
  list.hidden = true;
  said.textContent = '';
  mark(-1);
}

function choose(option) {
  closeSuggestions();
  if (option.text !== undefined) input.value = option.text;
  option.act();
}

/** The text of a suggested search, what was not typed standing out. */
function completed(text, typed) {
  const begins = text.toLowerCase().startsWith(typed.toLowerCase());
  return el('span', { dir: 'auto' }, begins ? text.slice(0, typed.length) : '', el('b', {}, begins ? text.slice(typed.length) : text));
}

const glass = () => {
  const icon = document.querySelector('.search .lens').cloneNode(true);
  icon.setAttribute('class', 'icon');
  return icon;
};

const plurals = (word) => [`${word}s`, /[^aeiou]y$/.test(word) ? word.replace(/y$/, 'ies') : /(s|x|z|ch|sh|o)$/.test(word) ? `${word}es` : ''];
const same = (one, other) => one === other || plurals(one).includes(other) || plurals(other).includes(one);
/** The queries without those that are the same words as one before, in the singular or the plural. */
function folded(queries) {
  const kept = [];
  for (const text of queries) {
    const words = text.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
    if (!kept.some((one) => one.words.length === words.length && words.every((word, at) => same(word, one.words[at])))) kept.push({ text, words });
  }
  return kept.map(({ text }) => text);
}

const elsewhere = { ...NO_FILTERS, q: '', sort: '', mode: '' };
const searchFor = (text) => { remember(text); go({ q: text, product: '' }); };

function rows({ queries = [], products = [], brands = [], categories = [] }, typed) {
  return [
    ['Searches', folded(queries).map((text) => ({ text, act: () => searchFor(text), content: [glass(), completed(text, typed)] }))],
    ['Categories', categories.map((one) => ({ text: '', act: () => go({ ...elsewhere, category: one.slug }),
      content: [el('span', { dir: 'auto' }, one.name), el('span', { class: 'quiet' }, 'Category')] }))],
    ['Brands', brands.map((one) => ({ text: '', act: () => go({ ...elsewhere, brand: one.slug }),
      content: [el('span', { dir: 'auto' }, one.name), el('span', { class: 'quiet' }, 'Brand')] }))],
    ['Products', products.map((card) => ({ act: () => { input.value = state.q; openProduct(card.id); }, content: [
      el('span', { class: 'thumb' }, picture(card.image, { widths: [96, 144], sizes: '44px', letter: card.brand, eager: true })),
      el('span', { class: 'text2' }, el('span', { dir: 'auto' }, card.title), el('span', { class: 'quiet', dir: 'auto' }, card.brand)),
      el('span', { class: 'sum' }, price(card.price_min_minor, card.currency))] }))],
  ].filter(([, found]) => found.length > 0);
}

/** What is offered before anything is typed: the last searches of this browser, and where most products are. */
function emptyRows() {
  const recent = recentSearches();
  const again = recent.map((text) => ({ text, act: () => searchFor(text), content: [glass(), el('span', { dir: 'auto' }, text)] }));
  const forget = { text: '', act: () => { forgetSearches(); input.focus(); showEmpty(); }, content: [el('span', { class: 'quiet' }, 'Clear recent searches')] };
  return [
    ['Recent searches', recent.length ? [...again, forget] : []],
    ['Popular categories', popularCategories(LIMIT).map((one) => ({ text: '', act: () => go({ ...elsewhere, category: one.slug }), content: [
      el('span', { class: 'thumb' }, picture(one.image, { widths: [96, 144], sizes: '44px', letter: one.name, eager: true })), el('span', { dir: 'auto' }, one.name), el('span', { class: 'quiet' }, whole(one.product_count))] }))],
  ].filter(([, found]) => found.length > 0);
}

function show(offered) {
  options = [];
  const groups = offered.map(([name, group], at) => el('div', { role: 'group', 'aria-labelledby': `suggestions-${at}` },
    el('div', { class: 'name', id: `suggestions-${at}`, role: 'presentation' }, name), ...group.map((option) => {
      option.node = el('div', { class: 'option', role: 'option', id: `suggestion-${options.length}`, 'aria-selected': 'false',
        click: () => choose(option), mousemove: () => { const here = options.indexOf(option); if (here !== active) mark(here); } }, ...option.content);
      options.push(option);
      return option.node;
    })));
  if (options.length === 0) return closeSuggestions();
  list.replaceChildren(...groups);
  list.hidden = false;
  list.scrollTop = 0;
  input.setAttribute('aria-expanded', 'true');
  mark(-1);
  said.textContent = plural(options.length, 'suggestion');
}

function showEmpty() {
  drop('suggest');
  fetching.cancel();
  show(emptyRows());
}

async function fetchThem() {
  const typed = input.value.trim();
  if (!typed) return showEmpty();
  try {
    const body = await ask(`v1/suggest?${new URLSearchParams({ q: typed, limit: LIMIT })}`, 'suggest');
    if (!body || document.activeElement !== input) return;
    for (const card of body.data.products ?? []) cards.set(card.id, { ...cards.get(card.id), ...card });
    show(rows(body.data, typed));
  } catch (failure) {
    // Searching goes on without suggestions.
    closeSuggestions();
    if (!failure.unserved) return;
    served = false;
    instead();
  }
}
const fetching = debounced(WAIT, fetchThem);

function onKey(event) {
  if (event.isComposing) return;
  const { key } = event;
  if ((key === 'ArrowDown' || key === 'ArrowUp') && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    if (!shown()) return void fetchThem();
    if (event.altKey) return key === 'ArrowUp' ? closeSuggestions() : undefined;
    // One more place than there are options: the typed text itself.
    const places = options.length + 1;
    mark((active + 1 + (key === 'ArrowDown' ? 1 : places - 1)) % places - 1);
  } else if (key === 'Escape' && shown()) {
    event.preventDefault();
    closeSuggestions();
  } else if (key === 'Enter' && shown() && active >= 0) {
    event.preventDefault();
    choose(options[active]);
  } else if ((key === 'Home' || key === 'End' || key === 'ArrowLeft' || key === 'ArrowRight') && active >= 0) {
    mark(-1);
  }
}

/** Listens to the search field. `withoutSuggestions` is called for typing that a server without them leaves alone. */
export function suggestFor(withoutSuggestions) {
  instead = withoutSuggestions;
  const typed = () => {
    if (!input.value.trim()) showEmpty();
    else if (served) fetching();
    else closeSuggestions();
    if (!served || !input.value.trim()) withoutSuggestions();
  };
  input.addEventListener('input', (event) => { if (!event.isComposing) typed(); });
  input.addEventListener('compositionend', typed);
  input.addEventListener('keydown', onKey);
  input.addEventListener('blur', closeSuggestions);
  // Whoever comes to the empty field, or presses it once more, sees where to begin.
  const entered = () => { if (!input.value.trim() && !shown()) showEmpty(); };
  input.addEventListener('focus', entered);
  input.addEventListener('click', entered);
  // An address that ends in #q opens at the field, with what it asks for typed in.
  if (location.hash === '#q') {
    input.focus();
    fetchThem();
  }
  // A press on the list must not take the focus from the field.
  list.addEventListener('mousedown', (event) => event.preventDefault());
}
