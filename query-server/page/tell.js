// To be told by mail: when the price of a product falls, or it is back in stock.

import { el, exponent, minorOf } from './dom.js';
import { DASHBOARD, send, signIn, whoIsHere } from './server.js';

/** The part of an address that opens the form, for whoever comes back from signing in. */
const PART = '#tell';
/** Whether this server tells nothing by mail; it is not asked for again. */
let unserved = false;

const link = (href, text) => el('a', { class: 'link', href }, text);

/** Why a watch is not made, in a visitor's words. */
function wrong(failure) {
  if (failure.status === 422) return 'This was not understood. Name a price above 0.';
  return failure.status === 403 ? failure.detail : `${failure.title}. ${failure.text}`;
}

/** The form of whoever has an address; `done` takes what is shown once the watch is made. */
function form(product, email, done) {
  const price = el('input', { id: 'tell-price', type: 'number', min: 0, step: 10 ** -exponent(product.currency), inputmode: 'decimal', 'aria-describedby': 'tell-said' });
  const stock = el('input', { type: 'checkbox', checked: !product.in_stock });
  const said = el('p', { id: 'tell-said', class: 'wrong', role: 'alert' });
  const button = el('button', { class: 'plain', type: 'submit' }, 'Tell me');
  const take = async (event) => {
    event.preventDefault();
    const below = minorOf(price, product.currency);
    price.setAttribute('aria-invalid', String(below === null));
    if (below === null || (below === '' && !stock.checked)) return said.replaceChildren('Name a price, or choose “back in stock”.');
    button.disabled = true;
    said.replaceChildren();
    try {
      await send('POST', 'v1/watches', { product_id: product.id, email, back_in_stock: stock.checked, price_below: below === '' ? undefined : Number(below) });
      done(el('p', {}, `A mail to ${email} will tell you. `, link(DASHBOARD, 'Your watches')));
    } catch (failure) {
      if (failure.unserved) unserved = true;
      said.replaceChildren(wrong(failure));
    } finally {
      button.disabled = false;
    }
  };
  return el('form', { submit: take },
    el('label', { for: 'tell-price' }, `The price falls below (${product.currency})`), price,
    el('label', { class: 'check' }, stock, el('span', {}, 'It is back in stock')), button, said);
}

/** What whoever is here can do to be told; null where this server tells nobody. */
function ways(here, product, done) {
  if (!here?.mail) return null;
  if (!here.signed_in) return el('p', {}, link(signIn(PART), 'Sign in by mail'), ' to be told of this product.');
  const { email } = here.account ?? {};
  return email ? form(product, email, done) : el('p', {}, 'Mails go to an address that you sign in with by mail. ', link(DASHBOARD, 'Your account'));
}

/** A button that asks what to wait for; empty where this server tells nobody. */
export function tellMe(product, isOpen) {
  if (unserved) return '';
  const answer = el('div', { class: 'told', 'aria-live': 'polite' });
  const button = el('button', { class: 'plain', type: 'button', 'aria-expanded': 'false' }, 'Tell me when…');
  const place = el('section', { class: 'tell' }, button, answer);
  const open = async () => {
    button.disabled = true;
    const way = ways(await whoIsHere(), product, (...shown) => answer.replaceChildren(...shown));
    button.disabled = false;
    if (!isOpen()) return;
    unserved = !way;
    if (unserved) return place.remove();
    button.setAttribute('aria-expanded', 'true');
    answer.replaceChildren(way);
    answer.querySelector('input, a')?.focus({ preventScroll: true });
  };
  button.addEventListener('click', open);
  if (location.hash === PART) open();
  return place;
}
