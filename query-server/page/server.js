// Talking to the server: one question a channel, and what went wrong in words.

import { el, ROOT } from './dom.js';

const WORDS = {
  0: ['No connection', 'We’ll reconnect automatically.'],
  404: ['No longer available', 'The store may have removed this product.'],
  422: ['This search was not understood', 'A filter in the address may be mistyped or cut off.'],
  429: ['Too many searches', 'Many searches came from your network. We’ll try again in a moment.'],
  503: ['Starting up', 'The market is loading. We’ll try again in a moment.'],
  brand_not_found: ['No such brand', 'It may have left the market. Look for it among all brands.'],
  category_not_found: ['No such category', 'The address may be mistyped. The start page lists all categories.'],
  overloaded: ['The market is busy', 'Many people are searching right now. We’ll try again in a moment.'],
};

/** What a refused field means to the one who asked. */
const FAULTS = {
  q: ['This search is too long', 'A search has at most 512 characters. A few words are enough.'],
  price_min: ['These prices were not understood', 'Change the lowest or the highest price.'],
  currency: ['This currency is not known', 'Choose another currency for the prices.'],
  pincode: ['This pincode was not understood', 'A pincode has six digits and does not begin with 0.'],
  deliver_by: ['This date was not understood', 'Choose another date of delivery.'],
};
FAULTS.price_max = FAULTS.price_min;

export class Failure extends Error {
  constructor(status, body, headers) {
    super(body?.title ?? 'no answer');
    this.status = status;
    this.code = body?.code;
    this.requestId = body?.request_id ?? headers?.get('x-request-id');
    this.pause = status === 429 || status === 503 ? Math.min(Math.max(Number(headers.get('retry-after')) || 1, 1), 30) : 0;
    const fault = status === 422 && Array.isArray(body?.detail) ? FAULTS[body.detail[0]?.loc?.[1]] : null;
    [this.title, this.text] = fault ?? WORDS[this.code] ?? WORDS[status] ?? ['Something went wrong', 'The fault is ours. Please try again.'];
  }

  /** The server does not have this operation: that part of the page is left out. */
  get unserved() {
    return this.code === 'route_not_found' || this.status === 405;
  }

  /** Asking the same once more may help: nobody answered, or too many asked, or the server failed. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** What went wrong, and a way on: asking once more where that may help, else `elsewhere`. */
  show(again, elsewhere = '') {
    return [el('h2', {}, this.title), el('p', {}, this.text), this.passing ? el('button', { class: 'plain', type: 'button', click: again }, 'Try again') : elsewhere,
      this.requestId && this.status >= 500 ? el('p', { class: 'small' }, 'Request ', el('code', {}, this.requestId)) : ''];
  }
}

const channels = new Map();

const owed = new Map();
/** Asks again when the connection returns, if nobody answered for want of one. */
export const whenBack = (failure, channel, again) => { if (failure.status === 0) owed.set(channel, again); };
addEventListener('online', () => {
  const due = [...owed.values()];
  owed.clear();
  for (const again of due) again();
});

/** Drops the question that waits on a channel. */
export const drop = (channel) => channels.get(channel)?.abort();

let becoming = null;
/** Makes the visitor a guest, who has a cart and codes without an account; false where this server has no guests. */
function becomeGuest() {
  becoming ??= fetch(new URL('dashboard/api/guest', ROOT), { method: 'POST', headers: { accept: 'application/json', 'x-haat-dashboard': '1' }, credentials: 'same-origin' })
    .then((response) => response.ok, () => false).finally(() => { becoming = null; });
  return becoming;
}

/** Asks, and once more as a guest where that needs a session. */
async function fetched(path, options) {
  const response = await fetch(new URL(path, ROOT), options);
  return response.status === 401 && await becomeGuest() ? fetch(new URL(path, ROOT), options) : response;
}

/** Asks the place to sign in; null where this server has none. */
async function askDashboard(path) {
  const response = await fetch(new URL(`dashboard/api/${path}`, ROOT), { headers: { accept: 'application/json', 'x-haat-dashboard': '1' }, cache: 'no-store', credentials: 'same-origin' });
  return response.ok ? (await response.json()).data : null;
}

/** The open carts of whoever is here, the newest first, in whichever browser they were begun. */
export const openCarts = async () => await askDashboard('carts').catch(() => null) ?? [];

/** Who is here, and how to sign in; null where that is not known. */
export const whoIsHere = () => askDashboard('session').catch(() => null);

/** How long a change may take: it waits for several stores. */
const CHANGE_MS = 90000;
/** Keys of changes whose outcome is not known: the same change asked once more is the same one to the server. */
const unsettled = new Map();

/** Changes something at the server, or reads what only its owner may. An unanswered POST keeps its key for the next try. */
export async function send(method, path, body) {
  const headers = { accept: 'application/json, application/problem+json' };
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (text !== undefined) headers['content-type'] = 'application/json';
  const change = `${path}\n${text}`;
  if (method === 'POST') {
    if (!unsettled.has(change)) unsettled.set(change, crypto.randomUUID());
    headers['idempotency-key'] = unsettled.get(change);
  }
  let response;
  let told = null;
  try {
    response = await fetched(path, { method, headers, body: text, cache: 'no-store', credentials: 'same-origin', signal: AbortSignal.timeout(CHANGE_MS) });
    told = await response.json();
  } catch {
    if (!response || response.ok) throw new Failure(0);
  }
  const failure = response.ok && told?.data !== undefined ? null : new Failure(response.ok ? 500 : response.status, told, response.headers);
  if (!failure?.passing && failure?.status !== 409) unsettled.delete(change);
  if (failure) {
    failure.detail = typeof told?.detail === 'string' ? told.detail : '';
    failure.fault = told?.detail?.[0]?.type;
    throw failure;
  }
  return told.data;
}

/** Where somebody sees their account. */
export const DASHBOARD = `${ROOT.pathname}dashboard/`;
/** Where to sign in, and to come back here from, to a part of this page. */
export const signIn = (part = '') => `${DASHBOARD}?${new URLSearchParams({ return_to: location.pathname + location.search + part })}`;

/** Asks the server. A newer question on the same channel aborts the older one, which then answers null. */
export async function ask(path, channel, timeoutMs = 15000) {
  drop(channel);
  owed.delete(channel);
  const controller = new AbortController();
  channels.set(channel, controller);
  try {
    const signal = AbortSignal.any?.([controller.signal, AbortSignal.timeout(timeoutMs)]) ?? controller.signal;
    const response = await fetched(path, { signal, headers: { accept: 'application/json, application/problem+json' } });
    const body = await response.json().catch(() => null);
    if (controller.signal.aborted) return null;
    if (!response.ok || body?.data === undefined) throw new Failure(response.ok ? 500 : response.status, body, response.headers);
    return body;
  } catch (error) {
    if (controller.signal.aborted) return null;
    throw error instanceof Failure ? error : new Failure(0);
  }
}
