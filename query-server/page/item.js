// haat: the document of one product. The server wrote what is stored of it; this adds choices, the cart, and what is around it.

import { $, ROOT } from './dom.js';
import { otherOffers, priceHistory, recommend, rowPlaces } from './around.js';
import { fill, productPath } from './detail.js';
import { addFromCard, openCart } from './drawer.js';
import { ask, whenBack } from './server.js';
import { readCategories } from './start.js';
import { openProduct } from './state.js';
import { suggestFor } from './suggest.js';

const input = $('q');
const id = document.querySelector('main.item').dataset.product;
const stays = () => true;

async function load() {
  try {
    const body = await ask(productPath(id), 'product');
    if (!body) return;
    const { history, offers } = fill(body.data, true, stays);
    $('product-more').replaceChildren(...rowPlaces());
    otherOffers(body.data, offers, stays);
    priceHistory(body.data, history, stays);
    recommend(id, $('product-more'), stays);
  } catch (failure) {
    // What the server wrote stays.
    whenBack(failure, 'product', load);
  }
  $('product-body').classList.remove('stored');
}

input.addEventListener('input', () => { $('clear').hidden = input.value === ''; });
$('clear').addEventListener('click', () => {
  input.value = '';
  $('clear').hidden = true;
  input.focus();
});
$('search').action = ROOT;
document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-add]');
  if (button) addFromCard(button, () => openProduct(button.dataset.add));
});
suggestFor(() => {});
// For what is offered before anything is typed.
readCategories().catch(() => {});
if (id) load();
if (location.hash === '#cart') openCart();
