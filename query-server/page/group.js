// One brand's part of the cart: its lines, its codes, its ways of delivery.

import { decor, el, moment, plural, price, svg, unseen } from './dom.js';
import { picture } from './cards.js';
import { addCode, removeCode, removeLine, setDelivery, setQty } from './cart.js';
import { productAddress } from './state.js';

const QTY_MAX = 999;
/** How long a quantity stands before it is told, so that three clicks are one change. */
const QTY_PAUSE_MS = 400;

/** For how long it is not worth a line when a store told what stands here. */
const FRESH_MS = 120000;

/** Quantities that were chosen and are not told yet, by line; codes that are typed, by brand. */
const chosen = new Map();
const typed = new Map();

const cross = () => svg('svg', { viewBox: '0 0 20 20', width: 14, height: 14, 'aria-hidden': 'true', focusable: 'false' }, svg('path', { d: 'm5 5 10 10M15 5 5 15' }));

function stepper(line, run) {
  const { line_id: id, title } = line;
  const pending = chosen.get(id);
  const start = pending?.qty ?? Math.max(line.qty, 1);
  const shown = el('span', { class: 'qty' }, String(pending?.qty ?? line.qty));
  // The store has no more than it gave.
  const most = line.qty < line.requested_qty ? Math.max(line.qty, 1) : QTY_MAX;
  let now = start;
  const step = (by) => {
    const qty = Math.min(Math.max(now + by, 1), most);
    if (qty === now) return;
    now = qty;
    shown.textContent = String(qty);
    limit();
    clearTimeout(chosen.get(id)?.timer);
    const tell = () => run('Changing the quantity…', () => setQty(id, qty), () => `${title}: ${qty}`, () => { if (chosen.get(id)?.qty === qty) chosen.delete(id); });
    chosen.set(id, { qty, timer: setTimeout(tell, QTY_PAUSE_MS) });
  };
  const button = (by, sign, name) => el('button', { type: 'button', 'aria-label': `${name} of ${title}`, 'data-key': `${name} ${id}`, click: () => step(by) }, decor(sign));
  const [less, more] = [button(-1, '−', 'One less'), button(1, '+', 'One more')];
  const limit = () => {
    less.setAttribute('aria-disabled', String(now <= 1));
    more.setAttribute('aria-disabled', String(now >= most));
  };
  limit();
  return el('div', { class: 'stepper', role: 'group', 'aria-label': `Quantity of ${title}` }, less, shown, more);
}

function shortage({ qty, requested_qty: asked, available }) {
  if (qty === 0) return 'Sold out. You will not be charged for it.';
  if (qty < asked) return `The store has only ${qty} of the ${asked} you asked for.`;
  return available ? '' : 'The store is not selling it right now.';
}

function lineItem(line, code, run) {
  const wrong = shortage(line);
  const remove = () => {
    clearTimeout(chosen.get(line.line_id)?.timer);
    chosen.delete(line.line_id);
    run(`Removing ${line.title}…`, () => removeLine(line.line_id), () => `${line.title} was removed.`);
  };
  return el('li', { class: line.qty === 0 ? 'cart-line out' : 'cart-line' },
    el('div', { class: 'thumb' }, picture(line.image, { widths: [120, 180], sizes: '64px', letter: line.title })),
    el('div', { class: 'what' },
      el('a', { class: 'title', dir: 'auto', href: productAddress(line.product_id), 'data-id': line.product_id }, line.title),
      line.variant_title ? el('p', { class: 'small', dir: 'auto' }, line.variant_title) : null,
      wrong ? el('p', { class: 'short' }, wrong) : null,
      line.price_changed ? el('p', { class: 'short' }, `It was shown for ${price(line.price_changed.shown_minor, line.price_changed.shown_currency)}.`) : null,
      el('div', { class: 'doing' }, line.qty === 0 ? null : stepper(line, run),
        el('button', { class: 'link', type: 'button', 'data-key': `remove ${line.line_id}`, click: remove }, 'Remove', unseen(` ${line.title}`)))),
    el('div', { class: 'cost' }, el('b', {}, price(line.line_total_minor, code)),
      line.qty > 1 ? el('span', { class: 'quiet' }, `${price(line.unit_price_minor, code)} each`) : null,
      line.discount_minor > 0 ? el('span', { class: 'less' }, `−${price(line.discount_minor, code)}`) : null));
}

function codeChip(one, group, run) {
  const why = one.refusal?.detail;
  const remove = () => run(`Removing the code ${one.code}…`, () => removeCode(group.brand_slug, one.code), () => `The code ${one.code} was removed.`);
  const effect = !one.applicable ? 'does not apply' : one.discount_minor > 0 ? `−${price(one.discount_minor, group.currency)}` : 'applies';
  return el('li', { class: one.applicable ? 'code on' : 'code' }, el('code', {}, one.code), el('span', {}, effect, why ? el('span', { class: 'why', dir: 'auto' }, `: ${why}`) : null),
    el('button', { type: 'button', 'aria-label': `Remove the code ${one.code}`, 'data-key': `no code ${group.brand_slug} ${one.code}`, click: remove }, cross()));
}

function codeForm(group, run) {
  const { brand, brand_slug: slug } = group;
  const field = el('input', { type: 'text', maxlength: 64, 'aria-label': `Discount code for ${brand}`, placeholder: 'Discount code', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', 'data-key': `code ${slug}`,
    input: () => typed.set(slug, field.value) });
  field.value = typed.get(slug) ?? '';
  const submit = (event) => {
    event.preventDefault();
    const code = field.value.trim();
    if (!code) return field.focus();
    run(`Trying ${code} at ${brand}…`, () => addCode(slug, code), (cart) => {
      typed.delete(slug);
      const now = cart.groups.find((one) => one.brand_slug === slug);
      const verdict = now?.discount_codes.find((one) => one.code.toLowerCase() === code.toLowerCase());
      if (!verdict) return `${brand} did not accept the code ${code}.`;
      return verdict.applicable ? `${code} takes ${price(verdict.discount_minor, now.currency)} off.` : `${code} does not apply to this cart.`;
    });
  };
  return el('form', { class: 'code-form', submit }, field, el('button', { class: 'plain', type: 'submit', 'data-key': `apply ${slug}` }, 'Apply', unseen(` the code at ${brand}`)));
}

function days({ days_min: least, days_max: most }) {
  if (least === null && most === null) return '';
  if (least === null || most === null || least === most) return plural(most ?? least, 'day');
  return `${least} to ${plural(most, 'day')}`;
}

function deliveries(group, run) {
  const { brand_slug: slug, currency } = group;
  const option = (one) => el('label', { class: 'way' },
    el('input', { type: 'radio', name: `delivery ${slug}`, value: one.handle, checked: one.selected, 'data-key': `way ${slug} ${one.handle}`,
      change: () => run(`Choosing ${one.title}…`, () => setDelivery(slug, one.handle), () => `${group.brand} delivers by ${one.title}.`) }),
    el('span', { dir: 'auto' }, one.title, days(one) ? el('span', { class: 'quiet' }, ` · ${days(one)}`) : null),
    el('b', {}, one.amount_minor === 0 ? 'free' : price(one.amount_minor, currency)));
  return el('fieldset', { class: 'ways' }, el('legend', {}, 'Delivery'), ...group.delivery_options.map(option));
}

/** Rows of a sum that are worth a line: what is taken off, and what comes on top. */
export function sumRows(sum, last, hasDelivery) {
  const { currency: code } = sum;
  const plain = sum.discount_minor === 0 && sum.delivery_minor === 0 && sum.other_minor === 0 && !hasDelivery;
  const rows = [!plain && ['Items', price(sum.subtotal_minor, code)], sum.discount_minor > 0 && ['Discounts', `−${price(sum.discount_minor, code)}`, 'less'],
    (hasDelivery || sum.delivery_minor > 0) && ['Delivery', sum.delivery_minor === 0 ? 'free' : price(sum.delivery_minor, code)],
    sum.other_minor !== 0 && ['Taxes and other', price(sum.other_minor, code)], [last, price(sum.total_minor, code), 'total']].filter(Boolean);
  return rows.flatMap(([name, value, kind]) => [el('dt', { class: kind }, name), el('dd', { class: kind }, value)]);
}

/** A brand's part of the cart; `run` does a change with words for it. */
export function groupSection(group, run) {
  const { brand_slug: slug, currency } = group;
  const atCodes = group.discount_codes.map(({ refusal }) => refusal?.detail);
  const said = group.warnings.filter((warning) => !atCodes.includes(warning.detail) && !(warning.line_id && group.lines.some((line) => line.line_id === warning.line_id && shortage(line))));
  const title = `cart-${slug}`;
  const fresh = group.verified || Date.now() - Date.parse(group.as_of) < FRESH_MS;
  return el('section', { class: 'cart-group', 'aria-labelledby': title },
    el('h3', { id: title, dir: 'auto' }, group.brand),
    fresh ? null : el('p', { class: 'small' }, `As of ${moment(group.as_of)}.`),
    el('ul', { class: 'cart-lines' }, ...group.lines.map((line) => lineItem(line, currency, run))),
    group.discount_codes.length || group.automatic_discounts.length ? el('ul', { class: 'cart-codes', 'aria-label': `Discounts at ${group.brand}` },
      ...group.discount_codes.map((one) => codeChip(one, group, run)),
      ...group.automatic_discounts.map((one) => el('li', { class: 'code on' }, el('span', { dir: 'auto' }, one.title), el('span', {}, `−${price(one.discount_minor, currency)}`)))) : null,
    ...[...new Set(said.map(({ detail }) => detail))].map((detail) => el('p', { class: 'short', dir: 'auto' }, detail)),
    codeForm(group, run),
    group.delivery_options.length ? deliveries(group, run) : null,
    el('dl', { class: 'sums' }, ...sumRows(group, `Total at ${group.brand}`, group.delivery_options.some(({ selected }) => selected))));
}
