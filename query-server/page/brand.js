// Brands: the list of them, and what a brand says of itself on its own page.

import { $, decor, el, moment, plural, price, tenths, unseen, webUrl, whole } from './dom.js';
import { termRows, tierList } from './around.js';
import { picture } from './cards.js';
import { codeFinder } from './codes.js';
import { countryName } from './countries.js';
import { ask, whenBack } from './server.js';
import { takeExamples } from './start.js';
import { changer, linker, state } from './state.js';

let brands = [];
const names = new Map();
let next = null;
export const brandName = (slug) => names.get(slug) ?? slug;
/** How many products a brand has; undefined where it is not known. */
export const brandSize = (slug) => brands.find((brand) => brand.slug === slug)?.product_count;
export const nameBrand = (slug, name) => names.set(slug, name);

// ---- All of them ----

const PAGE = 24;
const ASKED_MAX = 100;
export async function loadBrands() {
  const body = await ask(`v1/brands?limit=${ASKED_MAX}`, 'brands');
  if (!body) return;
  brands = body.data;
  for (const brand of brands) nameBrand(brand.slug, brand.name);
  takeExamples(brands);
  next = body.provenance.page?.next_cursor ?? null;
  showStalls(brands);
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
      const body = await ask(`v1/brands?${new URLSearchParams({ limit: ASKED_MAX, cursor: next })}`, 'brand page').catch(() => null);
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

// ---- One of them ----

const CHECKED = {
  changed: 'What was found then is shown here.',
  unchanged: 'Nothing had changed.',
  held_back: 'What it showed then looked doubtful. Until that is confirmed, its earlier catalogue is shown here.',
  failed: 'It could not be read then. Its earlier catalogue is shown here.',
};

const doubtful = ({ check_outcome: outcome }) => outcome === 'held_back' || outcome === 'failed';
/** When the store was last checked, and what came of it. */
function checked({ checked_at: at, check_outcome: outcome, catalogue_complete: complete }) {
  if (!at) return null;
  return el('p', { class: doubtful({ check_outcome: outcome }) ? 'checked small doubt' : 'checked small', id: 'brand-check' }, `Store last checked ${moment(at)}. `, CHECKED[outcome] ?? '', complete === false ? ' The store does not list all its products, so some are missing here.' : '');
}

/** How large and how well rated it is, where it is and what it costs, in a line. */
function facts(brand) {
  const { currency: code, price_min_minor: least, price_max_minor: most } = brand;
  const parts = [brand.rating > 0 && el('span', { class: 'stars' }, unseen('Rated '), decor('★ '), tenths(brand.rating), unseen(' of 5'), el('span', { class: 'quiet' }, ` (${plural(brand.rating_count, 'rating')})`)),
    `${plural(brand.product_count, 'product')}, ${brand.in_stock_count === brand.product_count ? 'all' : whole(brand.in_stock_count)} in stock`,
    brand.on_sale_count > 0 && changer('link', { on_sale: 'true' }, {}, `${whole(brand.on_sale_count)} on sale`),
    least > 0 && `${price(least, code)} to ${price(most, code)}`, brand.country && countryName(brand.country)].filter(Boolean);
  return el('p', { class: 'brand-facts' }, ...parts.map((part) => el('span', {}, part)));
}

const LONG = 180;
function description(text) {
  if (!text) return null;
  const said = el('p', { class: 'brand-text', dir: 'auto' }, text);
  if (text.length <= LONG) return said;
  said.classList.add('short');
  const button = el('button', { class: 'link', type: 'button', 'aria-expanded': 'false', click: () => {
    const short = said.classList.toggle('short');
    button.textContent = short ? 'Read more' : 'Read less';
    button.setAttribute('aria-expanded', String(!short));
  } }, 'Read more');
  return el('div', {}, said, button);
}

const MOST = 8;
function kinds({ slug, categories = [] }) {
  if (categories.length < 2) return null;
  return el('ul', { class: 'kinds', 'aria-label': 'Categories of this brand' }, ...categories.slice(0, MOST).map((one) => el('li', {}, linker('chip', { brand: slug, category: one.slug }, { dir: 'auto' },
    one.name, el('span', { class: 'quiet' }, unseen(', '), ` ${whole(one.product_count)}`, unseen(' products'))))));
}

function shipping({ shipping: terms }) {
  if (!terms) return null;
  const rows = termRows(terms, terms.currency);
  return el('section', {}, el('h2', {}, 'Delivery'), el('dl', {}, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])), tierList(terms.tiers, terms.currency));
}

function about(brand) {
  const store = webUrl(brand.url ?? '') ?? webUrl(`https://${brand.domain}`);
  const finder = codeFinder({ brand: brand.slug }, brand.name, () => brand.slug === state.brand);
  const more = [shipping(brand), finder === '' ? null : el('section', {}, el('h2', {}, 'Discount codes'), finder)].filter(Boolean);
  return [el('div', { class: 'brand-top' }, el('span', { class: 'sign' }, picture(brand.logo, { widths: [144, 216], sizes: '4rem', letter: brand.name })),
    el('div', {}, facts(brand), description(brand.description),
      store ? el('a', { class: 'plain visit', href: store.href, target: '_blank', rel: 'noopener noreferrer' }, `Visit ${brand.domain}`, decor(' ↗'), unseen(' (opens in a new tab)')) : null)),
  kinds(brand), doubtful(brand) ? checked(brand) : null,
  el('details', { class: 'brand-more' }, el('summary', {}, `More about ${brand.name}`), ...more, doubtful(brand) ? null : checked(brand))].filter(Boolean);
}

/** Whose page is drawn or asked for; null where that failed. */
let shownFor = '';
/** Asks what the brand that is looked at says of itself; answers what draws it. Nothing where its products are searched. */
export async function readBrand() {
  const brand = state.q ? '' : state.brand;
  if (brand === shownFor) return () => {};
  shownFor = brand;
  const place = $('brand-about');
  const body = brand && await ask(`v1/brands/${encodeURIComponent(brand)}`, 'brand').catch((failure) => {
    if (failure.passing) shownFor = null;
    whenBack(failure, 'brand', async () => (await readBrand())());
    return null;
  });
  if (body) nameBrand(brand, body.data.name);
  return () => {
    if (shownFor && shownFor !== brand) return;
    place.replaceChildren(...(body ? about(body.data) : []));
    place.hidden = !body;
  };
}
