// The filters: categories, facets with counts, the price range with its histogram, and what is in use.

import { $, decor, el, exponent, minorOf, nameTab, plural, price, redraw, svg, unseen, whole, debounced } from './dom.js';
import { isColour, swatch } from './cards.js';
import { atStart, browsing, changer, facetsOf, go, linker, NO_FILTERS, state, withFacet } from './state.js';
import { brandName, categories, categoryName, showBrandChoice } from './start.js';

const panel = $('filters');
const [currency, sort] = ['currency', 'sort'].map($);
const [low, high] = [panel.elements.price_min, panel.elements.price_max];

// A group shows this many values until it is asked for all of them.
const SHOWN = 7;
const OPEN_AT_FIRST = matchMedia('(max-width: 52rem)').matches ? 1 : 4;
const NAMES = { vendor: 'Maker', tag: 'Tags' };
const ORDER = ['color', 'size', 'material', 'pattern', 'fit', 'flavor', 'scent'];
const last = (name) => (name === 'tag' ? 2 : name === 'vendor' ? 1 : 0);
const rank = (name) => (ORDER.indexOf(name) + 1 || ORDER.length + 1) + 100 * last(name);

/** What the last answer said of facets and prices. */
let told = { facets: [], price: null };
const opened = new Map();
const entire = new Set();
const labels = new Map();
const key = (name, value) => `${name}\n${value}`;
/** What a property is called wherever it stands, however a store spells it. */
export const facetTitle = (name) => (isColour(name) ? 'Colour' : NAMES[name] ?? name.replaceAll('_', ' ').replace(/^./u, (letter) => letter.toUpperCase()));
const valueName = (name, value) => labels.get(key(name, value)) ?? value;

/** Takes what an answer says of facets and prices; `null` for an answer that says nothing. */
export function takeFacets(facets, prices) {
  told = { facets: facets ?? [], price: prices ?? null };
  for (const { name, values } of told.facets) for (const { value, label } of values) if (label) labels.set(key(name, value), label);
  showCategories();
  showFacets();
  showPrices();
}

// ---- What was read out of the query ----

let understood = [];
/** Takes what an answer says that it read out of the query. */
export function takeUnderstood(parts) { understood = parts; }

/** What a stretch of the query was read as, in few words. */
function readAs({ text, meaning, filter }) {
  if (meaning === 'excluded') return `not ${filter.excluded[0]}`;
  if (meaning === 'phrase') return `“${text}”`;
  if (meaning !== 'price') return text;
  const amount = (name, word) => (filter[name] === undefined ? '' : `${word} ${price(filter[name], filter.currency)}`);
  return `${amount('price_min', 'from')} ${amount('price_max', 'up to')}`.trim();
}

/** The query without a stretch of it. */
const without = (text) => state.q.replace(text, ' ').replace(/"\s*"/g, ' ').replace(/\s+/g, ' ').trim();

// ---- Categories ----

/** From the whole market down to where the visitor is, and what lies below it. */
function showCategories() {
  const counts = new Map((told.facets.find(({ name }) => name === 'category')?.values ?? []).map((one) => [one.value, one]));
  const here = state.category ? categories.get(state.category) : null;
  const path = [];
  for (let at = here; at; at = at.parent) path.unshift(at);
  const below = here ? here.children : categories.get('')?.children ?? [];
  // Without counts of this answer the tree's own stand in, but only where nothing else narrows.
  const counted = below.map((one) => ({ ...one, count: counts.size ? counts.get(one.slug)?.count ?? 0 : state.q || state.brand ? null : one.product_count }))
    .filter((one) => one.count !== 0);
  const row = (one) => el('li', {}, linker('into', { category: one.slug }, { 'data-key': `category ${one.slug}` },
    el('span', { class: 'name', dir: 'auto' }, one.name), one.count ? el('span', { class: 'quiet' }, whole(one.count)) : null));
  const up = path.slice(0, -1).map((one) => el('li', {}, linker('into up', { category: one.slug }, { 'data-key': `category ${one.slug}` }, decor('‹ '), el('span', { class: 'name', dir: 'auto' }, one.name))));
  const all = here ? el('li', {}, linker('into up', { category: '' }, { 'data-key': 'category' }, decor('‹ '), el('span', { class: 'name' }, 'All categories'))) : '';
  $('categories-group').hidden = !here && counted.length === 0;
  redraw($('categories'), all, ...up, here ? el('li', {}, el('span', { class: 'into here', 'aria-current': 'true', dir: 'auto' }, here.name)) : '',
    ...shortened('category', counted, () => false).map(row), ...(counted.length > SHOWN ? [el('li', {}, more('category', counted.length, showCategories))] : []));
}

// ---- Facets ----

/** The first values of a group and the chosen ones, or all when it was asked for all. */
const shortened = (name, values, chosen) => (entire.has(name) ? values : values.filter((one, at) => at < SHOWN || chosen(one)));

function more(name, count, draw) {
  const flip = () => {
    if (!entire.delete(name)) entire.add(name);
    draw();
  };
  return el('button', { class: 'link', type: 'button', 'data-key': `more ${name}`, 'aria-expanded': String(entire.has(name)), click: flip },
    entire.has(name) ? 'Fewer' : `All ${whole(count)}`, unseen(` values of ${facetTitle(name)}`));
}

const LETTERS = ['xxxs', 'xxs', 'xs', 's', 'm', 'l', 'xl', 'xxl', '2xl', 'xxxl', '3xl', '4xl', '5xl'];
/** Sizes as they are worn, from small to large; other values stay as they are, those of most products first. */
function inOrder(name, values) {
  if (!/\bsize\b/.test(name)) return values;
  const letter = ({ value }) => LETTERS.indexOf(value.toLowerCase());
  return values.toSorted((a, b) => (letter(a) < 0) - (letter(b) < 0) || letter(a) - letter(b) || a.value.localeCompare(b.value, undefined, { numeric: true }));
}

function group({ name, values }, at, chosen) {
  const is = ({ value }) => chosen.has(value);
  const held = opened.get(name) ?? (at < OPEN_AT_FIRST && !last(name) || chosen.size > 0);
  const row = (one) => el('label', { class: one.count === 0 ? 'check none' : 'check' },
    el('input', { type: 'checkbox', value: one.value, 'data-facet': name, 'data-key': key(name, one.value), checked: is(one) }),
    isColour(name) ? swatch(one.value) : null, el('span', { class: 'name', dir: 'auto' }, valueName(name, one.value)), one.count >= 0 ? el('span', { class: 'quiet' }, unseen(', '), whole(one.count)) : null);
  return el('details', { class: 'group', open: held, toggle: ({ target }) => opened.set(name, target.open) },
    el('summary', { 'data-key': name }, el('span', { dir: 'auto' }, facetTitle(name)), chosen.size ? el('span', { class: 'dot' }, unseen('chosen: '), String(chosen.size)) : null),
    el('div', { role: 'group', 'aria-label': facetTitle(name), class: entire.has(name) ? 'values all' : 'values' },
      ...inOrder(name, shortened(name, values, is)).map(row), values.length > SHOWN ? more(name, values.length, showFacets) : null));
}

function showFacets() {
  const chosen = facetsOf(state);
  const none = new Set();
  const seen = new Set();
  // Two names for the same values of the same products are one group.
  const twin = ({ name, values }) => { const all = JSON.stringify(values); return !chosen.has(name) && (seen.has(all) || !seen.add(all)); };
  const byRank = (a, b) => rank(a.name) - rank(b.name);
  const groups = told.facets.toSorted(byRank).filter((one) => one.name !== 'category' && (one.values.length > 1 || chosen.has(one.name)) && !(one.name === 'title' && one.values.every(({ value }) => value === 'default title')) && !twin(one));
  // What is filtered by stays in sight, though the answer does not count it.
  for (const [name, values] of chosen) {
    const known = groups.find((one) => one.name === name);
    const missing = [...values].filter((value) => !known?.values.some((one) => one.value === value)).map((value) => ({ value }));
    if (known && missing.length) groups[groups.indexOf(known)] = { name, values: [...missing, ...known.values] };
    else if (!known) groups.push({ name, values: missing });
  }
  groups.sort(byRank);
  redraw($('facets'), ...groups.map((one, at) => group(one, at, chosen.get(one.name) ?? none)));
}

// ---- Prices ----

const [WIDTH, HEIGHT] = [200, 40];
function showPrices() {
  const { price: prices } = told;
  const bins = prices?.histogram ?? [];
  const most = Math.max(0, ...bins.map((bin) => bin.count));
  const known = prices && prices.currency && prices.min_minor !== null && prices.min_minor !== undefined;
  $('histogram').hidden = bins.length < 2 || most === 0;
  low.placeholder = known ? `${Math.floor(prices.min_minor / 10 ** exponent(prices.currency))}` : 'From';
  high.placeholder = known ? `${Math.ceil(prices.max_minor / 10 ** exponent(prices.currency))}` : 'To';
  if ($('histogram').hidden) return $('histogram').replaceChildren();
  const money = (minor) => price(minor, prices.currency);
  const [from, to] = [Number(state.price_min || -Infinity), Number(state.price_max || Infinity)];
  const step = WIDTH / bins.length;
  const bar = (bin, at) => {
    const height = bin.count && Math.max(2, bin.count / most * HEIGHT);
    const inside = bin.to_minor > from && bin.from_minor <= to;
    const pick = () => go({ price_min: String(Math.max(0, bin.from_minor)), price_max: String(bin.to_minor - 1), currency: prices.currency });
    return svg('g', { class: inside ? 'bar' : 'bar outside', click: pick }, svg('title', {}, `${money(bin.from_minor)} to ${money(bin.to_minor)}: ${plural(bin.count, 'product')}`),
      svg('rect', { class: 'catch', x: at * step, y: 0, width: step, height: HEIGHT }),
      svg('rect', { x: at * step + 1, y: HEIGHT - height, width: step - 2, height, rx: 1.5 }));
  };
  const top = bins.find((bin) => bin.count === most);
  $('histogram').replaceChildren(
    svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...bins.map(bar)),
    unseen(`Prices from ${money(prices.min_minor)} to ${money(prices.max_minor)}, most between ${money(top.from_minor)} and ${money(top.to_minor)}.`));
}

export function priceNote(problem) {
  $('price-note').textContent = problem || (state.currency ? `Only prices in ${state.currency} are compared.` : '');
  for (const field of [low, high]) field.setAttribute('aria-invalid', String(problem !== ''));
}

const currencyNames = new Intl.DisplayNames(undefined, { type: 'currency', fallback: 'none' });
export function addCurrency(code) {
  if (!code || [...currency.options].some((option) => option.value === code)) return;
  currency.append(el('option', { value: code }, [code, currencyNames.of(code)].filter(Boolean).join(' · ')));
}

function takePrices() {
  pricesTyped.cancel();
  const [from, to] = [low, high].map((field) => minorOf(field, currency.value));
  if (from === null || to === null) priceNote('Please type an amount, such as 1200.');
  else if (from && to && Number(from) > Number(to)) priceNote('The lowest price is above the highest.');
  else go({ price_min: from, price_max: to, currency: currency.value });
}
const pricesTyped = debounced(400, takePrices);

// ---- The whole panel ----

/** Makes every control show the state, save a field that is being typed in. */
export function sync() {
  if (state.currency) { addCurrency(state.currency); currency.value = state.currency; }
  for (const field of [low, high]) {
    const text = state[field.name] && String(Number(state[field.name]) / 10 ** exponent(currency.value));
    if (field !== document.activeElement && !pricesTyped.waits() && field.value !== text) field.value = text;
    field.step = 10 ** -exponent(currency.value);
  }
  for (const name of ['in_stock', 'on_sale']) panel.elements[name].checked = state[name] === 'true';
  for (const radio of $('mode').querySelectorAll('input')) radio.checked = radio.value === state.mode;
  $('mode').hidden = !state.q;
  sort.value = state.sort;
  showBrandChoice();
  showCategories();
  showFacets();
  showPrices();
  priceNote('');
}

/** The heading of the products: the page's own, or below the start page's. */
function headed(tag) {
  const before = $('heading');
  if (before.localName === tag) return before;
  const heading = el(tag, { id: 'heading', tabindex: -1, dir: 'auto' });
  before.replaceWith(heading);
  return heading;
}

/** What the page says of the question: where it is, heading, title, filters in use. */
export function label() {
  const start = atStart();
  document.body.classList.toggle('start', start);
  $('intro').hidden = !start;
  if (start) opens(false);
  const place = [state.category && categoryName(state.category), state.brand && brandName(state.brand)].filter(Boolean).join(' · ');
  headed(start ? 'h2' : 'h1').textContent = state.q ? `“${state.q}”` : place || (start ? 'On the stalls now' : 'All products');
  nameTab({ list: state.q || place });
  showCrumbs();
  const amount = (name, word) => (state[name] ? `${word} ${price(Number(state[name]), currency.value)}` : '');
  const used = [[state.category && categoryName(state.category), { category: '' }], [state.brand && brandName(state.brand), { brand: '' }],
    ...[...facetsOf(state)].flatMap(([name, values]) => [...values].map((value) => [`${facetTitle(name)}: ${valueName(name, value)}`, withFacet(name, value, false)])),
    [`${amount('price_min', 'from')} ${amount('price_max', 'up to')}`.trim(), { price_min: '', price_max: '' }],
    [state.in_stock && 'In stock', { in_stock: '' }], [state.on_sale && 'On sale', { on_sale: '' }]].filter(([text]) => text);
  const chip = ([text, patch]) => el('li', {}, changer('chip on', patch, { 'aria-label': `Remove the filter ${text}` }, el('span', { dir: 'auto' }, text), decor(' ×')));
  const read = understood.filter(({ text, filter }) => filter && state.q.includes(text)).map((part) => [readAs(part), { q: without(part.text) }]);
  $('active').replaceChildren(...[...read, ...used].map(chip), used.length > 1 ? el('li', {}, changer('link', NO_FILTERS, {}, 'Clear all')) : '');
  $('active').hidden = used.length + read.length === 0;
  $('filters-clear').hidden = used.length === 0;
  $('filters-count').replaceChildren(...(used.length ? [String(used.length), unseen(' in use')] : []));
}

function showCrumbs() {
  const path = [];
  for (let at = browsing() ? categories.get(state.category)?.parent : null; at?.slug; at = at.parent) path.unshift(at);
  const crumb = (text, patch) => el('li', {}, linker('', patch, { dir: 'auto' }, text));
  $('crumbs').hidden = !browsing();
  $('crumbs').firstElementChild.replaceChildren(...(browsing() ? [crumb('Market', { ...NO_FILTERS, sort: '' }), ...path.map((one) => crumb(one.name, { category: one.slug }))] : []));
}

/** Opens or closes the panel where the page is narrow. */
function opens(shown) {
  document.body.classList.toggle('filtering', shown);
  $('filters-toggle').setAttribute('aria-expanded', String(shown));
}

function showPanel(shown) {
  opens(shown);
  (shown ? panel.elements.in_stock : $('filters-toggle')).focus();
}
const panelShown = () => document.body.classList.contains('filtering');

/** Listens to the filters; `findBrand` is called while a brand is looked for. */
export function listen(findBrand) {
  panel.addEventListener('input', ({ target }) => {
    if (target === low || target === high) pricesTyped();
    if (target.id === 'brand-q') findBrand();
  });
  panel.addEventListener('change', ({ target }) => {
    if (target.dataset.facet) go(withFacet(target.dataset.facet, target.value, target.checked));
    else if (target.type === 'checkbox') go({ [target.name]: String(target.checked) });
    if (target.name === 'brand') go({ brand: target.value });
    if (target === currency) takePrices();
  });
  panel.addEventListener('submit', (event) => { event.preventDefault(); takePrices(); });
  sort.addEventListener('change', () => go({ sort: sort.value, currency: currency.value }));
  $('mode').addEventListener('change', ({ target }) => go({ mode: target.value }));
  $('filters-toggle').addEventListener('click', () => showPanel(!panelShown()));
  $('filters-clear').addEventListener('click', () => { go(NO_FILTERS); $(atStart() ? 'heading' : 'filters-done').focus({ preventScroll: true }); });
  $('filters-done').addEventListener('click', () => { showPanel(false); $('heading').scrollIntoView(); });
  panel.addEventListener('keydown', (event) => { if (event.key === 'Escape' && panelShown()) showPanel(false); });
}

