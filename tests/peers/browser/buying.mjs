// Buying without an account, from a search to three brands' checkouts, and the way of that cart to another browser.

import assert from 'node:assert/strict';
import { box, click, text } from './chromium.mjs';

const CART_STANDS = "document.getElementById('cart-progress').hidden";
const OPEN = `document.getElementById('cart').open && ${CART_STANDS}`;
/** What the cart holds as a shopper sees it: each brand with its products and what it costs, and the sum of all. */
const HELD = `({
  brands: [...document.querySelectorAll('#cart-groups .cart-group')].map((group) => [group.querySelector('h3').textContent, ...[...group.querySelectorAll('.cart-line')].map((line) => line.querySelector('.title').dataset.id + ' ' + line.querySelector('.qty').textContent), group.querySelector('.sums').textContent]),
  total: document.getElementById('cart-totals').textContent,
})`;
const OTHERS = "document.querySelectorAll('#cart-account li button')";

/** Has a link mailed at the door, and follows it in a tab of its own, as mail programs do. Answers that tab. */
export async function followsMailedLink(page, email, size, look = async () => {}) {
  await page.until("location.pathname === '/dashboard/' && !document.getElementById('door-mail').hidden && !document.getElementById('door').hidden", 'the way to sign in');
  assert.match(await page.evaluate(text('#door-text')), /what is in your cart comes along/);
  await page.evaluate("document.getElementById('door-email').focus()");
  await page.type(email);
  await page.press('Enter');
  await page.until("document.querySelector('#door-said a')", 'a link is on its way');
  await look(page, size, 'the door');
  const mails = await page.tab();
  await mails.look(size);
  await mails.go(new URL(await page.evaluate("document.querySelector('#door-said a').href")).href);
  const mail = mailTo(email);
  await mails.until(`${mail}.querySelector('a')`, 'the mail of the demo');
  await look(mails, size, 'the mails');
  await mails.evaluate(`${mail}.querySelector('a').click()`);
  await mails.until("location.pathname === '/dashboard/link' && !document.getElementById('door').hidden", 'the link opens');
  await look(mails, size, 'the link');
  await mails.evaluate(click('#door-button'));
  return mails;
}

/** The newest mail to an address on the page of the demo's mails. */
export const mailTo = (email) => `[...document.querySelectorAll('.mail')].find((one) => one.querySelector('.small').textContent.startsWith('To ${email} · '))`;

/** Facts of a market whose pages `visit` opens. */
export function buyingFacts({ answer, visit, isClean, sizes, stands }) {
  /** A product of each of three brands, sold in one variant: the card that a search for its title shows. */
  async function threeBrands() {
    const { data: cards } = await answer('v1/search?in_stock=true&limit=40');
    const chosen = new Map();
    for (const { id, title, brand_slug: slug } of cards) {
      if (chosen.size === 3 || chosen.has(slug)) continue;
      const { data } = await answer(`v1/products/${id}`);
      if (data.variants.length === 1) chosen.set(slug, { id, title });
    }
    assert.equal(chosen.size, 3, 'three brands with a product in one variant');
    return [...chosen.values()];
  }

  /** Searches for each product and adds it from its card; the cart is open afterwards. */
  async function fillCart(page, products) {
    for (const { id, title } of products) {
      await page.evaluate(`(() => { document.getElementById('cart').close(); document.getElementById('q').value = ${JSON.stringify(title)}; document.getElementById('search').requestSubmit(); })()`);
      await page.until(`document.querySelector('#grid [data-add="${id}"]') && ${stands}`, `a search finds ${title}`);
      await page.evaluate(click(`#grid [data-add="${id}"]`));
      await page.until(`document.querySelector('#cart-groups [data-id="${id}"]') && ${CART_STANDS}`, `${title} is in the cart`);
      assert.equal(await page.evaluate(text('#cart-wrong')), '');
    }
  }

  /** A code that the store has not is told at the code, with the store's reason, and not once more below it. */
  async function refusesCode(page) {
    const group = "document.querySelector('#cart-groups .cart-group')";
    await page.evaluate(`(() => { const form = ${group}.querySelector('.code-form'); form.elements[0].value = 'NOSUCHCODE'; form.requestSubmit(); })()`);
    await page.until(`${group}.querySelector('.code') && ${CART_STANDS}`, 'the code is told as refused');
    assert.match(await page.evaluate(`${group}.querySelector('.code span').textContent`), /^does not apply: ./);
    assert.equal(await page.evaluate(`${group}.querySelectorAll('.short').length`), 0, 'the refusal is told once');
    await page.evaluate(`${group}.querySelector('.code button').click()`);
    await page.until(`!${group}.querySelector('.code') && ${CART_STANDS}`, 'the code is gone');
  }

  /** From a cart that is full, by codes and an address, to the brands' own checkouts. */
  async function checksOut(page, size) {
    assert.equal(await page.evaluate("document.querySelectorAll('#cart-groups .cart-group').length"), 3);
    await refusesCode(page);
    await page.evaluate(click('#cart-optimize'));
    await page.until("document.querySelectorAll('#cart-saved li').length === 3", 'codes were tried at each store');
    assert.equal(await page.evaluate("document.querySelector('#cart-address [name=country] [value=IN]').textContent"), 'India');
    await page.evaluate("document.querySelector('#cart-address [name=country]').value = 'IN'");
    await page.evaluate("document.querySelector('#cart-address [name=zip]').focus()");
    await page.type('560001');
    await page.press('Enter');
    await page.until(`document.querySelectorAll('#cart-groups .ways').length === 3 && ${CART_STANDS}`, 'each brand says how it delivers');
    assert.equal(await page.evaluate('document.activeElement.type'), 'radio', 'the ways of delivery are at hand');
    // Some stores have one way alone.
    const other = await page.evaluate("[...document.querySelectorAll('#cart-groups .ways input')].find((one) => !one.checked)?.dataset.key");
    assert.ok(other, 'a store delivers in several ways');
    const way = `document.querySelector(${JSON.stringify(`[data-key="${other}"]`)})`;
    await page.evaluate(`${way}.click()`);
    await page.until(`${CART_STANDS} && ${way}.checked && document.getElementById('cart-said').textContent.includes('delivers by')`, 'another way of delivery is chosen');
    await page.evaluate(click('#cart-checkout'));
    await page.until("document.querySelector('#cart-links a.buy')", 'the checkouts come');
    assert.equal(await page.evaluate(text('#cart-wrong')), '');
    assert.ok(await page.evaluate("document.activeElement.matches('#cart-links a.buy')"));
    const links = await page.evaluate("[...document.querySelectorAll('#cart-links a.buy')].map((one) => [one.querySelector('span').textContent.trim(), one.href, one.target])");
    const named = await page.evaluate("[...document.querySelectorAll('#cart-groups h3')].map((one) => `Check out at ${one.textContent}`)");
    assert.deepEqual(links.map(([name]) => name), named);
    assert.equal(new Set(links.map(([, href]) => new URL(href).host)).size, 3, 'each brand is checked out at its own store');
    for (const [name, href, target] of links) assert.deepEqual([(await fetch(href)).status, target], [200, '_blank'], name);
    // A browser that scrolls to a field, as it does for a phone's keyboard, moves the body alone: the head and the links stay.
    assert.ok(await page.evaluate("(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.getElementById('cart'))"), 'the cart scrolls as a whole');
    assert.ok((await page.evaluate(box('#cart-links a:last-of-type'))).bottom <= size.height);
    await isClean(page, size, 'checkouts');
  }

  /** On its side a phone is low, and so is a page that is zoomed fourfold: there is room for what is in the cart. */
  async function hasRoom(page, size) {
    for (const low of [{ width: 844, height: 390 }, { width: 320, height: 256 }]) {
      await page.look(low);
      const seen = await page.evaluate("(() => { document.querySelector('#cart-groups .cart-line').scrollIntoView(); const [head, line] = ['.cart-head', '.cart-line'].map((one) => document.querySelector(one).getBoundingClientRect()); return { head: head.y, line: line.bottom, over: document.getElementById('cart').scrollWidth }; })()");
      assert.ok(seen.head === 0 && seen.line <= low.height && seen.over <= low.width, `${low.width} by ${low.height}: ${JSON.stringify(seen)}`);
      assert.ok(await page.evaluate("document.getElementById('cart-body').clientHeight") >= low.height / 2, `${low.width} by ${low.height} is covered`);
    }
    await page.look(size);
  }

  /** Signs in from the open cart. Answers the tab where the cart is open again. */
  async function signsIn(page, email, size, look = async () => {}) {
    const came = await page.evaluate('location.pathname + location.search');
    await page.until("document.querySelector('#cart-account a')", 'the cart says what signing in is for');
    await page.evaluate(click('#cart-account a'));
    const mails = await followsMailedLink(page, email, size, look);
    await mails.until(`location.pathname !== '/dashboard/link' && ${OPEN} && document.getElementById('cart-account').textContent.includes(${JSON.stringify(`Signed in as ${email}`)})`, 'the cart is open again');
    assert.equal(await mails.evaluate('location.pathname + location.search + location.hash'), `${came}#cart`);
    assert.deepEqual(mails.faults, []);
    return mails;
  }

  async function walk(size, chosen) {
    // Nobody that this market knows from another walk.
    const email = `asha-${crypto.randomUUID().slice(0, 8)}@mail.example`;
    // One visitor all the way: each page that is opened is another visitor, with a cart of its own.
    const page = await visit('', size);
    await fillCart(page, chosen);
    await checksOut(page, size);
    await hasRoom(page, size);
    const held = await page.evaluate(HELD);
    const signedIn = await signsIn(page, email, size, isClean);
    assert.deepEqual(await signedIn.evaluate(HELD), held, 'the cart came along');
    await isClean(signedIn, size, 'the cart of an account');
    // Another browser has nothing, and the same cart once its visitor is signed in.
    const second = await visit('', size);
    await second.evaluate(click('#cart-open'));
    await second.until(`${OPEN} && document.querySelector('#cart-groups .message')`, 'the cart of nobody is empty');
    const other = await signsIn(second, email, size);
    assert.deepEqual(await other.evaluate(HELD), held, 'the second browser has the same cart');
    assert.equal(await other.evaluate(`${OTHERS}.length`), 0);
    // A third one began a cart before: that stays, and the first one is offered.
    const third = await visit('', size);
    await fillCart(third, chosen.slice(0, 1));
    const two = await signsIn(third, email, size);
    assert.equal((await two.evaluate(HELD)).brands.length, 1);
    assert.equal(await two.evaluate(`${OTHERS}.length`), 1);
    await isClean(two, size, 'several carts');
    await two.evaluate(`${OTHERS}[0].click()`);
    await two.until(`document.querySelectorAll('#cart-groups .cart-group').length === 3 && ${CART_STANDS}`, 'the other cart is shown');
    assert.deepEqual(await two.evaluate(HELD), held);
    assert.equal(await two.evaluate(`${OTHERS}.length`), 1, 'the way back');
  }

  return {
    async 'a visitor without an account comes to the checkouts of three brands, and with a mailed link to the same cart in another browser'() {
      const chosen = await threeBrands();
      for (const size of sizes) await walk(size, chosen);
    },
  };
}
