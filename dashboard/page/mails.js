// The mails of a demo, which nobody sends.

import { $, el, say, time } from './dom.js';
import { ask } from './server.js';

/** Text with its addresses as links. */
const linked = (text) => text.split(/(https?:\S+)/).map((part, at) => (at % 2 ? el('a', { href: part }, part) : part));

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
