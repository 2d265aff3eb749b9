// The mails of a demo, which nobody sends.

import { $, el, say, time } from './dom.js';
import { ask } from './server.js';

/** The places of this server that mails lead to. */
const PLACES = /^\/(?:dashboard\/link|watches\/stop|products\/[^/]+)$/;
/** Text with the addresses of such places as links, at whatever name of this server the page was opened. */
const linked = (text) => text.split(/(\s+)/).map((part) => {
  const address = URL.canParse(part) ? new URL(part) : null;
  return address && PLACES.test(address.pathname) ? el('a', { href: address.pathname + address.search + address.hash }, part) : part;
});

try {
  const mails = await ask('GET', 'mails');
  say('banner', mails.length ? '' : 'No mail yet.');
  $('mails').replaceChildren(...mails.map(({ to, subject, text, made_at }) => el('li', { class: 'sheet mail' },
    el('h2', {}, subject),
    el('p', { class: 'small' }, `To ${to} · `, time(made_at)),
    el('pre', {}, ...linked(text)))));
} catch (failure) {
  say('banner', failure.text ?? 'Something went wrong on this page.');
}
