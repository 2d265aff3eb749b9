// Where the account is signed in.

import { $, confirmed, el, time } from './dom.js';
import { ask } from './server.js';

const BROWSERS = [['Edg', 'Edge'], ['OPR', 'Opera'], ['Firefox', 'Firefox'], ['HeadlessChrome', 'Chrome'], ['Chrome', 'Chrome'], ['Safari', 'Safari']];
const SYSTEMS = [['Android', 'Android'], ['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Windows', 'Windows'], ['Mac OS', 'macOS'], ['Linux', 'Linux']];

/** What a browser calls itself, in two words. */
function called(client) {
  const browser = BROWSERS.find(([mark]) => client.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => client.includes(mark))?.[1];
  return browser && system ? `${browser} on ${system}` : client || 'A browser';
}

export async function drawSessions(signedOut) {
  const sessions = await ask('GET', 'sessions');
  const rows = sessions.map((session) => el('li', {},
    el('div', {},
      el('h3', {}, called(session.client), session.here && el('span', { class: 'state active' }, 'This one')),
      el('p', { class: 'small' }, 'Since ', time(session.created_at), ' · last used ', time(session.seen_at), session.method === 'link' && ' · by link')),
    !session.here && el('button', {
      class: 'plain', type: 'button', 'aria-label': `End the session of ${called(session.client)}`,
      click: async () => { await ask('DELETE', `sessions/${session.id}`).catch(() => {}); await drawSessions(signedOut); $('sessions-title').focus(); },
    }, 'End')));
  $('sessions').replaceChildren(...rows);
  $('sign-out-everywhere').onclick = () => confirmed({
    title: 'Sign out everywhere', text: 'Every session of your account ends, this one too. Keys go on working.', yes: 'Sign out everywhere', danger: true,
  }, async () => {
    await ask('POST', 'sign-out-everywhere', {});
    signedOut('You are signed out everywhere.');
  });
}
