// What a product costs at its brand's own store, asked when the visitor wants to know.

import { el, moment, plural, price, unseen } from './dom.js';
import { ask } from './server.js';

/** Why a price is not verified, in a visitor's words. */
const WHY = {
  product_gone: 'The store no longer sells this product.',
  store_timeout: 'The store did not answer in time.',
  store_throttled: 'The store is receiving too many requests right now.',
  store_unavailable: 'The store cannot be reached right now.',
  store_unreadable: 'The store’s answer could not be read.',
  currency_differs: 'The store answers in another currency here.',
  currency_unknown: 'The store does not say which currency it answers in.',
  busy: 'Too many stores are being checked right now.',
};
/** Most variants that are listed one by one. */
const LISTED_MAX = 60;

/** Whether this server does not ask stores; it is not asked for again. */
let unserved = false;

const stock = (available) => el('span', { class: available ? 'yes' : 'no' }, available ? 'In stock' : 'Out of stock');

/** What is different about one variant, in words. */
function difference({ before, now }, currency) {
  if (!before) return 'new';
  if (!now) return 'gone';
  const words = [];
  if (before.amount_minor !== now.amount_minor) words.push(`was ${price(before.amount_minor, currency)}`);
  else if (before.compare_at_minor !== now.compare_at_minor) words.push('another list price');
  if (before.available !== now.available) words.push(now.available ? 'back in stock' : 'sold out since');
  return words.join(', ');
}

function variantRow(variant, change, told) {
  const changed = change ? el('span', { class: 'change' }, difference(change, told.currency)) : null;
  return el('li', {}, el('span', { class: 'name', dir: 'auto' }, variant.title || 'This product'),
    el('span', {}, price(variant.amount_minor, told.currency)), told.verified ? stock(variant.available) : null, changed);
}

/** How many variants are different, and in what. */
function summary({ price: prices, stock: stocks, variants }) {
  if (variants.length === 0) return 'Nothing changed since the last crawl.';
  const what = [prices ? 'price' : '', stocks ? 'stock' : ''].filter(Boolean).join(' and ') || 'list price';
  return `${plural(variants.length, 'variant')} changed in ${what} since the last crawl.`;
}

/** The prices of all variants; without a number where some are not listed. */
function range({ price_min_minor: least, price_max_minor: most, currency }) {
  if (least === null) return 'Prices differ by variant';
  return most > least ? `${price(least, currency)} to ${price(most, currency)}` : price(least, currency);
}

function verified(told) {
  const changes = new Map(told.changes.variants.map((change) => [change.variant_id, change]));
  const gone = told.changes.variants.filter(({ now }) => !now).map(({ variant_id: id, before }) => ({ variant_id: id, title: id, ...before }));
  const rows = [...told.variants, ...gone];
  return [el('p', { class: 'verdict' }, el('b', { class: 'yes' }, 'Verified at the store'), el('time', { datetime: told.as_of, class: 'quiet' }, moment(told.as_of))),
    el('p', {}, el('b', {}, range(told)), told.in_stock === null ? '' : ` · ${stock(told.in_stock)}`),
    el('p', { class: told.changes.variants.length ? 'change' : 'quiet' }, summary(told.changes)),
    el('ul', { class: 'now' }, ...rows.slice(0, LISTED_MAX).map((variant) => variantRow(variant, changes.get(variant.variant_id), told))),
    rows.length > LISTED_MAX ? el('p', { class: 'small' }, `and ${plural(rows.length - LISTED_MAX, 'more variant')}`) : null,
    told.variants_complete ? null : el('p', { class: 'quiet' }, 'The store has variants that are not listed here.')];
}

function unverified(told) {
  const verdict = told.code === 'product_gone' ? 'Gone from the store' : 'Not verified';
  return [el('p', { class: 'verdict' }, el('b', { class: 'no' }, verdict), unseen(': '), el('span', {}, WHY[told.code] ?? told.detail)),
    told.code === 'product_gone' ? null : el('p', {}, `Last seen ${told.price_min_minor === null ? '' : `at ${price(told.price_min_minor, told.currency)}, `}${moment(told.snapshot_at)}. It may have changed.`)];
}

/** The check of a product's price; empty where this server does not ask stores. `atOnce` asks without a click. */
export function liveCheck(product, isOpen, atOnce) {
  if (unserved) return '';
  const answer = el('div', { class: 'told', role: 'status' });
  const button = el('button', { class: 'plain', type: 'button' }, 'Check price now');
  const place = el('section', { class: 'live' }, button, answer);
  const check = async () => {
    button.disabled = true;
    answer.replaceChildren(el('p', { class: 'quiet' }, `Asking ${product.brand}…`));
    try {
      const body = await ask(`v1/products/${encodeURIComponent(product.id)}/price`, 'live price');
      if (!body || !isOpen()) return;
      const shown = body.data.verified ? verified(body.data) : unverified(body.data);
      answer.replaceChildren(...shown.filter(Boolean));
      button.textContent = 'Check again';
    } catch (failure) {
      unserved = failure.unserved;
      if (unserved) return place.remove();
      answer.replaceChildren(el('p', { class: 'wrong' }, `${failure.title}. ${failure.text}`));
    } finally {
      button.disabled = false;
    }
  };
  button.addEventListener('click', check);
  if (atOnce) check();
  return place;
}
