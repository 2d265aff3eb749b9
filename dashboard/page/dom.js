// What the page is drawn with. What the server says becomes text nodes, never markup.

export const $ = (id) => document.getElementById(id);

function build(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false && child !== ''));
  return node;
}

/** Builds an element; texts among the children become text nodes, empty ones are left out. */
export const el = (tag, props = {}, ...children) => build(document.createElement(tag), props, children);
export const svg = (tag, props = {}, ...children) => build(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);

const number = new Intl.NumberFormat();
export const whole = (count) => number.format(count);
export const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const shortDays = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const ownDays = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
/** A day of the market, `2026-11-23`: no moment, so no time zone moves it. */
export const day = (text) => days.format(new Date(`${text}T00:00:00Z`));
export const shortDay = (text) => shortDays.format(new Date(`${text}T00:00:00Z`));
const isoDays = new Intl.DateTimeFormat('sv-SE');
/** A day of the market at most the visitor's own today: where it has not begun for them, all of it until now is today for them. */
export const pastDay = (text) => day([text, isoDays.format(new Date())].sort()[0]);
/** The visitor's own day of a moment. */
export const dayOf = (text) => ownDays.format(new Date(text));
export const moment = (text) => moments.format(new Date(text));
export const time = (text) => el('time', { datetime: text }, moment(text));

/** Says something where it is read out, or nothing. */
export function say(id, text) {
  const place = $(id);
  place.textContent = text;
  if (place.hidden !== undefined && place.matches('.banner, .door .wrong')) place.hidden = !text;
}

/**
 * Asks before something is done, in a dialog. `act` does it with the dialog's form, and what it fails with is said there.
 * The focus goes back to where it was.
 */
export function confirmed({ title, text, field = [], yes, danger = false }, act) {
  const dialog = $('ask');
  const opener = document.activeElement;
  $('ask-title').textContent = title;
  $('ask-text').textContent = text;
  $('ask-field').replaceChildren(...field);
  $('ask-yes').textContent = yes;
  $('ask-yes').classList.toggle('danger', danger);
  $('ask-wrong').textContent = '';
  const form = $('ask-form');
  form.onsubmit = async (event) => {
    event.preventDefault();
    $('ask-yes').disabled = true;
    try {
      await act(form);
      dialog.close('done');
    } catch (failure) {
      $('ask-wrong').textContent = failure.text;
    } finally {
      $('ask-yes').disabled = false;
    }
  };
  $('ask-no').onclick = () => dialog.close('no');
  dialog.onclose = () => { if (opener?.isConnected && !dialog.keeps) opener.focus(); };
  dialog.showModal();
}
