// The dashboard: who is here, and what they see.

import { drawAudit } from './audit.js';
import { drawQuota, drawUsage } from './chart.js';
import { $, say } from './dom.js';
import { drawKeys, forgetFresh, startKeys } from './keys.js';
import { ask, lost } from './server.js';
import { drawSessions } from './sessions.js';
import { hasLink, showDoor } from './sign_in.js';
import { drawWatches } from './watches.js';

/** How long to wait before the next try while the server does not answer, in milliseconds. */
const PAUSES = [1000, 2000, 5000, 10000];

let ways = {};
let inside = false;

/** Draws parts of the page; what the server does not answer is said on top, and tried again. */
async function draw(parts, tries = 0) {
  const done = await Promise.allSettled(parts.map((part) => part()));
  if (!inside) return;
  const failed = parts.filter((_, at) => done[at].status === 'rejected');
  say('banner', failed.length ? done.find(({ status }) => status === 'rejected').reason.text ?? 'Something went wrong on this page.' : '');
  const passing = done.some(({ reason }) => reason?.passing);
  if (passing) setTimeout(() => draw(failed, tries + 1), PAUSES[Math.min(tries, PAUSES.length - 1)]);
}

const drawMine = () => drawSessions(leave);

/** Shows the door, and nothing of what was behind it. */
function leave(said = '') {
  inside = false;
  if ($('ask').open) $('ask').close();
  forgetFresh();
  // The market's pages keep the cart, an address, a pincode and searches: they are not the next visitor's.
  try { localStorage.clear(); sessionStorage.clear(); } catch { /* Nothing is kept. */ }
  for (const id of ['keys', 'usage', 'quota', 'watches', 'sessions', 'audit']) $(id).replaceChildren();
  $('inside').hidden = $('who').hidden = true;
  say('banner', '');
  showDoor({ ...ways, said }, start);
  $('door-title').focus();
}

function enter(told) {
  inside = true;
  $('door').hidden = true;
  $('inside').hidden = $('who').hidden = false;
  $('who-name').textContent = told.account?.name ?? '';
  startKeys(told.keys_max, () => draw([drawKeys, drawQuota, drawAudit]));
  draw([drawKeys, drawUsage, drawQuota, drawWatches, drawMine, drawAudit]);
}

async function start(tries = 0) {
  try {
    const told = await ask('GET', 'session');
    ways = { provider: told.provider, mail: told.mail, mailsPage: told.mails_page };
    say('banner', '');
    if (told.signed_in && !hasLink()) enter(told);
    else showDoor({ ...ways, said: told.signed_in ? `You are signed in as ${told.account?.name}. The link signs you in as whom it was made for.` : '' }, start);
  } catch (failure) {
    say('banner', failure.text ?? 'Something went wrong on this page.');
    if (failure.passing) setTimeout(() => start(tries + 1), PAUSES[Math.min(tries, PAUSES.length - 1)]);
  }
}

lost.session = () => { if (inside) leave('Your session is over. Sign in again.'); };
$('usage-days').onchange = () => draw([drawUsage]);
$('sign-out').onclick = async () => {
  try {
    await ask('POST', 'sign-out', {});
    leave('You are signed out.');
  } catch {
    // What was shown goes in any case; the session itself can only be ended by the server.
    leave('The server did not answer: this page shows nothing more, but your session goes on until it ends. Load the page again later to sign out.');
  }
};
// What was shown is not shown again from the browser's memory after somebody signed out.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
start();
