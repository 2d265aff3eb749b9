// The door: at a provider, with a link that is mailed, or with one that the operator handed out.

import { $, el, say } from './dom.js';
import { ask } from './server.js';

const REFUSED = {
  unknown: 'That answer belongs to no sign-in of this browser. Sign in again.',
  late: 'The sign-in took too long, or came back before. Sign in again.',
  'mixed-up': 'The answer came from another provider than you were sent to. Sign in again.',
  declined: 'The provider did not sign you in.',
  invalid: 'The provider gave an answer that cannot be trusted. Tell the operator if this goes on.',
  unavailable: 'The provider or this server does not answer just now. Try again in a moment.',
};

const LINKS = {
  used: 'This link was used before: it works once. Ask for a new one.',
  late: 'The time of this link is over. Ask for a new one.',
};

/** What stands behind `#`, which is then taken out of the address and of the history. */
function takeFragment() {
  const fragment = location.hash.slice(1);
  if (/^(haat_link_|refused=)/.test(fragment)) history.replaceState(null, '', location.pathname + location.search);
  return fragment;
}

const HERE = '/dashboard/';
/** Longer paths the server does not take. */
const PATH_MAX = 512;

/** A path of this site as the browser itself reads it: it takes backslashes for slashes, and leaves out tabs and ends of lines. */
function local(asked) {
  if (!asked.startsWith('/') || !URL.canParse(asked, location.origin)) return null;
  const { origin, pathname, search, hash } = new URL(asked, location.origin);
  const path = (pathname + search + hash).replaceAll('\\', '%5C');
  return origin === location.origin && !path.startsWith('//') && path.length <= PATH_MAX ? path : null;
}

/** The page of this site that sent somebody here to sign in, for as long as this tab is open. */
function takeReturn() {
  const asked = new URLSearchParams(location.search).get('return_to') ?? sessionStorage.getItem('return_to') ?? HERE;
  const path = local(asked) ?? HERE;
  sessionStorage.setItem('return_to', path);
  return path;
}

const opened = takeFragment();
const returnTo = takeReturn();
const comesFromElsewhere = returnTo !== HERE;
let link = opened.startsWith('haat_link_') ? opened : '';

/** Whether the page was opened with a link to sign in with. */
export const hasLink = () => link !== '';

const wrong = (text) => say('door-wrong', text);

async function withLink(entered, mail) {
  const token = link;
  link = '';
  try {
    await ask('POST', 'link', { token });
    sessionStorage.removeItem('return_to');
    if (comesFromElsewhere) return location.assign(returnTo);
    history.replaceState(null, '', HERE);
    entered();
  } catch (failure) {
    if (failure.passing) link = token;
    wrong(failure.status === 403 || failure.status === 422 ? LINKS[failure.why] ?? 'This link does not work. Ask for a new one.' : failure.text);
    $('door-button').hidden = link === '';
    if (!link) say('door-text', 'Links work once, and for a short time.');
    $('door-mail').hidden = !mail || link !== '';
  }
}

async function atProvider() {
  const { location: there } = await ask('POST', 'sign-in', { return_to: returnTo });
  location.assign(there);
}

/** Has a link mailed. Whether anybody is known by the address is not told. */
async function byMail(mailsPage) {
  const email = $('door-email').value.trim();
  const { minutes } = await ask('POST', 'mail', comesFromElsewhere ? { email, return_to: returnTo } : { email }).catch((failure) => {
    if (failure.status === 429) failure.text = 'Too many links were asked for. Look for one in your mails, or try again in an hour.';
    throw failure;
  });
  say('door-said', `A link is on its way to ${email}. It works once, within ${minutes} minutes.`);
  if (mailsPage) $('door-said').append(' ', el('a', { href: mailsPage }, 'This demo sends no mail, and shows it here'));
}

/** Disables a button while something is done, and says what it fails with. */
async function pressed(button, act) {
  button.disabled = true;
  wrong('');
  say('door-said', '');
  try {
    await act();
  } catch (failure) {
    wrong(failure.text);
  } finally {
    button.disabled = false;
  }
}

/** Shows the door. `entered` is called once somebody is signed in. */
export function showDoor({ provider, mail, mailsPage, said = '' }, entered) {
  const button = $('door-button');
  const refused = /^refused=([a-z-]+)$/.exec(opened)?.[1];
  wrong(said || (refused && (REFUSED[refused] ?? REFUSED.invalid)) || '');
  if (link) {
    say('door-text', 'You opened a link that signs you in once. Go on if you asked for it.');
    button.textContent = 'Sign in with this link';
  } else if (provider || mail) {
    say('door-text', comesFromElsewhere ? 'You come back to where you were, and what is in your cart comes along.' : 'Keys are free. Sign in, and make as many as you need.');
    button.textContent = `Sign in with ${provider}`;
  } else {
    say('door-text', 'Ask the operator of this server for a link to sign in with: the command haat keys dashboard prints one.');
  }
  button.hidden = !link && !provider;
  button.onclick = () => pressed(button, () => (link ? withLink(entered, mail) : atProvider()));
  const form = $('door-mail');
  form.hidden = !mail || link !== '';
  form.onsubmit = (event) => {
    event.preventDefault();
    pressed(form.querySelector('button'), () => byMail(mailsPage));
  };
  say('door-said', '');
  $('door').hidden = false;
}
