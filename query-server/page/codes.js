// Codes that work at a brand's own store, tried there when the visitor wants to know.

import { el, moment, plural, price } from './dom.js';
import { ask, signIn } from './server.js';

const UNTESTED_SHOWN = 3;

/** Whether this server does not try codes; it is not asked for again. */
let unserved = false;

const share = (one) => (one.kind === 'percentage' && one.subtotal_minor > 0 ? ` (${Math.round(one.discount_minor / one.subtotal_minor * 100)}%)` : '');
const takesOff = (one) => (one.discount_minor > 0 ? `${price(one.discount_minor, one.currency)} off${share(one)}`
  : one.kind === 'shipping' ? 'off delivery' : 'works; the saving shows once delivery is chosen');

const entry = (one) => el('li', {}, el('code', {}, one.code), el('b', {}, takesOff(one)),
  el('time', { class: 'quiet', datetime: one.tested_at }, `tested ${moment(one.tested_at)}`));

function found(data) {
  const { coupons, tested, untested } = data;
  if (!data.product_id) return [el('p', { class: 'quiet' }, 'No product of this brand is in stock, so no code can be tried.')];
  const rest = untested.length ? ` ${plural(untested.length, 'code')} could not be tried: ${untested.slice(0, UNTESTED_SHOWN).map(({ code }) => code).join(', ')}${untested.length > UNTESTED_SHOWN ? ', …' : ''}.` : '';
  return [coupons.length ? el('ul', { class: 'codes' }, ...coupons.map(entry)) : el('p', {}, 'None of the known codes works here right now.'),
    el('p', { class: 'small' }, `${plural(tested, 'code')} tried on one item.${rest}`)];
}

/** Why no codes are shown, and a way on. */
function wrong(failure) {
  if (failure.status === 401) return el('p', {}, el('a', { class: 'link', href: signIn() }, 'Sign in'), ' to try codes at the store.');
  if (failure.code?.startsWith('store_')) return el('p', { class: 'wrong' }, 'The store is not answering right now. Try again later.');
  return el('p', { class: 'wrong' }, `${failure.title}. ${failure.text}`);
}

const took = ({ percent, discount_minor: minor, currency, kind }) => (percent ? `${percent}% off`
  : minor ? `${price(minor, currency)} off` : kind === 'shipping' ? 'off delivery' : 'it works');
const ELSEWHERE = { this_store: ', on other goods' };
const KNOWN_SHOWN = 3;

/** The codes that worked at the store when they were last tried, in one line; empty where none is known. */
export function knownCodes(discounts) {
  if (!discounts?.length) return '';
  const shown = discounts.slice(0, KNOWN_SHOWN).flatMap((one, at) => [at ? '; ' : '', el('code', {}, one.code),
    `: ${took(one)}${ELSEWHERE[one.basis] ?? ''}, seen `, el('time', { datetime: one.tested_at }, moment(one.tested_at))]);
  return el('p', { class: 'small' }, 'Codes that worked here: ', ...shown, '.');
}

/** A button that has codes tried, and what came of it; empty where this server does not try codes. */
export function codeFinder(of, brand, isOpen) {
  if (unserved) return '';
  const answer = el('div', { class: 'told', role: 'status' });
  const button = el('button', { class: 'plain', type: 'button' }, 'Find codes that work');
  const place = el('section', { class: 'finder' }, button, answer);
  let asking = false;
  button.addEventListener('click', async () => {
    if (asking) return;
    asking = true;
    button.setAttribute('aria-busy', 'true');
    answer.replaceChildren(el('p', { class: 'quiet' }, `Trying codes at ${brand}…`));
    try {
      const body = await ask(`v1/coupons?${new URLSearchParams(of)}`, `codes of the ${Object.keys(of)[0]}`, 60000);
      if (body && isOpen()) answer.replaceChildren(...found(body.data));
      button.textContent = 'Find codes again';
    } catch (failure) {
      unserved = failure.unserved;
      if (unserved) return place.remove();
      answer.replaceChildren(wrong(failure));
    } finally {
      asking = false;
      button.removeAttribute('aria-busy');
    }
  });
  return place;
}
