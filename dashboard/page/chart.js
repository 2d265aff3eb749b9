// What the keys were used for, drawn and told; and what they may ask.

import { $, day, el, plural, shortDay, svg, whole } from './dom.js';
import { ask } from './server.js';

/** Routes that have a colour of their own; the rest share one. */
const COLOURS = 5;
const HEIGHT = 100;
const WIDTH = 100;

/** The next round number: the top of the scale. */
function roof(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((times) => times * unit).find((top) => top >= most && Number.isInteger(top));
}

/** Requests of one day by the routes that are drawn, the rest last. */
function parts(of, named) {
  const own = named.map((route) => of.routes[route] ?? 0);
  return [...own, of.requests - own.reduce((sum, count) => sum + count, 0)];
}

function bars(days, named, top) {
  const step = WIDTH / days.length;
  return days.map((of, at) => {
    let y = HEIGHT;
    const rects = parts(of, named).map((count, nth) => {
      const height = (count / top) * HEIGHT;
      y -= height;
      return count > 0 && svg('rect', { class: nth < named.length ? `s${nth}` : 'rest', x: at * step + step * 0.1, y, width: step * 0.8, height });
    });
    const catcher = svg('rect', { class: 'catch', x: at * step, y: 0, width: step, height: HEIGHT });
    return svg('g', { class: 'bar' }, svg('title', {}, `${day(of.day)}: ${plural(of.requests, 'request')}`), catcher, ...rects);
  });
}

function table(days, named, rest) {
  const names = [...named, ...(rest ? ['Other'] : [])];
  const rows = [...days].reverse().filter((of) => of.requests > 0).map((of) => el('tr', {},
    el('th', { scope: 'row' }, day(of.day)), el('td', {}, whole(of.requests)), ...names.map((_, nth) => el('td', {}, whole(parts(of, named)[nth])))));
  const head = ['Day', 'All', ...names].map((name) => el('th', { scope: 'col' }, name));
  return el('details', { class: 'figures' }, el('summary', {}, 'The same as a table'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Requests by day and route' },
      el('table', {}, el('caption', { class: 'sr' }, 'Requests by day and route; days without requests are left out'),
        el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))));
}

function chart({ days, routes, requests }) {
  const named = routes.slice(0, COLOURS).map(({ route }) => route);
  const rest = routes.length > COLOURS;
  const most = days.reduce((max, of) => Math.max(max, of.requests), 0);
  const top = roof(most);
  const told = `${plural(requests, 'request')} in ${plural(days.length, 'day')}, at most ${whole(most)} on one day.`;
  const legend = [...routes.slice(0, COLOURS), ...(rest ? [{ route: 'Other', requests: routes.slice(COLOURS).reduce((sum, one) => sum + one.requests, 0) }] : [])];
  return [
    el('p', { class: 'sum' }, el('b', {}, whole(requests)), ` ${requests === 1 ? 'request' : 'requests'} in ${plural(days.length, 'day')}`),
    el('div', { class: 'plot' },
      el('div', { class: 'scale', 'aria-hidden': 'true' }, el('span', {}, whole(top)), el('span', {}, '0')),
      svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': told }, ...bars(days, named, top)),
      el('div', { class: 'axis', 'aria-hidden': 'true' }, el('span', {}, shortDay(days[0].day)), el('span', {}, shortDay(days.at(-1).day)))),
    el('ul', { class: 'legend' }, ...legend.map(({ route, requests: count }, nth) => el('li', {},
      el('span', { class: `swatch ${nth < named.length ? `s${nth}` : 'rest'}`, 'aria-hidden': 'true' }), el('code', {}, route), ' ', el('span', { class: 'small' }, whole(count))))),
    table(days, named, rest),
  ];
}

export async function drawUsage() {
  const days = $('usage-days').querySelector(':checked').value;
  const usage = await ask('GET', `usage?days=${days}`);
  const none = el('p', { class: 'none' }, 'No request was made with your keys in these days. What is used now is shown within a minute.');
  $('usage').replaceChildren(...(usage.requests > 0 ? chart(usage) : [none]));
}

const limit = (count, words) => (count === null ? 'no limit' : `${whole(count)}${words}`);

function meter(key) {
  if (key.daily_limit === null) return el('span', {}, `${whole(key.used_today)}, no limit`);
  const words = `${whole(key.used_today)} of ${whole(key.daily_limit)}`;
  return el('span', { class: 'meter' }, el('meter', { min: 0, max: key.daily_limit, high: key.daily_limit * 0.9, optimum: 0, value: key.used_today, 'aria-label': `Used today: ${words}` }), el('span', {}, words));
}

export async function drawQuota() {
  const { keys } = await ask('GET', 'quota');
  const rows = keys.map((key) => el('li', {},
    el('h3', { dir: 'auto' }, key.name),
    el('dl', {},
      el('div', {}, el('dt', {}, 'Used today'), el('dd', {}, meter(key))),
      el('div', {}, el('dt', {}, 'In a second'), el('dd', {}, limit(key.rate_limit_rps, ''))),
      el('div', {}, el('dt', {}, 'At once'), el('dd', {}, limit(key.burst, ''))))));
  $('quota').replaceChildren(keys.length ? el('ul', { class: 'rows limits' }, ...rows) : el('p', { class: 'none' }, 'Limits are shown for each key that you have.'));
}
