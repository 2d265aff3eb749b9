// Talking to the server: one question a channel, and what went wrong in words.

import { el } from './dom.js';

const WORDS = {
  0: ['The market cannot be reached', 'Check the connection and try again.'],
  404: ['Not in the market any more', 'The store may have taken this product off its shelves.'],
  422: ['This search was not understood', 'Change the search or the filters.'],
  429: ['A little too fast', 'Many searches came from here at once. It goes on in a moment.'],
  503: ['The market is just opening', 'The shelves are being filled. It goes on in a moment.'],
  brand_not_found: ['No such brand', 'It may have left the market. Look for it among all brands.'],
  category_not_found: ['No such category', 'The address may be mistyped. The start page lists all categories.'],
  overloaded: ['The market is crowded', 'Too many people ask at once. It goes on in a moment.'],
};

export class Failure extends Error {
  constructor(status, body, headers) {
    super(body?.title ?? 'no answer');
    const field = (fault) => fault.loc?.slice(1).join('.');
    const faults = Array.isArray(body?.detail) ? body.detail.map((fault) => [field(fault), fault.msg].filter(Boolean).join(': ')).join(' · ') : '';
    this.status = status;
    this.code = body?.code;
    this.requestId = body?.request_id ?? headers?.get('x-request-id');
    this.pause = status === 429 || status === 503 ? Math.min(Math.max(Number(headers.get('retry-after')) || 1, 1), 30) : 0;
    [this.title, this.text] = WORDS[this.code] ?? WORDS[status] ?? ['Something went wrong', 'It is on this side, not on yours. Please try again.'];
    if (status === 422 && faults) this.text = faults;
  }

  /** The server does not have this operation: that part of the page is left out. */
  get unserved() {
    return this.code === 'route_not_found' || this.status === 405;
  }

  show(again) {
    return [el('h2', {}, this.title), el('p', {}, this.text), again ? el('button', { class: 'plain', type: 'button', click: again }, 'Try again') : '',
      this.requestId ? el('p', { class: 'small' }, 'Request ', el('code', {}, this.requestId)) : ''];
  }
}

const channels = new Map();

/** Drops the question that waits on a channel. */
export const drop = (channel) => channels.get(channel)?.abort();

/** Asks the server. A newer question on the same channel aborts the older one, which then answers null. */
export async function ask(path, channel) {
  drop(channel);
  const controller = new AbortController();
  channels.set(channel, controller);
  try {
    const signal = AbortSignal.any?.([controller.signal, AbortSignal.timeout(15000)]) ?? controller.signal;
    const response = await fetch(path, { signal, headers: { accept: 'application/json, application/problem+json' } });
    const body = await response.json().catch(() => null);
    if (controller.signal.aborted) return null;
    if (!response.ok || body?.data === undefined) throw new Failure(response.ok ? 500 : response.status, body, response.headers);
    return body;
  } catch (error) {
    if (controller.signal.aborted) return null;
    throw error instanceof Failure ? error : new Failure(0);
  }
}
