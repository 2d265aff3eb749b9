// What is drawn of one product: pictures, price and variants, delivery, details, reviews.

import { $, decor, el, nameTab, SECTION, unseen, webUrl } from './dom.js';
import { deliveryCheck } from './around.js';
import { facetTitle, isColour, picture, priceLine, stars, swatch } from './cards.js';
import { codeFinder, knownCodes } from './codes.js';
import { addToCart } from './drawer.js';
import { liveCheck } from './live.js';
import { pincode, promise } from './place.js';
import { ask } from './server.js';
import { linker, NO_FILTERS } from './state.js';
import { tellMe } from './tell.js';

function section(title, ...content) {
  return el('section', {}, el(SECTION, {}, title), ...content);
}

function review(one) {
  return el('li', {}, el('p', {}, stars(one.rating), el('b', { dir: 'auto' }, one.author || 'A buyer')),
    one.title ? el('p', { class: 'title', dir: 'auto' }, one.title) : null, el('p', { class: 'text', dir: 'auto' }, one.body));
}

/** As many reviews come with a product; where there are fewer, there are no others. */
const RECENT = 20;
/** The recent reviews, and the older ones when they are asked for. */
function reviews(product) {
  const list = el('ul', { class: 'reviews' }, ...product.reviews.map(review));
  const button = el('button', { class: 'plain', type: 'button' }, 'More reviews');
  let further = `offset=${product.reviews.length}`;
  button.addEventListener('click', async () => {
    const body = await ask(`v1/products/${encodeURIComponent(product.id)}/reviews?limit=20&${further}`, 'reviews').catch((failure) => {
      button.textContent = `${failure.title}. Try again`;
      return null;
    });
    if (!body) return;
    const next = body.provenance.page?.next_cursor;
    further = new URLSearchParams({ cursor: next ?? '' });
    const older = body.data.map(review);
    for (const one of older) one.tabIndex = -1;
    list.append(...older);
    older[0]?.focus({ preventScroll: true });
    button.hidden = !next;
  });
  return product.reviews.length < RECENT ? [list] : [list, button];
}

/** Marks of items that stores write themselves, beside ours. */
const ITEM = /^(?:[•·▪●◦‣✓✔✅➤*]|[-–—](?=\s))\s*(?=\S)/u;

/** A description as paragraphs and lists. */
function description(text) {
  const parts = [];
  let list = null;
  for (const line of text.split('\n').map((one) => one.trim()).filter(Boolean)) {
    if (!ITEM.test(line)) {
      list = null;
      parts.push(el('p', { class: 'text', dir: 'auto' }, line));
      continue;
    }
    if (!list) parts.push(list = el('ul', { class: 'text' }));
    list.append(el('li', { dir: 'auto' }, line.replace(ITEM, '')));
  }
  return parts;
}

/** Details in rows: the category, and what the store says of the product's properties. */
function properties({ category, attributes }) {
  const elsewhere = { ...NO_FILTERS, q: '', sort: '', product: '' };
  const kind = category ? linker('link', { ...elsewhere, category: category.slug }, { dir: 'auto' }, category.name) : null;
  return [['category', kind], ...Object.entries(attributes ?? {})].filter(([, values]) => values && values.length !== 0)
    .flatMap(([name, values]) => [el('dt', { dir: 'auto' }, facetTitle(name)), el('dd', { dir: 'auto' }, values instanceof Node ? values : [values].flat().join(', '))]);
}

/** The question for a product, with its delivery where the place is known. */
export const productPath = (id) => `v1/products/${encodeURIComponent(id)}?${new URLSearchParams(pincode() ? { pincode: pincode() } : {})}`;

/** Draws what is known of the product: the card alone at first, the whole later. Answers the places of its price history and of other brands' offers. */
export function fill(product, whole, isOpen) {
  const about = product.attributes ?? {};
  const elsewhere = { ...NO_FILTERS, q: '', sort: '', product: '' };
  $('product-title').textContent = product.title;
  nameTab({ product: product.title });
  $('product-brand').replaceChildren(product.brand ? linker('link', { ...elsewhere, brand: product.brand_slug }, { dir: 'auto', title: 'All products of this brand' }, product.brand) : '');
  const { parts, turnTo } = gallery(product);
  $('gallery').replaceChildren(...parts);
  const store = webUrl(about.url);
  const rows = properties(about);
  const history = el('section', { class: 'prices' });
  const offers = el('section', { class: 'also-sold' });
  const sent = el('div', { class: 'promised', 'aria-live': 'polite' }, promise(product, 'promise') ?? '');
  const moved = async () => {
    const body = await ask(`${productPath(product.id)}&include=`, 'promise').catch(() => null);
    if (body && isOpen()) sent.replaceChildren(promise(body.data, 'promise') ?? '');
  };
  $('product-body').replaceChildren(
    product.currency ? offer(product, turnTo) : '',
    sent,
    whole ? '' : el('p', { class: 'quiet', role: 'status' }, 'Loading the details…'),
    store ? el('a', { class: 'buy second', href: store.href, target: '_blank', rel: 'noopener noreferrer' }, `See it at ${product.brand}`, decor(' ↗'), unseen(' (opens in a new tab)')) : '',
    whole ? el('p', { class: 'small' }, 'Price and stock as last seen. The store’s own page is final.') : '',
    whole && product.currency ? liveCheck(product, isOpen, location.hash === '#check') : '',
    whole && product.currency ? tellMe(product, isOpen) : '',
    offers,
    knownCodes(product.discounts),
    whole ? codeFinder({ product: product.id }, product.brand, isOpen) : '',
    whole ? deliveryCheck(product, isOpen, moved) : '',
    history,
    about.description ? section('Description', ...description(about.description)) : '',
    rows.length ? section('Details', el('dl', {}, ...rows)) : '',
    product.reviews?.length ? section('Reviews', ...reviews(product)) : '');
  return { history, offers };
}

/** What two addresses of one picture have in common: a size or a version in the query does not make another one. */
const source = (text) => webUrl(text ?? '')?.href.replace(/[?#].*/, '');

const MOST = 20;
/** The pictures, those of variants among them; `turnTo` shows the one with an address, if it is there. */
function gallery(product) {
  const images = [];
  const found = new Map();
  const take = (medium) => {
    const key = source(medium.url);
    if (!found.has(key)) found.set(key, images.push(medium) - 1);
  };
  const media = (product.media ?? []).filter((medium) => medium.kind === 'image');
  media.slice(0, MOST).forEach(take);
  for (const { image } of product.variants ?? []) if (image) take(media.find(({ url }) => source(url) === source(image)) ?? { url: image });
  if (images.length === 0) images.push({ url: product.image });
  const shot = (medium, at) => picture(medium.url, { widths: [720, 1080], sizes: '(max-width: 52rem) 100vw, 32rem', letter: product.brand,
    alt: medium.alt || `${product.title}, picture ${at + 1}`, eager: at === 0 });
  const strip = el('div', { class: 'strip', tabindex: images.length > 1 ? 0 : null, role: 'group', 'aria-label': 'Pictures' },
    ...images.map((medium, at) => el('div', { class: 'frame' }, shot(medium, at))));
  if (images.length === 1) return { parts: [strip], turnTo: () => {} };
  const turn = (at, behavior) => strip.scrollTo({ left: at * strip.clientWidth, behavior });
  const thumbs = images.map((medium, at) => el('button', { type: 'button', 'aria-label': `Picture ${at + 1} of ${images.length}`, 'aria-current': String(at === 0),
    click: () => turn(at) }, picture(medium.url, { widths: [120, 180], sizes: '60px' })));
  strip.addEventListener('scroll', () => {
    const seen = Math.round(strip.scrollLeft / strip.clientWidth);
    thumbs.forEach((thumb, at) => thumb.setAttribute('aria-current', String(at === seen)));
    const { offsetLeft: left = 0, offsetWidth: width } = thumbs[seen] ?? {};
    if (left < row.scrollLeft || left + width > row.scrollLeft + row.clientWidth) row.scrollTo({ left: left - row.clientWidth / 2 });
  }, { passive: true });
  const row = el('div', { class: 'thumbs' }, ...thumbs);
  const turnTo = (url, behavior) => { if (url && found.has(source(url))) turn(found.get(source(url)), behavior); };
  return { parts: [strip, row], turnTo };
}

/** Price, stock and the choice of a variant; a choice changes price, stock and picture. */
function offer(product, turnTo) {
  const offers = new Map((product.offers ?? []).map((one) => [one.variant_id, one]));
  const variants = (product.variants ?? []).map((variant) => ({ ...variant, ...offers.get(variant.id) }));
  const live = variants.filter((variant) => variant.available);
  // At first one that costs what the card says, of these the one in the card's picture.
  const cheapest = live.filter((variant) => variant.amount_minor === product.price_min_minor);
  let chosen = cheapest.find(({ image }) => image && source(image) === source(product.image)) ?? cheapest[0] ?? live[0] ?? variants[0];
  const top = el('div', { class: 'offer', 'aria-live': 'polite' });
  const add = el('button', { class: 'buy', type: 'button', click: () => addToCart({ product_id: product.id, variant_id: chosen.id, qty: 1, price_minor: chosen.amount_minor || undefined }, product.title) });
  const draw = () => {
    const now = chosen ?? { amount_minor: product.price_min_minor, compare_at_minor: product.compare_at_minor, available: product.in_stock };
    top.replaceChildren(now.amount_minor > 0 ? priceLine(now.amount_minor, now.compare_at_minor, product.currency, true) : el('p', { class: 'price quiet' }, 'No price'), el('p', { class: 'state' },
      el('span', { class: now.available ? 'yes' : 'no' }, now.available ? 'In stock' : 'Out of stock'), stars(product.rating, product.rating_count) ?? '', now.sku ? el('span', { class: 'quiet' }, `SKU ${now.sku}`) : ''));
    for (const { label: chip, name, value } of picks) {
      const wanted = { ...chosen.options, [name]: value };
      const buyable = live.some((variant) => Object.entries(wanted).every(([option, held]) => variant.options[option] === held));
      // A value that can be bought in no combination cannot be chosen; another one leads to a choice that can.
      chip.firstChild.disabled = !live.some((variant) => variant.options[name] === value);
      chip.classList.toggle('gone', !buyable);
      chip.lastChild.textContent = buyable ? '' : ' (not available)';
      chip.firstChild.checked = chosen.options[name] === value;
    }
    add.disabled = !now.available || !chosen;
    add.textContent = now.available ? 'Add to cart' : 'Out of stock';
  };
  // Of the variants with the picked value, the one that keeps most of the other choices, an available one first among equals.
  const pick = (name, value) => {
    const fit = (variant) => 2 * Object.keys(variant.options).filter((key) => variant.options[key] === chosen.options[key]).length + Number(variant.available);
    [chosen] = variants.filter((variant) => variant.options[name] === value).sort((a, b) => fit(b) - fit(a));
    draw();
    turnTo(chosen.image);
  };
  const names = [...new Set(variants.flatMap((variant) => Object.keys(variant.options)))];
  const picks = names.flatMap((name) => [...new Set(variants.map((variant) => variant.options[name]))].filter(Boolean).map((value) => ({ name, value, label:
    el('label', { class: 'pick' }, el('input', { type: 'radio', name: `option ${name}`, change: () => pick(name, value) }), isColour(name) ? swatch(value) : null, el('span', { dir: 'auto' }, value), unseen('')) })));
  draw();
  turnTo(chosen?.image, 'instant');
  return el('div', { class: 'choice' }, top, ...names.map((name) => el('fieldset', {}, el('legend', { dir: 'auto' }, isColour(name) ? facetTitle(name) : name), ...picks.filter((one) => one.name === name).map((one) => one.label))), add);
}
