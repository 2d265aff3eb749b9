// Where things are to be sent: a pincode that the visitor told once. It stays in this browser and can be forgotten; it is asked with,
// and stands in no address that is shared.

import { $, el, forget, keep, kept, plural, redraw, unseen } from './dom.js';
import { go, state } from './state.js';

const KEPT = 'pincode';
export const isPincode = (text) => /^[1-9][0-9]{5}$/.test(text);
export const WRONG = 'A pincode has six digits and does not begin with 0.';

// Where the browser keeps nothing, it lasts as long as the page.
let told = kept(KEPT);
/** The visitor's pincode; '' where none is known. */
export const pincode = () => (isPincode(told) ? told : '');

const listeners = [];
/** Calls when the pincode is another one. */
export const onPincode = (changed) => { listeners.push(changed); };

/** Remembers a pincode; '' forgets it. */
export function setPincode(text) {
  if (text === pincode()) return;
  told = text;
  if (text) keep(KEPT, text);
  else forget(KEPT);
  for (const changed of listeners) changed();
}

/** What a question about products says of the place. Without one no date can filter. */
export const placeAsked = () => (pincode() ? { pincode: pincode(), deliver_by: state.deliver_by } : {});

// ---- What is told of delivery ----

const known = (value) => value !== null && value !== undefined;
/** So many days, in words; null where neither bound is known. */
export function span(least, most) {
  if (!known(least) && !known(most)) return null;
  if (!known(most)) return `${plural(least, 'day')} or more`;
  if (!known(least)) return `up to ${plural(most, 'day')}`;
  return least === most ? plural(most, 'day') : `${least} to ${plural(most, 'day')}`;
}

/** What is known of the delivery of a product, in few words; null where nothing is. */
export function promise({ delivery }, kind = 'sent') {
  if (!delivery || !pincode()) return null;
  if (delivery.serviceable === false) return el('p', { class: `${kind} no` }, `No delivery to ${pincode()}`);
  const time = span(delivery.days_min, delivery.days_max);
  const words = [delivery.free_shipping ? 'Free delivery' : '', delivery.cod ? 'Cash on delivery' : ''].filter(Boolean).join(' · ');
  if (!time && !words) return null;
  const when = kind === 'sent' ? [unseen('Delivery '), `In ${time}`] : [`Delivery to ${pincode()} in ${time}`];
  return el('p', { class: kind }, time ? el('span', { class: 'when' }, ...when) : null, time && words ? unseen(', ') : null, words ? el('span', {}, words) : null);
}

// ---- The place above a list ----

const place = $('place');
let changing = false;
onPincode(() => { changing = false; });

const DAY_MS = 86400000;
const AHEAD = [1, 2, 3, 5, 7, 10, 14];
const pad = (number) => String(number).padStart(2, '0');
/** The date that a calendar here shows so many days from now, as ISO 8601 writes it. */
export function dateIn(days) {
  const date = new Date(Date.now() + days * DAY_MS);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}
const weekdays = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
/** A date in words; at noon, no time zone moves it. */
export const dated = (iso) => (Number.isNaN(Date.parse(iso)) ? iso : weekdays.format(new Date(`${iso}T12:00:00`)));

function dates() {
  const offered = AHEAD.map(dateIn);
  if (state.deliver_by && !offered.includes(state.deliver_by)) offered.push(state.deliver_by);
  const choice = el('select', { id: 'deliver-by', 'data-key': 'deliver-by', change: () => go({ deliver_by: choice.value }) },
    el('option', { value: '' }, 'Any day'), ...offered.sort().map((date) => el('option', { value: date }, `By ${dated(date)}`)));
  choice.value = state.deliver_by;
  return choice;
}

function clear() {
  $('place-pincode').value = '';
  setPincode('');
  go({ deliver_by: '' });
  showPlace();
}

function form() {
  const field = el('input', { id: 'place-pincode', 'data-key': 'pincode', type: 'text', inputmode: 'numeric', autocomplete: 'postal-code', maxlength: 6, placeholder: '560001', 'aria-describedby': 'place-said' });
  const said = el('p', { id: 'place-said', class: 'wrong', role: 'alert' });
  field.value = pincode();
  const take = (event) => {
    event.preventDefault();
    const text = field.value.trim();
    field.setAttribute('aria-invalid', String(!isPincode(text)));
    if (!isPincode(text)) return said.replaceChildren(WRONG);
    changing = false;
    field.value = '';
    setPincode(text);
    showPlace();
    place.querySelector('button')?.focus({ preventScroll: true });
  };
  return el('form', { submit: take }, el('label', { for: 'place-pincode' }, state.deliver_by && !pincode() ? `For what comes by ${dated(state.deliver_by)}, pincode` : 'Deliver to pincode'),
    field, el('button', { class: 'plain', type: 'submit' }, 'Show', unseen(' delivery')),
    pincode() ? el('button', { class: 'link', type: 'button', 'data-key': 'forget', click: clear, title: 'Remove it from this browser' }, 'Forget', unseen(' the pincode')) : null, said);
}

/** Asks for the pincode, or says which one is known. */
export function showPlace() {
  if (!place) return;
  if (!pincode() || changing) {
    // What is being typed stays.
    if (!$('place-pincode')?.value) redraw(place, form());
    return;
  }
  const change = () => { changing = true; redraw(place, form()); $('place-pincode').focus(); };
  redraw(place, el('p', {}, 'Deliver to ', el('button', { class: 'link', type: 'button', 'data-key': 'change', click: change, title: 'Change the pincode' }, pincode(), unseen(': change the pincode'))),
    el('label', { class: 'sr', for: 'deliver-by' }, 'Arrives by'), dates());
}
