// haat: the page over the market. What is asked lives in the URL; what stores say reaches the page as text.
// This part stands alone: it shows what is asked before the others have come, and says so when they do not come.

const input = document.getElementById('q');
const { body } = document;
// What was typed before this came stays.
input.value ||= new URLSearchParams(location.search).get('q')?.trim() ?? '';

async function begin() {
  const [{ $, ROOT, bare, debounced, keep, kept }, { ghosts }, { listen, sync }, { offerCurrencies }, { showProduct }, shown, { loadBrands }, { loadCategories, loadFacts, loadPart, showBelow },
    asked, { closeSuggestions, suggestFor }, { remember }, { addFromCard, openCart }] = await Promise.all([
    import('./dom.js'), import('./cards.js'), import('./facets.js'), import('./prices.js'), import('./product.js'), import('./results.js'), import('./brand.js'), import('./start.js'),
    import('./state.js'), import('./suggest.js'), import('./recent.js'), import('./drawer.js')]);
  const { go, NOTHING, onChange, openProduct } = asked;
  const grid = $('grid');

  /** Tells the server that a product was opened from the results of these words: not which, and not by whom. */
  function countClick(q) {
    if (q) navigator.sendBeacon(new URL(`clicks?${new URLSearchParams({ q })}`, ROOT));
  }

  function clearable() {
    $('clear').hidden = input.value === '';
  }

  function render(withQuery) {
    const { q } = asked.state;
    if (withQuery && input.value.trim() !== q) { typed.cancel(); closeSuggestions(); input.value = q; }
    clearable();
    sync();
    shown.askAnew();
    showProduct();
  }

  // ---- The search field ----

  // Letters typed in one go are one step of the history.
  let typedAt = -Infinity;
  const typed = debounced(150, () => {
    const replace = performance.now() - typedAt < 2500;
    typedAt = performance.now();
    go({ q: input.value.trim() }, { replace });
  });
  input.addEventListener('input', clearable);
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    typed.cancel();
    closeSuggestions();
    typedAt = -Infinity;
    remember(input.value);
    go({ q: input.value.trim() });
    if (matchMedia('(pointer: coarse)').matches) input.blur();
  });
  $('clear').addEventListener('click', () => {
    input.value = '';
    go({ q: '' });
    clearable();
    input.focus();
  });
  $('home').addEventListener('click', (event) => {
    if (!bare(event)) return;
    event.preventDefault();
    go(NOTHING);
    scrollTo(0, 0);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || !bare(event) || $('product').open || $('cart').open || event.target.closest('input, select, textarea')) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  // ---- The grid ----

  grid.addEventListener('click', (event) => {
    const id = event.target.closest('a')?.dataset.id;
    if (!id || !bare(event)) return;
    event.preventDefault();
    countClick(asked.state.q);
    openProduct(id);
  });
  grid.addEventListener('keydown', (event) => {
    const links = [...grid.querySelectorAll('a.to')];
    const at = links.indexOf(event.target);
    const row = getComputedStyle(grid).gridTemplateColumns.split(' ').length;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + row, ArrowUp: at - row, Home: 0, End: links.length - 1 }[event.key];
    if (at < 0 || to === undefined || !bare(event)) return;
    event.preventDefault();
    (to < 0 ? input : links[Math.min(to, links.length - 1)]).focus();
  });

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-add]');
    if (button) addFromCard(button, () => openProduct(button.dataset.add));
  });

  // ---- For who builds on this ----

  const developer = $('developer');
  const showDetails = () => body.classList.toggle('developing', developer.checked);
  developer.checked = kept('developer') === 'true';
  developer.addEventListener('change', () => { keep('developer', String(developer.checked)); showDetails(); });
  showDetails();

  // ---- Start ----

  grid.append(...ghosts(12));
  listen();
  const early = document.activeElement === input ? input.value : '';
  onChange(render);
  suggestFor(typed);
  if (early && early.trim() !== asked.state.q) {
    input.value = early;
    input.dispatchEvent(new InputEvent('input'));
  }
  // Without these the header line and the ways in stay empty; searching goes on.
  const again = () => { sync(); shown.relabel(); shown.recount(); };
  const ways = [
    loadPart('facts', loadFacts, (codes) => { offerCurrencies(codes); again(); }),
    loadPart('categories', loadCategories, () => { again(); showBelow(); }),
    loadPart('brands', loadBrands, again),
  ];

  // The page is seen when it stands: what comes late must not push away what is being read.
  const LATE = 1200;
  await Promise.race([Promise.all([...ways, shown.firstAnswer]), new Promise((enough) => { setTimeout(enough, LATE); })]);
  body.classList.add('stands');
  $('standin').remove();
  if (location.hash === '#cart') openCart();
}

begin().catch((fault) => {
  body.classList.add('failed');
  addEventListener('online', () => location.reload(), { once: true });
  throw fault;
});
