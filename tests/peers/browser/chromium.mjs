// Chromium, driven over its debugging pipe: pages are opened, looked at and asked. No port, no package.

import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--hide-scrollbars', '--force-color-profile=srgb', '--remote-debugging-pipe'];

/** Starts Chromium with a profile of its own; answers what opens pages, and what ends it. */
export async function launch(profile) {
  const child = spawn('chromium', [...FLAGS, `--user-data-dir=${profile}`], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const waiting = new Map();
  const listeners = new Set();
  let asked = 0;
  let rest = '';
  const ended = new Promise((resolve) => { child.once('exit', resolve); });
  child.stdio[4].setEncoding('utf8').on('data', (text) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject?.(new Error(message.error.message));
      else if (resolve) resolve(message.result);
      else for (const listener of listeners) listener(message);
    }
  });
  const send = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
    waiting.set(++asked, { resolve, reject });
    child.stdio[3].write(`${JSON.stringify({ id: asked, method, params, sessionId })}\0`);
  });
  const close = async () => {
    await send('Browser.close').catch(() => {});
    await ended;
  };
  /** A page of a visitor who was not here before, in a browser context of their own. */
  const open = async () => page(send, listeners, (await send('Target.createBrowserContext')).browserContextId);
  return { open, close };
}

// Expressions that ask a page.
export const text = (selector) => `document.querySelector(${JSON.stringify(selector)})?.textContent`;
export const box = (selector) => `(({ x, y, width, height, right, bottom }) => ({ x, y, width, height, right, bottom }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`;
export const click = (selector) => `document.querySelector(${JSON.stringify(selector)}).click()`;

/** One page of a browser context. */
async function page(send, listeners, browserContextId) {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params) => send(method, params, sessionId);
  const faults = [];
  // Where scripts of the page's frames run, by id.
  const contexts = new Set();
  const noteFaults = ({ sessionId: of, method, params }) => {
    if (of !== sessionId) return;
    if (method === 'Runtime.exceptionThrown') faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.executionContextCreated' && params.context.auxData?.isDefault) contexts.add(params.context.id);
    if (method === 'Runtime.executionContextDestroyed') contexts.delete(params.executionContextId);
    if (method === 'Runtime.executionContextsCleared') contexts.clear();
    if (method === 'Log.entryAdded' && params.entry.level === 'error') faults.push(`${params.entry.text} ${params.entry.url ?? ''}`);
  };
  listeners.add(noteFaults);
  await ask('Page.enable');
  await ask('Runtime.enable');
  await ask('Log.enable');
  const evaluate = async (expression, contextId = undefined) => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true, userGesture: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  /** Waits until an expression holds on the page, or in one of its frames. */
  const until = async (expression, what = expression, contextId = undefined) => {
    const lookFor = () => evaluate(`new Promise((resolve) => {
      const began = performance.now();
      const look = () => { let is = false; try { is = Boolean(${expression}); } catch {} if (is || performance.now() - began > 120000) resolve(is); else setTimeout(look, 20); };
      look();
    })`, contextId);
    // A page that is left answers nothing: the next one is asked.
    const held = await lookFor().catch((fault) => { if (/navigated|context/.test(fault.message)) return lookFor(); throw fault; });
    if (!held) throw new Error(`did not come: ${what}`);
  };
  return {
    faults,
    evaluate,
    /** Another tab of the same visitor. */
    tab: () => page(send, listeners, browserContextId),
    /** Ends the visitor, with every tab of theirs. */
    async leave() {
      listeners.delete(noteFaults);
      await send('Target.disposeBrowserContext', { browserContextId });
    },
    /** The size of the window, and what the visitor prefers. */
    async look({ width, height, dark = false, reduced = true }) {
      await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await ask('Emulation.setTouchEmulationEnabled', { enabled: width < 600 });
      await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: reduced ? 'reduce' : 'no-preference' }] });
    },
    /** Runs before anything else on each page that is opened from now on. */
    before: (source) => ask('Page.addScriptToEvaluateOnNewDocument', { source }),
    async go(url) {
      const loaded = new Promise((resolve) => {
        const listener = ({ sessionId: of, method }) => { if (of === sessionId && method === 'Page.loadEventFired') { listeners.delete(listener); resolve(); } };
        listeners.add(listener);
      });
      await ask('Page.navigate', { url });
      await loaded;
    },
    /** The frame of the page in which an expression holds: what evaluates there; null where none is. */
    async frame(expression) {
      for (const id of contexts) if (await evaluate(`Boolean(${expression})`, id).catch(() => false)) return { evaluate: (asked) => evaluate(asked, id), until: (asked, what) => until(asked, what, id) };
      return null;
    },
    until,
    /** Presses a key, as a person does: \`text\` is what it types. */
    async press(key, code = key, text = undefined) {
      const keyCode = { Tab: 9, Enter: 13, Escape: 27, ArrowDown: 40, ArrowUp: 38 }[key];
      const told = { key, code, text: text ?? (key === 'Enter' ? '\r' : undefined), windowsVirtualKeyCode: keyCode };
      await ask('Input.dispatchKeyEvent', { type: 'keyDown', ...told });
      await ask('Input.dispatchKeyEvent', { type: 'keyUp', ...told });
    },
    type: (text) => ask('Input.insertText', { text }),
    async shot(path, options = {}) {
      const { data } = await ask('Page.captureScreenshot', { format: 'png', ...options });
      await writeFile(path, Buffer.from(data, 'base64'));
    },
    /** Lets a text of ours run on a page whose policy allows none but its own. */
    bypass: () => ask('Page.setBypassCSP', { enabled: true }),
  };
}
