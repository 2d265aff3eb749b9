// Whose the cart is: a guest's, which this browser alone has, or somebody's who has it in every browser.

import { $, el, moment, redraw } from './dom.js';
import { cartCount, isCart } from './cart.js';
import { DASHBOARD, openCarts, signIn, whoIsHere } from './server.js';

/** What the server last told of who is here, and of their carts. */
let here = null;
let carts = [];

/** Asks who is here. */
export async function askAccount() {
  const who = await whoIsHere();
  const open = who?.signed_in ? await openCarts() : [];
  [here, carts] = [who, open];
}

const link = (href, text) => el('a', { class: 'link', href, 'data-key': 'account' }, text);

const guest = () => el('p', {}, link(signIn('#cart'), 'Sign in'),
  cartCount() > 0 ? ' to keep this cart. It comes along, and is in every browser you sign in with.' : ' to see a cart that you began in another browser.');

function owner({ account }, open) {
  const other = ({ cart_id: id, created_at: at }) => el('li', {}, el('button', { class: 'link', type: 'button', 'data-key': `cart ${id}`, click: () => open(id) }, `Begun ${moment(at)}`));
  const others = carts.filter(({ cart_id: id }) => !isCart(id));
  return [el('p', {}, 'Signed in as ', link(DASHBOARD, account?.name ?? 'somebody'), '. Your cart is in every browser you sign in with.'),
    others.length ? el('p', { id: 'cart-others' }, 'Your other carts:') : null, others.length ? el('ul', { 'aria-labelledby': 'cart-others' }, ...others.map(other)) : null].filter(Boolean);
}

/** Says whose the cart is, where anybody can sign in; `open` shows another cart of theirs. */
export function drawAccount(open) {
  const said = here?.signed_in ? owner(here, open) : here?.mail || here?.provider ? [guest()] : [];
  redraw($('cart-account'), ...said);
  $('cart-account').hidden = said.length === 0;
}
