// What the page is drawn with: elements, numbers, money. What stores say becomes text nodes, never markup.

export const $ = (id) => document.getElementById(id);

/** Where the page's parts lie, whichever of its documents is shown. */
export const ROOT = new URL('.', import.meta.url);
/** Whether this is the document of one product, which has no list. */
export const isItem = document.querySelector('main.item') !== null;
/** The level of headings below a product's title, and below those. */
export const [SECTION, BELOW] = isItem ? ['h2', 'h3'] : ['h3', 'h4'];

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
/** Text for screen readers alone, and text for eyes alone. */
export const unseen = (text) => el('span', { class: 'sr' }, text);
export const decor = (text) => el('span', { 'aria-hidden': 'true' }, text);

/** Without a key that asks the browser for another tab or window. */
export const bare = (event) => !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

export function debounced(wait, action) {
  let timer = 0;
  const later = () => { later.cancel(); timer = setTimeout(() => { timer = 0; action(); }, wait); };
  later.cancel = () => { clearTimeout(timer); timer = 0; };
  later.waits = () => timer !== 0;
  return later;
}

/** Draws anew inside `place`; what had the focus there has it again if it is still there. */
export function redraw(place, ...children) {
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...children);
  if (held !== undefined) [...place.querySelectorAll('[data-key]')].find((one) => one.dataset.key === held)?.focus({ preventScroll: true });
}

/** Text that this browser keeps under a name; '' where there is none or it may not. */
export const kept = (name) => { try { return localStorage.getItem(name) ?? ''; } catch { return ''; } };
export const keep = (name, text) => { try { localStorage.setItem(name, text); } catch { /* It lasts as long as the page. */ } };
export const forget = (name) => { try { localStorage.removeItem(name); } catch { /* Nothing is kept. */ } };

const number = new Intl.NumberFormat();
const oneDecimal = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
export const whole = (count) => number.format(count);
export const counted = ({ count, value_capped: isCapped }) => `${whole(count)}${isCapped ? '+' : ''}`;
export const tenths = (value) => oneDecimal.format(value);
export const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
export const day = (time) => days.format(new Date(time));
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const moment = (time) => moments.format(new Date(time));

const tab = { product: '', list: '' };
/** Names the tab: by the product that is open, else by what is listed. */
export function nameTab(news) {
  Object.assign(tab, news);
  const name = tab.product || tab.list;
  document.title = name ? `${name} · haat` : 'haat · every store, one search';
}

// Minor units by ISO 4217, as the server counts them. Browsers follow usage instead and state no decimals for HUF,
// IDR, PKR and others, which would show those prices a hundredfold.
const OTHER_EXPONENTS = new Map(Object.entries({
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 3: 'BHD IQD JOD KWD LYD OMR TND', 4: 'CLF UYW',
}).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)])));
export const exponent = (code) => OTHER_EXPONENTS.get(code) ?? 2;

const formats = new Map();
export function price(minor, code) {
  const digits = exponent(code);
  if (!formats.has(code)) {
    const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits, trailingZeroDisplay: 'stripIfInteger' };
    formats.set(code, new Intl.NumberFormat(undefined, code ? { style: 'currency', currency: code, ...decimals } : decimals));
  }
  return formats.get(code).format(minor / 10 ** digits);
}

/** The minor units that a field's amount means; '' for nothing, null for no amount. */
export function minorOf(field, code) {
  if (field.value === '') return field.validity.badInput ? null : '';
  const [, units, part = ''] = /^(\d{1,12})(?:\.(\d*))?$/.exec(field.value) ?? [];
  return units === undefined ? null : String(Number(units + part.slice(0, exponent(code)).padEnd(exponent(code), '0')));
}

/** The address if it is an absolute one of the web, else null. */
export function webUrl(text) {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}
