// Keys: made, named, rotated, revoked. A key itself is shown once and kept nowhere on the page after that.

import { $, confirmed, dayOf, el, pastDay, say, time } from './dom.js';
import { ask } from './server.js';

const STATUS = { active: 'Active', ending: 'Ending', ended: 'Ended', revoked: 'Revoked', unconfirmed: 'Not confirmed' };

/** Whether it is not over: it is taken, or may be again. */
const isKept = (key) => ['active', 'ending', 'unconfirmed'].includes(key.status);

let changed = () => {};
let keysMax = 0;

function since(key) {
  if (key.status === 'revoked') return ['Revoked ', time(key.revoked_at)];
  if (key.status === 'ended') return ['Ended ', time(key.ends_at)];
  if (key.status === 'ending') return ['Taken until ', time(key.ends_at)];
  if (key.status === 'unconfirmed') return ['Refused until the operator confirms it: it came back from a backup of ', time(key.unconfirmed_since)];
  return key.last_used_on ? [`Last used ${pastDay(key.last_used_on)}`] : ['Never used'];
}

/** Shows a key that was just made, once. */
function showFresh(issued) {
  $('fresh-key').textContent = issued.key;
  $('fresh-example').textContent = `curl -H 'X-Service-Key: ${issued.key}' ${location.origin}/v1/me`;
  $('fresh-title').textContent = `Your new key: ${issued.name}`;
  say('fresh-said', '');
  $('fresh').hidden = false;
  $('fresh-title').focus();
  $('fresh').scrollIntoView({ block: 'nearest' });
}

export function forgetFresh() {
  $('fresh').hidden = true;
  $('fresh-key').textContent = '';
  $('fresh-example').textContent = '';
}

async function copyFresh() {
  try {
    await navigator.clipboard.writeText($('fresh-key').textContent);
    say('fresh-said', 'Copied.');
  } catch {
    getSelection().selectAllChildren($('fresh-key'));
    say('fresh-said', 'The browser does not let the page copy. The key is selected: copy it yourself.');
  }
}

const nameField = (value) => [
  el('label', { for: 'ask-name' }, 'Name'),
  Object.assign(el('input', { id: 'ask-name', type: 'text', maxlength: 64, required: true }), { value }),
];

const rename = (key) => confirmed({
  title: `Rename ${key.name}`, text: 'The key itself stays as it is.', field: nameField(key.name), yes: 'Rename',
}, async () => {
  await ask('PATCH', `keys/${key.id}`, { name: $('ask-name').value });
  changed();
});

const GRACES = [[0, 'at once'], [1, 'in an hour'], [24, 'in a day'], [168, 'in a week']];

const rotate = (key) => confirmed({
  title: `Rotate ${key.name}`,
  text: 'You get a new key with the same name and limits. Give your programs time to change over.',
  field: [
    el('label', { for: 'ask-grace' }, 'The old key ends'),
    el('select', { id: 'ask-grace' }, ...GRACES.map(([hours, words]) => el('option', { value: hours, selected: hours === 24 }, words))),
  ],
  yes: 'Rotate',
}, async () => {
  const issued = await ask('POST', `keys/${key.id}/rotate`, { grace_hours: Number($('ask-grace').value) });
  $('ask').keeps = true;
  changed();
  // Once the dialog is closed, the focus goes to the new key.
  $('ask').addEventListener('close', () => { $('ask').keeps = false; showFresh(issued); }, { once: true });
});

const revoke = (key) => confirmed({
  title: `Revoke ${key.name}`, text: 'Requests with this key are refused within seconds. This cannot be undone.', yes: 'Revoke', danger: true,
}, async () => {
  await ask('DELETE', `keys/${key.id}`);
  changed();
});

function row(key) {
  const taken = isKept(key);
  const act = (word, action) => el('button', { class: 'plain', type: 'button', 'aria-label': `${word} ${key.name}`, 'data-key': `${word} ${key.id}`, click: () => action(key) }, word);
  return el('li', { class: `key ${taken ? '' : 'over'}` },
    el('div', { class: 'key-what' },
      el('h3', { dir: 'auto' }, key.name),
      el('p', { class: 'small' }, el('code', {}, `haat_live_…${key.hint}`), ' · ', el('code', {}, key.id))),
    el('div', { class: 'key-state' },
      el('p', {}, el('span', { class: `state ${key.status}` }, STATUS[key.status]), el('span', { class: 'plan' }, key.plan === 'free' ? 'Free plan' : 'Granted plan')),
      el('p', { class: 'small' }, ...since(key), ' · made ', el('time', { datetime: key.created_at }, dayOf(key.created_at)))),
    taken && el('div', { class: 'key-acts' }, act('Rename', rename), key.status === 'active' && act('Rotate', rotate), act('Revoke', revoke)));
}

export async function drawKeys() {
  const keys = await ask('GET', 'keys');
  const place = $('keys');
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const taken = keys.filter(isKept);
  const over = keys.filter((key) => !taken.includes(key));
  const past = over.length > 0 && el('li', {}, el('details', { class: 'past' },
    el('summary', {}, `Keys that are over (${over.length})`), el('ul', { class: 'keys' }, ...over.map(row))));
  const none = el('li', { class: 'sheet none' }, 'You have no key yet. Name one above: it is made at once.');
  place.replaceChildren(...(taken.length ? taken.map(row) : [none]), ...(past ? [past] : []));
  // A key that is over has no buttons: the focus then goes to the heading, not nowhere.
  if (held) ([...place.querySelectorAll('[data-key]')].find((one) => one.dataset.key === held) ?? $('keys-title')).focus();
  // A key that was rotated is not counted by the server either.
  const counted = keys.filter((key) => ['active', 'unconfirmed'].includes(key.status) && !key.replaced_by);
  const full = counted.length >= keysMax;
  $('create-name').disabled = full;
  $('create').querySelector('button').disabled = full;
  if (full) say('create-wrong', `An account may have at most ${keysMax} keys: revoke one that is not needed.`);
}

/** Sets up the forms; `onChange` is called after every change. */
export function startKeys(max, onChange) {
  keysMax = max;
  changed = onChange;
  $('create').onsubmit = async (event) => {
    event.preventDefault();
    const [name, button] = [$('create-name'), $('create').querySelector('button')];
    button.disabled = true;
    say('create-wrong', '');
    name.removeAttribute('aria-invalid');
    try {
      const issued = await ask('POST', 'keys', { name: name.value });
      name.value = '';
      showFresh(issued);
      changed();
    } catch (failure) {
      if (failure.status === 422) name.setAttribute('aria-invalid', 'true');
      say('create-wrong', failure.text);
    } finally {
      button.disabled = false;
    }
  };
  $('fresh-copy').onclick = copyFresh;
  $('fresh-done').onclick = () => { forgetFresh(); $('keys-title').focus(); };
}
