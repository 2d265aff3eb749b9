// The price filter: a range, its currency, and how the prices of what is listed lie.

import { $, debounced, el, exponent, minorOf, plural, price, svg, unseen } from './dom.js';
import { go, state } from './state.js';

const panel = $('filters');
const currency = $('currency');
const [low, high] = [panel.elements.price_min, panel.elements.price_max];
export const chosenCurrency = () => currency.value;

let told = null;
/** Takes what an answer says of prices; `null` for one that says nothing. */
export function takePriceRange(prices) {
  told = prices;
  showPrices();
}

const [WIDTH, HEIGHT] = [200, 40];
export function showPrices() {
  const bins = told?.histogram ?? [];
  const most = Math.max(0, ...bins.map((bin) => bin.count));
  const known = told && told.currency && told.min_minor !== null && told.min_minor !== undefined;
  $('histogram').hidden = bins.length < 2 || most === 0;
  low.placeholder = known ? `${Math.floor(told.min_minor / 10 ** exponent(told.currency))}` : 'From';
  high.placeholder = known ? `${Math.ceil(told.max_minor / 10 ** exponent(told.currency))}` : 'To';
  if ($('histogram').hidden) return $('histogram').replaceChildren();
  const money = (minor) => price(minor, told.currency);
  const [from, to] = [Number(state.price_min || -Infinity), Number(state.price_max || Infinity)];
  const step = WIDTH / bins.length;
  const bar = (bin, at) => {
    const height = bin.count && Math.max(2, bin.count / most * HEIGHT);
    const inside = bin.to_minor > from && bin.from_minor <= to;
    const pick = () => go({ price_min: String(Math.max(0, bin.from_minor)), price_max: String(bin.to_minor - 1), currency: told.currency });
    return svg('g', { class: inside ? 'bin' : 'bin outside', click: pick }, svg('title', {}, `${money(bin.from_minor)} to ${money(bin.to_minor)}: ${plural(bin.count, 'product')}`),
      svg('rect', { class: 'catch', x: at * step, y: 0, width: step, height: HEIGHT }),
      svg('rect', { x: at * step + 1, y: HEIGHT - height, width: step - 2, height, rx: 1.5 }));
  };
  const top = bins.find((bin) => bin.count === most);
  $('histogram').replaceChildren(
    svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...bins.map(bar)),
    el('p', { class: 'ends', 'aria-hidden': 'true' }, el('span', {}, money(told.min_minor)), el('span', {}, money(told.max_minor))),
    unseen(`Prices from ${money(told.min_minor)} to ${money(told.max_minor)}, most between ${money(top.from_minor)} and ${money(top.to_minor)}.`));
}

function priceNote(problem) {
  $('price-note').textContent = problem || (told?.left_out ? `Only prices in ${told.currency} are shown. Products in other currencies are left out.` : '');
  for (const field of [low, high]) field.setAttribute('aria-invalid', String(problem !== ''));
}

const currencyNames = new Intl.DisplayNames(undefined, { type: 'currency', fallback: 'none' });
export function addCurrency(code) {
  if (!code || [...currency.options].some((option) => option.value === code)) return;
  currency.append(el('option', { value: code }, [code, currencyNames.of(code)].filter(Boolean).join(' · ')));
}
/** Offers these currencies first. */
export function offerCurrencies(codes) {
  const before = [...currency.options].map((option) => option.value);
  currency.replaceChildren();
  for (const code of [...codes, ...before]) addCurrency(code);
}

export function takePrices() {
  pricesTyped.cancel();
  const [from, to] = [low, high].map((field) => minorOf(field, currency.value));
  if (from === null || to === null) priceNote('Enter an amount, such as 1200.');
  else if (from && to && Number(from) > Number(to)) priceNote('The lowest price is above the highest.');
  else go({ price_min: from, price_max: to, currency: currency.value });
}
const pricesTyped = debounced(400, takePrices);

/** Makes the fields show the state, save one that is being typed in. */
export function syncPrices() {
  if (state.currency) { addCurrency(state.currency); currency.value = state.currency; }
  for (const field of [low, high]) {
    const text = state[field.name] && String(Number(state[field.name]) / 10 ** exponent(currency.value));
    if (field !== document.activeElement && !pricesTyped.waits() && field.value !== text) field.value = text;
    field.step = 10 ** -exponent(currency.value);
  }
  showPrices();
  priceNote('');
}

panel.addEventListener('input', ({ target }) => { if (target === low || target === high) pricesTyped(); });
currency.addEventListener('change', takePrices);
