// One product in a dialog over the list.

import { $, bare, el, nameTab } from './dom.js';
import { otherOffers, priceHistory, recommend, rowPlaces } from './around.js';
import { cards } from './cards.js';
import { fill, productPath } from './detail.js';
import { ask, whenBack } from './server.js';
import { closeProduct, openProduct, productAddress, state } from './state.js';

const dialog = $('product');

let open = '';
/** Shows the product that the state names, or none. */
export function showProduct() {
  if (state.product === open) return;
  open = state.product;
  if (!open) {
    nameTab({ product: '' });
    return dialog.close();
  }
  fill(cards.get(open) ?? { title: '' }, false);
  $('product-own').href = productAddress(open);
  $('product-more').replaceChildren();
  if (!dialog.open) dialog.showModal();
  $('sheet').scrollTop = 0;
  $('product-title').focus({ preventScroll: true });
  load(open);
}

async function load(id) {
  const isOpen = () => open === id;
  $('product-more').replaceChildren(...rowPlaces());
  try {
    const body = await ask(productPath(id), 'product');
    if (!body || !isOpen()) return;
    const places = fill(body.data, true, isOpen);
    otherOffers(body.data, places.offers, isOpen);
    priceHistory(body.data, places.history, isOpen);
    recommend(body.data.id, $('product-more'), isOpen);
  } catch (failure) {
    if (!isOpen()) return;
    const gone = failure.status === 404 || failure.status === 422;
    $('product-title').textContent ||= gone ? 'No such product' : failure.title;
    nameTab({ product: $('product-title').textContent });
    whenBack(failure, 'product', () => isOpen() && load(id));
    $('product-body').replaceChildren(el('div', { class: 'message' }, ...(failure.status === 422
      ? [el('p', {}, 'This address names no product. It may be cut off or mistyped.')] : failure.show(() => load(id)))));
  }
}

dialog.addEventListener('close', () => {
  // The event comes late: the history may have opened the dialog again.
  if (state.product && !dialog.open) closeProduct();
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) return dialog.close();
  const id = event.target.closest('a')?.dataset.id;
  if (!id || !bare(event)) return;
  event.preventDefault();
  openProduct(id);
});
$('product-close').addEventListener('click', () => dialog.close());
