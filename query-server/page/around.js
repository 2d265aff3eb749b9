// What stands around a product: how its price went, what it costs to have it sent, and other products.

import { BELOW, day, el, plural, price, SECTION, svg, unseen, webUrl } from './dom.js';
import { cardItem, priceLine } from './cards.js';
import { isPincode, pincode as keptPincode, promise, setPincode, span, WRONG } from './place.js';
import { ask } from './server.js';
import { productAddress } from './state.js';

const ROWS = [['complement', 'Goes well with this'], ['related', 'Similar products']];

/** Parts that this server does not have; they are not asked for again. */
const unserved = new Set();

async function optional(part, path) {
  if (unserved.has(part)) return null;
  try {
    return await ask(path, `${part} of the product`);
  } catch (failure) {
    if (failure.unserved) unserved.add(part);
    return null;
  }
}

/** Rows of other products, each in its place below; an empty row stays away. */
export async function recommend(id, place, isOpen) {
  await Promise.all(ROWS.map(async ([intent, title], at) => {
    const path = `v1/recommend?${new URLSearchParams({ product_id: id, intent, limit: 12 })}`;
    const body = unserved.has('recommend') ? null : await ask(path, `recommend ${intent}`).catch((failure) => {
      if (failure.unserved) unserved.add('recommend');
      return null;
    });
    if (!isOpen() || !body?.data?.length) return;
    place.children[at].replaceChildren(el(SECTION, { id: `row-${intent}` }, title),
      el('ul', { class: 'row', tabindex: 0, 'aria-labelledby': `row-${intent}` }, ...body.data.map((card, index) => cardItem(card, index, BELOW, true))));
  }));
}

/** The places of the rows of `recommend`. */
export const rowPlaces = () => ROWS.map(() => el('section', { class: 'more' }));

// ---- Price line ----

/** The lowest price of all variants over time, oldest first: [time, minor] where it changed. */
function lowest(history) {
  const now = new Map();
  const line = [];
  const ascending = history.filter((one) => !Number.isNaN(Date.parse(one.observed_at)))
    .map((one) => ({ ...one, time: Date.parse(one.observed_at) })).sort((a, b) => a.time - b.time);
  for (const { time, variant_id: variant, price_minor: minor, available } of ascending) {
    // A variant that is gone has no price any more.
    if (Number.isFinite(minor)) now.set(variant, { minor, available });
    else now.delete(variant);
    if (now.size === 0) continue;
    const all = [...now.values()];
    const buyable = all.filter((one) => one.available);
    const least = Math.min(...(buyable.length ? buyable : all).map((one) => one.minor));
    if (line.at(-1)?.[0] === time) line.pop();
    if (line.at(-1)?.[1] !== least) line.push([time, least]);
  }
  return line;
}

const [WIDTH, HEIGHT, EDGE] = [480, 96, 6];

/** A stepped line: a price holds until the next one. Its ends are told beside it, where nothing cuts them. */
function drawn(line, code) {
  const [first, last] = [line[0][0], Math.max(Date.now(), line.at(-1)[0] + 1)];
  const prices = line.map(([, minor]) => minor);
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const x = (time) => (time - first) / (last - first) * WIDTH;
  const y = (minor) => HEIGHT - EDGE - (minor - least) / (most - least || 1) * (HEIGHT - 2 * EDGE);
  const steps = line.map(([time, minor], at) => (at ? `H${x(time).toFixed(1)}V${y(minor).toFixed(1)}` : `M${x(time).toFixed(1)} ${y(minor).toFixed(1)}`)).join('') + `H${x(last).toFixed(1)}`;
  const said = `Lowest ${price(least, code)}, highest ${price(most, code)}, now ${price(prices.at(-1), code)}.`;
  return el('figure', { class: 'history' },
    el('div', { class: 'plot' },
      el('p', { class: 'scale', 'aria-hidden': 'true' }, el('span', {}, price(most, code)), el('span', {}, price(least, code))),
      svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Price since ${day(first)}. ${said}` },
        svg('path', { class: 'area', d: `${steps}V${HEIGHT}H0Z` }), svg('path', { class: 'line', d: steps }))),
    el('figcaption', {}, el('span', {}, day(first)), el('span', {}, 'Today')),
    el('details', {}, el('summary', {}, plural(line.length - 1, 'change')),
      el('ol', {}, ...line.toReversed().map(([time, minor]) => el('li', {}, el('span', {}, price(minor, code)), el('time', { datetime: new Date(time).toISOString(), class: 'quiet' }, day(time)))))));
}

/** How the price went; nothing when it never changed. */
export async function priceHistory(product, place, isOpen) {
  const body = await optional('price-history', `v1/products/${encodeURIComponent(product.id)}/price-history?limit=1000`);
  if (!isOpen() || !Array.isArray(body?.data)) return;
  const line = lowest(body.data.filter((one) => !one.currency || one.currency === product.currency));
  if (line.length >= 2) place.replaceChildren(el(SECTION, {}, 'Price history'), drawn(line, product.currency));
}

// ---- Offers of other brands ----

const SAID = { barcode: 'Same barcode', model: 'Same maker and model number', title: 'Same maker, title and size' };
/** As many offers of others are shown. */
const OTHERS_MAX = 5;

function otherOffer(one, code) {
  const sent = one.delivery && promise(one, 'small');
  return el('li', {},
    el('a', { class: 'link', href: productAddress(one.id), 'data-id': one.id, dir: 'auto', 'aria-label': `${one.title}, at ${one.brand}` }, one.brand),
    one.price_minor > 0 ? priceLine(one.price_minor, one.compare_at_minor, one.currency) : el('p', { class: 'price quiet' }, 'No price'),
    el('p', { class: 'small' }, el('span', { class: one.available ? 'yes' : 'no' }, one.available ? 'In stock' : 'Out of stock'),
      ` · ${SAID[one.basis] ?? 'Same product'}`, one.currency === code ? '' : ` · priced in ${one.currency}`),
    sent);
}

/** What other brands ask for the same product; nothing where none is known to sell it. */
export async function otherOffers(product, place, isOpen) {
  const query = new URLSearchParams({ limit: OTHERS_MAX + 1, ...(keptPincode() ? { pincode: keptPincode() } : {}) });
  const body = await optional('offers', `v1/products/${encodeURIComponent(product.id)}/offers?${query}`);
  if (!isOpen() || !Array.isArray(body?.data)) return;
  const others = body.data.filter((one) => !one.is_this_product).slice(0, OTHERS_MAX);
  if (others.length === 0) return;
  place.replaceChildren(el(SECTION, { id: 'also-sold' }, 'Also sold by'),
    el('ul', { class: 'also', 'aria-labelledby': 'also-sold' }, ...others.map((one) => otherOffer(one, product.currency))));
}

// ---- Delivery ----

const unknown = () => el('span', { class: 'quiet' }, 'not known');
const known = (value) => value !== null && value !== undefined;

function tier(one, code) {
  const isOneValue = known(one.min_order_minor) && one.min_order_minor === one.max_order_minor;
  const range = isOneValue ? `of ${price(one.min_order_minor, code)}` : [known(one.min_order_minor) && one.min_order_minor > 0 ? `from ${price(one.min_order_minor, code)}` : '', known(one.max_order_minor) ? `up to ${price(one.max_order_minor, code)}` : ''].filter(Boolean).join(' ');
  return el('li', { dir: 'auto' }, [`${one.name}: ${one.amount_minor === 0 ? 'free' : known(one.amount_minor) ? price(one.amount_minor, code) : 'price not known'}`,
    range && `orders ${range}`, span(one.days_min, one.days_max)].filter(Boolean).join(' · '));
}

const BASIS = { pincode: 'Checked for this pincode', zone: 'From this pincode’s delivery zone' };
const LIKELY = 'Likely: the store was asked about places like this one';

/** What a store charges for delivery, as rows of a list of terms. */
export function termRows({ free_shipping_threshold_minor: free, cod_available: cod }, code) {
  return [['Free delivery', known(free) ? (free === 0 ? 'on every order' : `from ${price(free, code)}`) : unknown()],
    ['Cash on delivery', known(cod) ? (cod ? 'yes' : 'no') : unknown()]];
}
export const tierList = (tiers, code) => (tiers?.length ? el('ul', { class: 'tiers' }, ...tiers.map((one) => tier(one, code))) : null);

/** Where the answer comes from, and when the store was asked or its text read. */
function origins({ sources = {}, source_url: stated }) {
  const url = webUrl(stated ?? '');
  const isText = (one) => one.basis === 'policy' || one.basis === 'model';
  const [asked] = [sources.serviceable, sources.days, sources.cost].filter((one) => one && !isText(one));
  const read = Object.values(sources).find((one) => one && isText(one));
  const on = ({ at }) => (at ? ` on ${day(at)}` : '');
  const place = 'the store’s shipping policy';
  return [asked && `${asked.confidence === 'low' ? LIKELY : BASIS[asked.basis]}${on(asked)}.`,
    read && [' From ', url ? el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, place, unseen(' (opens in a new tab)')) : place, `, read${read.basis === 'model' ? ' by a language model' : ''}${on(read)}.`]].filter(Boolean).flat();
}

/** What is known of sending a product there; what is not is left out. */
function told(data) {
  const { delivery = {}, currency: code } = data;
  if (delivery.serviceable === false) return [el('p', { class: 'no' }, `Does not deliver to ${data.pincode}.`), el('p', { class: 'small' }, ...origins(data))];
  const dates = delivery.earliest_date && delivery.latest_date ? ` (${delivery.earliest_date === delivery.latest_date ? day(delivery.latest_date) : `${day(delivery.earliest_date)} to ${day(delivery.latest_date)}`})` : '';
  const time = span(delivery.days_min, delivery.days_max);
  const rows = [['Delivery time', time && time + dates],
    ['Delivery', known(delivery.cost_minor) ? (delivery.cost_minor === 0 ? 'free' : price(delivery.cost_minor, code)) : null],
    ...termRows(data, code)].filter(([, value]) => typeof value === 'string');
  const rates = tierList(delivery.rates?.length ? delivery.rates : data.tiers, code);
  if (rows.length === 0 && !rates) return [el('p', { class: 'small' }, delivery.serviceable ? 'The store delivers there, and tells no more.' : 'The store tells nothing of delivery there.')];
  // What the store's cart asked for this place says more than its terms.
  const from = origins(data);
  return [el('dl', {}, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])), rates,
    from.length ? el('p', { class: 'small' }, ...from) : null].filter(Boolean);
}

/** A field for a pincode, and what sending the product there takes; `moved` is called when it is another pincode. */
export function deliveryCheck(product, isOpen, moved) {
  if (product.delivers_to_india === false) return el('section', { class: 'delivery' }, el(SECTION, {}, 'Delivery'), el('p', { class: 'no' }, `${product.brand} does not deliver to India.`));
  if (unserved.has('shipping')) return '';
  const field = el('input', { id: 'pincode', type: 'text', inputmode: 'numeric', autocomplete: 'postal-code', maxlength: 6, placeholder: '560001', 'aria-describedby': 'pincode-said' });
  const answer = el('div', { id: 'pincode-said', class: 'told', 'aria-live': 'polite' });
  const section = el('section', { class: 'delivery' }, el(SECTION, {}, 'Delivery'));
  const check = async () => {
    const pincode = field.value.trim();
    const right = isPincode(pincode);
    field.setAttribute('aria-invalid', String(!right));
    if (!right) return answer.replaceChildren(el('p', { class: 'wrong' }, WRONG));
    if (pincode !== keptPincode()) {
      setPincode(pincode);
      moved();
    }
    try {
      const body = await ask(`v1/shipping?${new URLSearchParams({ product: product.id, pincode })}`, 'shipping');
      if (body && isOpen()) answer.replaceChildren(...told(body.data));
    } catch (failure) {
      if (!isOpen()) return;
      if (failure.unserved) {
        unserved.add('shipping');
        section.remove();
      } else answer.replaceChildren(el('p', { class: 'wrong' }, `${failure.title}. ${failure.text}`));
    }
  };
  const form = el('form', { submit: (event) => { event.preventDefault(); check(); } },
    el('label', { for: 'pincode' }, 'Pincode'), field, el('button', { class: 'plain', type: 'submit' }, 'Check', unseen(' delivery')));
  section.append(form, answer);
  field.value = keptPincode();
  if (field.value) check();
  return section;
}
