// Product cards, and what they are made of: pictures, prices, stars.

import { decor, el, price, tenths, unseen, webUrl, whole } from './dom.js';
import { address } from './state.js';

/** Every card that was seen, by id: a product opens with what is known of it. */
export const cards = new Map();

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

/** A card as a list item; `heading` is the level its title has where it stands. */
export function cardItem(card, at, heading = 'h2') {
  cards.set(card.id, { ...cards.get(card.id), ...card });
  const pct = card.discount_pct > 0 ? el('span', { class: 'badge' }, unseen('Price cut '), `−${card.discount_pct}%`) : null;
  const shot = { widths: [360, 540, 720], sizes: heading === 'h2' ? '(max-width: 40rem) 46vw, 15rem' : '10rem', letter: card.brand, eager: heading === 'h2' && at < 6 };
  return el('li', { class: card.in_stock ? 'card' : 'card out' },
    el('div', { class: 'frame' }, picture(card.image, shot), pct, card.in_stock ? null : el('span', { class: 'tag' }, 'Out of stock')),
    el('p', { class: 'by' }, el('span', { dir: 'auto' }, card.brand), stars(card.rating)),
    el(heading, { dir: 'auto' }, el('a', { href: address({ product: card.id }), 'data-id': card.id }, card.title)),
    priceLine(card.price_min_minor, card.compare_at_minor, card.currency, false));
}

/** Places where cards will be. */
export const ghosts = (count) => Array.from({ length: count }, () => el('li', { class: 'card ghost', 'aria-hidden': 'true' }, el('div', { class: 'frame' }), el('p'), el('p')));
