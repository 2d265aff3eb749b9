// Product cards, and what they are made of: pictures, prices, stars, colours.

import { decor, el, price, tenths, unseen, webUrl, whole } from './dom.js';
import { onPincode, promise } from './place.js';
import { productAddress } from './state.js';

/** Every card that was seen, by id: a product opens with what is known of it. */
export const cards = new Map();
onPincode(() => { for (const card of cards.values()) delete card.delivery; });

/** The address of a picture in a width; the store platform's picture hosts scale when asked. */
function scaled(url, width) {
  if (url.hostname !== 'cdn.shopify.com' && !url.pathname.startsWith('/cdn/shop/')) return url.href;
  const sized = new URL(url);
  sized.searchParams.set('width', width);
  return sized.href;
}

/** A picture, or a blank with a letter where there is none or it does not load. */
export function picture(source, { widths, sizes, letter = '', alt = '', eager = false }) {
  const blank = () => el('span', { class: 'blank', 'aria-hidden': 'true' }, [...letter ?? ''][0]?.toUpperCase());
  const url = source ? webUrl(source) : null;
  if (!url) return blank();
  const image = el('img', { alt, sizes, loading: eager ? 'eager' : 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' });
  image.addEventListener('error', () => image.replaceWith(blank()));
  const narrow = scaled(url, widths[0]);
  if (narrow !== url.href) image.srcset = widths.map((width) => `${scaled(url, width)} ${width}w`).join(', ');
  image.src = narrow;
  return image;
}

const percentOff = (amount, compare) => Math.floor(((compare - amount) * 200 + compare) / (compare * 2));
export function priceLine(amount, compare, code, badge) {
  const cut = compare > amount;
  return el('p', { class: 'price' }, el('span', { class: cut ? 'now cut' : 'now' }, price(amount, code)),
    cut ? el('s', {}, unseen('instead of '), price(compare, code)) : null,
    cut && badge ? el('span', { class: 'pct' }, `−${percentOff(amount, compare)}%`) : null);
}

export const stars = (rating, count) => (rating > 0 ? el('span', { class: 'stars' }, unseen('Rated '), decor('★ '), tenths(rating),
  unseen(' of 5'), count > 0 ? el('span', { class: 'quiet' }, ` (${whole(count)})`) : null) : null);

// Colours as stores mean them, where browsers do not know the name or mean another colour by it.
const COLOURS = Object.fromEntries(`apricot fbceb1,aubergine 4a2c40,beige dcc9a6,blue 2f5bc4,bronze a97142,brick a0402f,brown 6f4a2f,burgundy 6d1a36,cafe 6b4a3a,camel c19a6b,caramel b5793f,
  chai b98b5e,champagne ecd9b8,charcoal 36454f,cherry 9e1b32,chocolate 4b2e20,clay b0674a,cobalt 1f4bab,coffee 5a3d2b,copper b4693a,cream fff6dc,denim 4a6285,dustyrose c58b8b,
  ecru ece4cf,eggplant 4a2c40,emerald 138a5e,fawn d9b991,flesh e3bc9a,forest 2d5a3b,gold cfa53a,graphite 43474b,green 3a8a4b,gunmetal 3f4549,indigo 3f3d8f,jade 3d9970,khaki a9986c,lavender b9a7d9,lemon f6e27a,lilac c8a2c8,lime a6cf3a,mahogany 5a2a22,
  marsala 8d4a48,mauve b784a7,melon f6a68c,midnight 1d2440,mint a8e0c4,mocha 6f5244,mustard d9a520,natural ece2cd,navy 1f2a4d,nude e3bc9a,oatmeal ddd2bd,ochre c2862e,offwhite f7f3e8,onyx 1f2022,orange ef8a2c,
  peach ffcba4,peacock 12707e,pistachio b5cf8f,plum 6b2f4b,rani e0218a,red cf2f2f,rose e0a1a8,rosegold b76e79,rosewood 8c4a50,ruby 9b1b3b,rust b4502b,saffron f2a01e,sage 9caf88,sand d8c3a0,sapphire 1d4e9e,
  slate 5f6b76,stone b9b2a3,taupe 8b7d6b,terracotta c4623f,violet 7f4ea3,wine 6b2036,yellow f2cf3b,blush e8b4b8`.split(',').map((pair) => pair.trim().split(' ')));
// What style sheets mean by these is no colour of its own.
const NONE = /^(transparent|inherit|initial|unset|revert(layer)?|currentcolor|canvas|field|mark|highlight|menu|window|linktext|\W.*)$/;

/** What a style sheet calls the colour of this name; null where it is not known. */
function colour(text) {
  const words = text.toLowerCase().normalize('NFD').replace(/[^a-z\s-]/g, '').split(/[\s-]+/).filter(Boolean);
  const known = (name) => (Object.hasOwn(COLOURS, name) ? `#${COLOURS[name]}` : name && !NONE.test(name) && CSS.supports('color', name) ? name : null);
  return known(words.join('')) ?? (words.length > 1 ? known(words[0]) ?? known(words.at(-1)) : null);
}

export const isColour = (name) => /^colou?rs?$/i.test(name);
const NAMES = { vendor: 'Maker', tag: 'Tags' };
/** What a property is called wherever it stands, however a store spells it. */
export const facetTitle = (name) => (isColour(name) ? 'Colour' : NAMES[name] ?? name.replaceAll('_', ' ').replace(/^./u, (letter) => letter.toUpperCase()));
/** A dot in the colour of a value, or in both of two; nothing to see where a name is not known. */
export function swatch(value) {
  const parts = value.split(/[/&,+]|\band\b/i).map(colour);
  const known = parts.length <= 2 && parts.every(Boolean);
  const dot = el('span', { class: known ? 'swatch' : 'swatch unknown', 'aria-hidden': 'true' });
  if (known) dot.style.background = parts.length === 2 ? `linear-gradient(90deg, ${parts[0]} 50%, ${parts[1]} 50%)` : parts[0];
  return dot;
}

// ---- Cards ----

/** As many colours of one product are shown on its card; the others are counted. */
const SWATCHES = 6;

const siblings = new WeakMap();
/** The colours of a product that is sold in several, each a link to the sibling in that colour. */
function swatches({ id, title, swatches: all = [] }) {
  if (all.length < 2) return null;
  const one = (sibling) => {
    const dot = el('a', { class: sibling.in_stock ? 'dye' : 'dye out', href: productAddress(sibling.id), 'data-id': sibling.id, title: sibling.color,
      'aria-current': sibling.id === id ? 'true' : null }, swatch(sibling.color), unseen(`${title} in ${sibling.color}${sibling.in_stock ? '' : ', out of stock'}`));
    siblings.set(dot, sibling);
    return el('li', {}, dot);
  };
  const shown = all.length > SWATCHES + 1 ? all.slice(0, SWATCHES) : all;
  if (!shown.some((sibling) => sibling.id === id)) shown.splice(-1, 1, ...all.filter((sibling) => sibling.id === id));
  return el('ul', { class: 'dyes', 'aria-label': `${title}: colours` }, ...shown.map(one),
    all.length > shown.length ? el('li', { class: 'quiet' }, `+${whole(all.length - shown.length)}`, unseen(' colours')) : null);
}

// Another colour that is pointed at is seen in the card's own picture.
function preview({ target }) {
  const dot = target.closest?.('.dye');
  const source = dot && webUrl(siblings.get(dot)?.image ?? '');
  const image = source && dot.closest('.card').querySelector('.frame > img');
  if (!image || image.dataset.source === source.href) return;
  image.dataset.source = source.href;
  image.srcset = '';
  image.src = scaled(source, SHOT_WIDTHS[1]);
}
document.addEventListener('pointerover', preview);
document.addEventListener('focusin', preview);

const SHOT_WIDTHS = [360, 540, 720];
/** A card as a list item; `heading` is the level its title has where it stands, `inRow` whether that is a row of few. */
export function cardItem(card, at, heading = 'h2', inRow = false) {
  cards.set(card.id, { ...cards.get(card.id), ...card });
  const pct = card.discount_pct > 0 ? el('span', { class: 'badge' }, unseen('Price cut '), `−${card.discount_pct}%`) : null;
  const shot = { widths: SHOT_WIDTHS, sizes: inRow ? '10rem' : '(max-width: 40rem) 46vw, 15rem', letter: card.brand, eager: !inRow && at < 6 };
  // Variants that the store does not list may be in stock.
  const soldOut = !card.in_stock && card.variants_complete;
  return el('li', { class: soldOut ? 'card out' : 'card' },
    el('div', { class: 'frame' }, picture(card.image, shot), pct, soldOut ? el('span', { class: 'tag' }, 'Out of stock') : null),
    el('p', { class: 'by' }, el('span', { dir: 'auto' }, card.brand), stars(card.rating)),
    el(heading, { dir: 'auto' }, el('a', { class: 'to', href: productAddress(card.id), 'data-id': card.id }, card.title)),
    card.price_min_minor > 0 ? priceLine(card.price_min_minor, card.compare_at_minor, card.currency, false) : el('p', { class: 'price quiet' }, 'No price'),
    promise(card),
    swatches(card),
    el('button', { class: 'add', type: 'button', 'data-add': card.id, disabled: soldOut }, 'Add to cart', unseen(`: ${card.title}`)));
}

/** Places where cards will be. */
export const ghosts = (count) => Array.from({ length: count }, () => el('li', { class: 'card ghost', 'aria-hidden': 'true' }, el('div', { class: 'frame' }), el('p'), el('p')));
