// To be told by mail when a price falls: from a guest's wish on a product's page to the mail, and the link in it that ends more of them.

import assert from 'node:assert/strict';
import { followsMailedLink, mailTo } from './buying.mjs';
import { click, text } from './chromium.mjs';

const FORM = "document.querySelector('#product .tell form')";
const WATCH = "document.querySelector('#watches li')";

/** Facts of a market whose pages `visit` opens, and whose stores take other prices. */
export function tellingFacts({ base, answer, visit, isClean, sizes }) {
  /** A product that is in stock, for nobody else's watch. */
  async function product(nth) {
    const { data } = await answer('v1/search?in_stock=true&limit=40');
    const rupees = data.filter(({ currency }) => currency === 'INR');
    return (await answer(`v1/products/${rupees[nth].id}`)).data;
  }

  /** The product's store takes another price, and somebody asks for it. */
  async function reprice({ id, attributes: { url } }, price) {
    const [store, handle] = url.split('/products/');
    const change = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ kind: 'reprice', item: handle, price }) };
    assert.equal((await fetch(`${store}/emulator/change`, change)).status, 200);
    await answer(`v1/products/${id}/price`);
  }

  /** Waits until an address has a mail of a watch: it is sent behind everybody's back. */
  async function mailed(email) {
    for (let tries = 0; tries < 1200; tries += 1) {
      const mails = await fetch(`${base}/dashboard/api/mails`, { headers: { 'x-haat-dashboard': '1' } });
      if ((await mails.json()).data.some(({ to, text: said }) => to === email && said.includes('/watches/stop'))) return;
      await new Promise((go) => { setTimeout(go, 100); });
    }
    assert.fail(`no mail to ${email}`);
  }

  async function walk(size, nth) {
    const wanted = await product(nth);
    const email = `told-${crypto.randomUUID().slice(0, 8)}@mail.example`;
    const guest = await visit(`?product=${wanted.id}`, size);
    await guest.until("document.querySelector('#product .tell button')", 'the offer to tell');
    await guest.evaluate(click('#product .tell button'));
    await guest.until("document.querySelector('#product .tell a')", 'a guest is asked to sign in');
    await isClean(guest, size, 'a guest who wants to be told');
    await guest.evaluate(click('#product .tell a'));
    const page = await followsMailedLink(guest, email, size);
    await page.until(`location.pathname !== '/dashboard/link' && ${FORM}`, 'the form of the product that they came from');
    assert.equal(await page.evaluate('document.activeElement.id'), 'tell-price');
    await page.evaluate(`${FORM}.requestSubmit()`);
    await page.until("document.getElementById('tell-said').textContent", 'nothing to wait for is told');
    await isClean(page, size, 'when to be told');
    await page.type('2');
    await page.press('Enter');
    await page.until(`!${FORM} && document.querySelector('#product .tell .told').textContent.includes(${JSON.stringify(email)})`, 'the watch is made');
    await isClean(page, size, 'what was made');
    assert.deepEqual(page.faults, []);

    await page.go(`${base}/dashboard/`);
    await page.until(WATCH, 'the watch on the dashboard');
    assert.match(await page.evaluate(`${WATCH}.textContent`), new RegExp(`below .* · tells ${email}`));

    await reprice(wanted, '1.00');
    await mailed(email);
    await page.go(`${base}/demo/mail`);
    await page.until(`${mailTo(email)}.querySelector('a[href^="/watches/stop"]')`, 'the mail of the watch');
    const mail = await page.evaluate(`${mailTo(email)}.textContent`);
    assert.ok(mail.includes(wanted.title.slice(0, 40)) && mail.includes('Now: 1.00') && /\n[\w-]+\.[\w-]+\.[\w-]+\n/.test(mail), mail);
    await isClean(page, size, 'the mail of a watch');
    await page.evaluate(`${mailTo(email)}.querySelector('a[href^="/watches/stop"]').click()`);
    await page.until("location.pathname === '/watches/stop' && document.querySelector('form button')", 'the page that ends it');
    await isClean(page, size, 'the end of a watch');
    await page.evaluate(click('form button'));
    await page.until("!document.querySelector('form')", 'it is ended');
    assert.equal(await page.evaluate(text('h1')), 'The e-mails of this watch are stopped');
    await page.go(`${base}/dashboard/`);
    await page.until(`${WATCH} && ${WATCH}.textContent.includes('Paused')`, 'the dashboard says so');
    await page.evaluate(`[...${WATCH}.querySelectorAll('button')].at(-1).click()`);
    await page.until("document.getElementById('ask').open", 'the question');
    await page.evaluate(click('#ask-yes'));
    await page.until("document.getElementById('watches-part').hidden", 'it is gone');
  }

  return {
    async 'a visitor is told by mail when a price falls, and ends that with the link in the mail'() {
      for (const [nth, size] of sizes.entries()) await walk(size, nth);
    },
  };
}
