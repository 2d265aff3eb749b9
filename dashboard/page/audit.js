// What was done with the account and its keys.

import { $, el, moment, time } from './dom.js';
import { ask } from './server.js';

const WHO = { you: 'You', operator: 'The operator', nobody: 'Somebody', another: 'Another account' };

/** What happened, in words; what this page does not know is told as the server spells it. */
const TOLD = {
  'key.created': ({ name }) => `made the key ${name}`,
  'key.renamed': ({ from, to }) => `renamed the key ${from} to ${to}`,
  'key.revoked': ({ name }) => `revoked the key ${name}`,
  'key.rotated': ({ name, ends_at }) => `rotated the key ${name}; the old one ends ${moment(ends_at)}`,
  'key.confirmed': ({ name }) => `confirmed the key ${name}, which came back from a backup`,
  'account.created': () => 'was made',
  'link.created': ({ ends_at, mailed_to }) => `${mailed_to ? 'had a link to sign in with mailed' : 'made a link to sign in with'}, until ${moment(ends_at)}`,
  'session.started': ({ method }) => (method === 'link' ? 'signed in with a link' : 'signed in at the provider'),
  'session.ended': () => 'signed out',
  'session.all_ended': () => 'signed out everywhere',
  'session.refused': ({ why }) => (why === 'late' ? 'tried a link to sign in with whose time was over' : 'tried a link to sign in with that was used before'),
  'store_account.asked': ({ brand, action }) => (action === 'login' ? `signed in at ${brand}, or tried to` : `registered at ${brand}, or tried to`),
};

const row = (event) => el('li', {},
  el('p', { dir: 'auto' }, el('b', {}, event.action === 'account.created' ? 'Your account' : WHO[event.by] ?? event.by), ' ', TOLD[event.action]?.(event.detail) ?? event.action, event.key && el('span', { class: 'small' }, ' ', el('code', {}, event.key))),
  el('p', { class: 'small' }, time(event.at)));

/** Draws the newest entries, or with `before` those that are older than it. */
export async function drawAudit(before) {
  const { events, before: older } = await ask('GET', before ? `audit?before=${before}` : 'audit');
  const rows = events.map(row);
  if (before) $('audit').append(...rows);
  else $('audit').replaceChildren(...rows);
  const more = $('audit-more');
  more.hidden = older === null;
  more.onclick = async () => {
    const first = $('audit').children.length;
    await drawAudit(older).catch(() => {});
    const next = $('audit').children[first];
    if (more.hidden && next) { next.tabIndex = -1; next.focus(); }
  };
}
