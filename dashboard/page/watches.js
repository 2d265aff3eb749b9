// The account's watches: what each waits for, and how to pause or end it. They are made on a product's page, or through the API.

import { $, confirmed, el, time } from './dom.js';
import { ask } from './server.js';

/** Minor units as an amount; without a currency as they are. */
function amount(minor, currency) {
  if (!currency) return String(minor);
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
}

function waits({ price_below: price, currency, discount_at_least: share, back_in_stock: back, new_match: fresh }) {
  const words = [
    price !== null && `below ${amount(price, currency)}`, share !== null && `at least ${share} % off`,
    back && 'back in stock', fresh && 'a new product',
  ];
  return words.filter(Boolean).join(' · ');
}

/** Draws them, where there are any; a server of stored data alone has none. */
export async function drawWatches() {
  const watches = await ask('GET', '/v1/watches').catch((failure) => {
    if (failure.status === 404) return [];
    throw failure;
  });
  $('watches-part').hidden = !watches.length;
  const change = async (method, watch, body) => {
    await ask(method, `/v1/watches/${watch.id}`, body);
    await drawWatches();
    $('watches-title').focus();
  };
  $('watches').replaceChildren(...watches.map((watch) => {
    const name = watch.product?.title ?? watch.query;
    const paused = watch.paused_at !== null;
    return el('li', {},
      el('div', {},
        el('h3', {}, name, paused && el('span', { class: 'state' }, 'Paused')),
        el('p', { class: 'small' }, waits(watch.conditions), ' · tells ', watch.email ?? new URL(watch.webhook_url).host, ' · since ', time(watch.created_at))),
      el('button', {
        class: 'plain', type: 'button', 'aria-label': `${paused ? 'Go on with' : 'Pause'} the watch of ${name}`,
        click: () => change('PATCH', watch, { paused: !paused }).catch(() => {}),
      }, paused ? 'Go on' : 'Pause'),
      el('button', {
        class: 'plain', type: 'button', 'aria-label': `End the watch of ${name}`,
        click: () => confirmed({
          title: 'End the watch', text: `Nothing is told of ${name} any more.`, yes: 'End it', danger: true,
        }, () => change('DELETE', watch)),
      }, 'End'));
  }));
}
