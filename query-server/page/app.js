// haat: the search page. What is asked lives in the URL; what stores say reaches the page as text, never as markup.

const LIMIT = 40;
const SORTS = ['price_asc', 'price_desc', 'rating', 'newest'];
const KEYS = ['q', 'brand', 'price_min', 'price_max', 'currency', 'in_stock', 'on_sale', 'sort', 'product'];
const NO_FILTERS = { brand: '', price_min: '', price_max: '', in_stock: '', on_sale: '' };

const $ = (id) => document.getElementById(id);
const [input, filters, grid, dialog, currency, sort] = ['q', 'filters', 'grid', 'product', 'currency', 'sort'].map($);
const [low, high] = [filters.elements.price_min, filters.elements.price_max];

/** Builds an element; texts among the children become text nodes, empty ones are left out. */
function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
  return node;
}
const unseen = (text) => el('span', { class: 'sr' }, text);
const decor = (text) => el('span', { 'aria-hidden': 'true' }, text);

function debounced(wait, action) {
  let timer = 0;
  const later = () => { later.cancel(); timer = setTimeout(() => { timer = 0; action(); }, wait); };
  later.cancel = () => { clearTimeout(timer); timer = 0; };
  later.waits = () => timer !== 0;
  return later;
}

// ---- Numbers, money, pictures ----

const number = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const plural = (count, word) => `${number.format(count)} ${word}${count === 1 ? '' : 's'}`;

// Minor units by ISO 4217, as the server counts them. Browsers follow usage instead and state no decimals for HUF,
// IDR, PKR and others, which would show those prices a hundredfold.
const OTHER_EXPONENTS = new Map(Object.entries({
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 3: 'BHD IQD JOD KWD LYD OMR TND', 4: 'CLF UYW',
}).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)])));
const exponent = (code) => OTHER_EXPONENTS.get(code) ?? 2;

const formats = new Map();
function price(minor, code) {
  const digits = exponent(code);
  if (!formats.has(code)) {
    const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits, trailingZeroDisplay: 'stripIfInteger' };
    formats.set(code, new Intl.NumberFormat(undefined, code ? { style: 'currency', currency: code, ...decimals } : decimals));
  }
  return formats.get(code).format(minor / 10 ** digits);
}

/** The minor units that a field's amount means; '' for nothing, null for no amount. */
function minorOf(field, code) {
  if (field.value === '') return field.validity.badInput ? null : '';
  const [, whole, part = ''] = /^(\d{1,12})(?:\.(\d*))?$/.exec(field.value) ?? [];
  return whole === undefined ? null : String(Number(whole + part.slice(0, exponent(code)).padEnd(exponent(code), '0')));
}

/** The address if it is an absolute one of the web, else null. */
function webUrl(text) {
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}

/** The address of a picture in a width; the store platform's picture hosts scale when asked. */
function scaled(url, width) {
  if (url.hostname !== 'cdn.shopify.com' && !url.pathname.startsWith('/cdn/shop/')) return url.href;
  const sized = new URL(url);
  sized.searchParams.set('width', width);
  return sized.href;
}

/** A picture, or a blank with a letter where there is none or it does not load. */
function picture(address, { widths, sizes, letter = '', alt = '', eager = false }) {
  const blank = () => el('span', { class: 'blank', 'aria-hidden': 'true' }, [...letter][0]?.toUpperCase());
  const url = address ? webUrl(address) : null;
  if (!url) return blank();
  const image = el('img', { alt, sizes, loading: eager ? 'eager' : 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' });
  image.addEventListener('error', () => image.replaceWith(blank()));
  const narrow = scaled(url, widths[0]);
  if (narrow !== url.href) image.srcset = widths.map((width) => `${scaled(url, width)} ${width}w`).join(', ');
  image.src = narrow;
  return image;
}

const percentOff = (amount, compare) => Math.floor(((compare - amount) * 200 + compare) / (compare * 2));
function priceLine(amount, compare, code, badge) {
  const cut = compare > amount;
  return el('p', { class: 'price' }, el('span', { class: cut ? 'now cut' : 'now' }, price(amount, code)),
    cut ? el('s', {}, unseen('instead of '), price(compare, code)) : null,
    cut && badge ? el('span', { class: 'pct' }, `−${percentOff(amount, compare)}%`) : null);
}

const stars = (rating, count) => (rating > 0 ? el('span', { class: 'stars' }, unseen('Rated '), decor('★ '), tenths.format(rating),
  unseen(' of 5'), count > 0 ? el('span', { class: 'quiet' }, ` (${number.format(count)})`) : null) : null);

// ---- Talking to the server ----

class Failure extends Error {
  constructor(status, body, headers) {
    super(body?.title ?? 'no answer');
    const faults = Array.isArray(body?.detail) ? body.detail.map((fault) => fault.msg).join(' · ') : '';
    this.status = status;
    this.requestId = body?.request_id ?? headers?.get('x-request-id');
    this.pause = status === 429 || status === 503 ? Math.min(Math.max(Number(headers.get('retry-after')) || 1, 1), 30) : 0;
    [this.title, this.text] = {
      0: ['The market cannot be reached', 'Check the connection and try again.'],
      404: ['Not in the market any more', 'The store may have taken this product off its shelves.'],
      422: ['This search was not understood', faults || 'Change the search or the filters.'],
      429: ['A little too fast', 'Many searches came from here at once. It goes on in a moment.'],
      503: ['The market is just opening', 'The shelves are being filled. It goes on in a moment.'],
    }[status] ?? ['Something went wrong', 'It is on this side, not on yours. Please try again.'];
  }

  show(again) {
    return [el('h2', {}, this.title), el('p', {}, this.text), again ? el('button', { class: 'plain', type: 'button', click: again }, 'Try again') : '',
      this.requestId ? el('p', { class: 'small' }, 'Request ', el('code', {}, this.requestId)) : ''];
  }
}

const channels = new Map();
/** Asks the server. A newer question on the same channel aborts the older one, which then answers null. */
async function ask(path, channel) {
  channels.get(channel)?.abort();
  const controller = new AbortController();
  channels.set(channel, controller);
  try {
    const signal = AbortSignal.any?.([controller.signal, AbortSignal.timeout(15000)]) ?? controller.signal;
    const response = await fetch(path, { signal, headers: { accept: 'application/json, application/problem+json' } });
    const body = await response.json().catch(() => null);
    if (controller.signal.aborted) return null;
    if (!response.ok || body?.data === undefined) throw new Failure(response.ok ? 500 : response.status, body, response.headers);
    return body;
  } catch (error) {
    if (controller.signal.aborted) return null;
    throw error instanceof Failure ? error : new Failure(0);
  }
}

// ---- What is asked, in the URL ----

function tidy(next) {
  for (const key of ['price_min', 'price_max']) if (!/^\d{1,15}$/.test(next[key])) next[key] = '';
  for (const key of ['in_stock', 'on_sale']) if (next[key] !== 'true') next[key] = '';
  if (!SORTS.includes(next.sort)) next.sort = '';
  const compares = next.price_min || next.price_max || next.sort.startsWith('price');
  if (!compares || !/^[A-Z]{3}$/.test(next.currency)) next.currency = '';
  return next;
}

function read() {
  const given = new URLSearchParams(location.search);
  return tidy(Object.fromEntries(KEYS.map((key) => [key, (given.get(key) ?? '').trim()])));
}

const query = (of, keys) => new URLSearchParams(keys.filter((key) => of[key]).map((key) => [key, of[key]])).toString();
const address = (of) => `${location.pathname}?${query(of, KEYS)}`.replace(/\?$/, '');
const filtered = () => Object.keys(NO_FILTERS).some((key) => state[key]);

let state = read();
function go(patch, { replace = false, mark = null } = {}) {
  const next = tidy({ ...state, ...patch });
  if (KEYS.every((key) => next[key] === state[key])) return;
  state = next;
  if (replace) history.replaceState(history.state, '', address(state));
  else history.pushState(mark, '', address(state));
  render('q' in patch);
}

function render(withQuery) {
  if (withQuery && input.value.trim() !== state.q) { typed.cancel(); input.value = state.q; }
  sync();
  if (searchQuery() !== asked) { label(); search(); }
  showProduct();
}

// ---- Search ----

const cards = new Map();
const brandNames = new Map();
let asked = null;
let retry = 0;
const searchQuery = () => query({ ...state, limit: LIMIT }, [...KEYS.filter((key) => key !== 'product'), 'limit']);

async function search(attempt = 0) {
  clearTimeout(retry);
  asked = searchQuery();
  grid.setAttribute('aria-busy', 'true');
  const started = performance.now();
  const body = await ask(`v1/search?${asked}`, 'search').catch((failure) => {
    if (failure.pause && attempt < 3) retry = setTimeout(search, failure.pause * 1000, attempt + 1);
    showInstead(failure.title, failure.show(() => search()));
    $('took').textContent = '';
  });
  if (body) showResults(body, performance.now() - started);
}

function showResults({ data: found, provenance }, took) {
  for (const card of found) {
    cards.set(card.id, card);
    brandNames.set(card.brand_slug, card.brand);
    addCurrency(card.currency);
  }
  showFacts({ release: provenance.release });
  const nearly = state.q ? { all_but_one: ' · some lack a word', any_term: ' · with some of the words', prefix: ' · with words that begin so' }[provenance.relaxed] ?? '' : '';
  $('took').textContent = `${number.format(Math.max(1, Math.round(took)))} ms`;
  label();
  if (found.length === 0) return showNothing();
  $('message').hidden = true;
  grid.hidden = false;
  grid.replaceChildren(...found.map(cardItem));
  grid.setAttribute('aria-busy', 'false');
  $('count').textContent = (found.length === LIMIT && state.q ? `The best ${LIMIT}` : plural(found.length, 'product')) + nearly;
}

function showInstead(said, content) {
  grid.replaceChildren();
  grid.hidden = true;
  grid.setAttribute('aria-busy', 'false');
  $('count').textContent = said;
  $('message').replaceChildren(...content);
  $('message').hidden = false;
}

function showNothing() {
  showInstead('No products', [el('h2', {}, 'No stall has this'), ...(filtered()
    ? [el('p', {}, 'The filters leave nothing over. Without them there may be more.'), changer('plain', NO_FILTERS, {}, 'Clear the filters')]
    : [el('p', {}, 'Try fewer or other words.'), el('div', { class: 'examples', 'data-examples': true })])]);
  showExamples();
}

function cardItem(card, at) {
  const pct = card.discount_pct > 0 ? el('span', { class: 'badge' }, `−${card.discount_pct}%`) : null;
  const shot = { widths: [360, 540, 720], sizes: '(max-width: 40rem) 46vw, 15rem', letter: card.brand, eager: at < 6 };
  return el('li', { class: card.in_stock ? 'card' : 'card out' },
    el('div', { class: 'frame' }, picture(card.image, shot), pct, card.in_stock ? null : el('span', { class: 'tag' }, 'Out of stock')),
    el('p', { class: 'by' }, el('span', { dir: 'auto' }, card.brand), stars(card.rating)),
    el('h2', { dir: 'auto' }, el('a', { href: address({ ...state, product: card.id }), 'data-id': card.id }, card.title)),
    priceLine(card.price_min_minor, card.compare_at_minor, card.currency, false));
}

// ---- Header, examples, filters ----

/** A button that changes what is asked; it may vanish with that, so the heading takes the focus. */
function changer(kind, patch, props, ...content) {
  const change = () => { go(patch); $('heading').focus({ preventScroll: true }); };
  return el('button', { class: kind, type: 'button', click: change, ...props }, ...content);
}

const facts = {};
function showFacts(news) {
  Object.assign(facts, news);
  const parts = [facts.products >= 0 && plural(facts.products, 'product'), facts.brands >= 0 && plural(facts.brands, 'brand')].filter(Boolean);
  for (const line of document.querySelectorAll('[data-facts]')) {
    line.replaceChildren(...parts.map((part) => el('span', {}, part)), el('span', { title: facts.release }, 'release ', el('code', {}, facts.release.slice(0, 9))));
  }
  if (parts.length) $('lead').textContent = `${compact.format(facts.products)} products of ${plural(facts.brands, 'brand store')}, side by side. You buy at the store itself.`;
}

async function loadFacts() {
  const { data } = await ask('v1/stats', 'stats');
  showFacts({ products: data.products, brands: data.brands, release: data.release.id });
  const codes = [...data.currencies].sort((a, b) => b.products - a.products).map((one) => one.currency);
  const before = [...currency.options].map((option) => option.value);
  currency.replaceChildren();
  for (const code of [...codes, ...before]) addCurrency(code);
  sync();
  label();
}

const currencyNames = new Intl.DisplayNames(undefined, { type: 'currency', fallback: 'none' });
function addCurrency(code) {
  if ([...currency.options].some((option) => option.value === code)) return;
  currency.append(el('option', { value: code }, [code, currencyNames.of(code)].filter(Boolean).join(' · ')));
}

let brands = [];
async function loadBrands(q) {
  const body = await ask(`v1/brands?${query({ q, limit: q ? 50 : 100 }, ['q', 'limit'])}`, 'brands');
  if (!body) return;
  brands = body.data;
  for (const brand of brands) brandNames.set(brand.slug, brand.name);
  if (!q) takeExamples();
  showBrands();
  label();
}

/** Example searches: what the largest brands sell, and some brands themselves. */
let examples = [];
function takeExamples() {
  const seen = new Set();
  const fresh = (text) => text.length <= 28 && !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase());
  const kinds = brands.map((brand) => brand.categories.map((category) => category.name).find(fresh)).filter(Boolean).slice(0, 5);
  const stores = brands.filter((brand) => fresh(brand.name)).slice(0, kinds.length ? 3 : 6);
  examples = [...kinds.map((text) => ({ text, patch: { q: text.toLowerCase() } })), ...stores.map(({ name, slug }) => ({ text: name, patch: { q: '', brand: slug } }))];
  showExamples();
}

function showExamples() {
  const chip = ({ text, patch }) => changer('chip', { ...NO_FILTERS, ...patch }, { dir: 'auto' }, text);
  for (const place of document.querySelectorAll('[data-examples]')) {
    place.replaceChildren(...(examples.length ? [el('span', { class: 'quiet' }, 'Try'), ...examples.map(chip)] : []));
  }
}

const brandName = () => brandNames.get(state.brand) ?? state.brand;
function showBrands() {
  const option = (slug, name, count) => el('label', { class: 'check' }, el('input', { type: 'radio', name: 'brand', value: slug, checked: slug === state.brand }),
    el('span', { class: 'name', dir: 'auto' }, name), count >= 0 ? el('span', { class: 'quiet' }, compact.format(count)) : null);
  const other = state.brand && !brands.some((brand) => brand.slug === state.brand);
  $('brands').replaceChildren(option('', 'All brands'), ...(other ? [option(state.brand, brandName())] : []),
    ...brands.map((brand) => option(brand.slug, brand.name, brand.product_count)), brands.length || !$('brand-q').value ? '' : el('p', { class: 'note' }, 'No brand of this name'));
}

/** Makes every control show the state, save a field that is being typed in. */
function sync() {
  if (state.currency) { addCurrency(state.currency); currency.value = state.currency; }
  for (const field of [low, high]) {
    const text = state[field.name] && String(Number(state[field.name]) / 10 ** exponent(currency.value));
    if (field !== document.activeElement && !pricesTyped.waits() && field.value !== text) field.value = text;
    field.step = 10 ** -exponent(currency.value);
  }
  for (const key of ['in_stock', 'on_sale']) filters.elements[key].checked = state[key] === 'true';
  const radio = [...$('brands').querySelectorAll('input')].find((one) => one.value === state.brand);
  if (radio) radio.checked = true; else showBrands();
  sort.value = state.sort;
  priceNote('');
}

function priceNote(problem) {
  $('price-note').textContent = problem || (state.currency ? `Only prices in ${state.currency} are compared.` : '');
  for (const field of [low, high]) field.setAttribute('aria-invalid', String(problem !== ''));
}

/** What the page says of the search: heading, title, filters in use. */
function label() {
  const plain = !state.q && !state.sort && !filtered();
  $('intro').hidden = !plain;
  $('heading').textContent = state.q ? `“${state.q}”` : state.brand ? brandName() : plain ? 'On the stalls now' : 'All products';
  document.title = state.q || state.brand ? `${state.q || brandName()} · haat` : 'haat · every stall, one search';
  const amount = (key, word) => (state[key] ? `${word} ${price(Number(state[key]), currency.value)}` : '');
  const used = [[state.brand && brandName(), { brand: '' }], [`${amount('price_min', 'from')} ${amount('price_max', 'up to')}`.trim(), { price_min: '', price_max: '' }],
    [state.in_stock && 'In stock', { in_stock: '' }], [state.on_sale && 'On sale', { on_sale: '' }]].filter(([text]) => text);
  const chip = ([text, patch]) => el('li', {}, changer('chip on', patch, { 'aria-label': `Remove the filter ${text}` }, el('span', { dir: 'auto' }, text), decor(' ×')));
  $('active').replaceChildren(...used.map(chip), used.length > 1 ? el('li', {}, changer('link', NO_FILTERS, {}, 'Clear all')) : '');
  $('active').hidden = used.length === 0;
  $('filters-count').textContent = used.length || '';
}

// ---- One product ----

let open = '';
function showProduct() {
  if (state.product === open) return;
  open = state.product;
  if (!open) return dialog.close();
  fillProduct(cards.get(open) ?? { title: '' }, false);
  if (!dialog.open) dialog.showModal();
  $('product-title').focus({ preventScroll: true });
  loadProduct(open);
}

async function loadProduct(id) {
  try {
    const body = await ask(`v1/products/${encodeURIComponent(id)}`, 'product');
    if (body && open === id) fillProduct(body.data, true);
  } catch (failure) {
    if (open !== id) return;
    $('product-title').textContent ||= failure.status === 422 ? 'No such product' : failure.title;
    $('product-body').replaceChildren(el('div', { class: 'message' }, ...failure.show(failure.status >= 400 && failure.status < 429 ? null : () => loadProduct(id))));
  }
}

function section(title, ...content) {
  return el('section', {}, el('h3', {}, title), ...content);
}

function fillProduct(product, whole) {
  const about = product.attributes ?? {};
  const all = { ...NO_FILTERS, q: '', product: '', brand: product.brand_slug };
  $('product-title').textContent = product.title;
  $('product-brand').replaceChildren(product.brand ? changer('link', all, { dir: 'auto', title: 'All products of this brand' }, product.brand) : '');
  $('gallery').replaceChildren(...gallery(product));
  const store = webUrl(about.url);
  const rows = [['category', about.category?.name], ...Object.entries(about.attributes ?? {})].filter(([, values]) => values?.length);
  const review = (one) => el('li', {}, el('p', {}, stars(one.rating), el('b', { dir: 'auto' }, one.author || 'A buyer')),
    one.title ? el('p', { class: 'title', dir: 'auto' }, one.title) : null, el('p', { class: 'text', dir: 'auto' }, one.body));
  $('product-body').replaceChildren(
    product.currency ? offer(product) : '',
    whole ? '' : el('p', { class: 'quiet', role: 'status' }, 'Fetching the details…'),
    store ? el('a', { class: 'buy', href: store.href, target: '_blank', rel: 'noopener noreferrer' }, `See it at ${product.brand}`, decor(' ↗'), unseen(' (opens in a new tab)')) : '',
    whole ? el('p', { class: 'small' }, 'Price and stock as last seen. The store has the last word.') : '',
    about.description ? section('About it', el('p', { class: 'text', dir: 'auto' }, about.description)) : '',
    rows.length ? section('Details', el('dl', {}, ...rows.flatMap(([name, values]) => [el('dt', { dir: 'auto' }, name.replaceAll('_', ' ')), el('dd', { dir: 'auto' }, [values].flat().join(', '))]))) : '',
    product.reviews?.length ? section('Reviews', el('ul', { class: 'reviews' }, ...product.reviews.map(review))) : '');
}

function gallery(product) {
  const images = (product.media ?? []).filter((medium) => medium.kind === 'image').slice(0, 20);
  if (images.length === 0) images.push({ url: product.image });
  const shot = (medium, at) => picture(medium.url, { widths: [720, 1080], sizes: '(max-width: 52rem) 100vw, 32rem', letter: product.brand,
    alt: medium.alt || `${product.title}, picture ${at + 1}`, eager: at === 0 });
  const strip = el('div', { class: 'strip', tabindex: images.length > 1 ? 0 : null, role: 'group', 'aria-label': 'Pictures' },
    ...images.map((medium, at) => el('div', { class: 'frame' }, shot(medium, at))));
  if (images.length === 1) return [strip];
  const thumbs = images.map((medium, at) => el('button', { type: 'button', 'aria-label': `Picture ${at + 1} of ${images.length}`, 'aria-current': String(at === 0),
    click: () => strip.scrollTo({ left: at * strip.clientWidth }) }, picture(medium.url, { widths: [120, 180], sizes: '60px' })));
  strip.addEventListener('scroll', () => {
    const seen = Math.round(strip.scrollLeft / strip.clientWidth);
    thumbs.forEach((thumb, at) => thumb.setAttribute('aria-current', String(at === seen)));
  }, { passive: true });
  return [strip, el('div', { class: 'thumbs' }, ...thumbs)];
}

/** Price, stock and the choice of a variant; a choice changes price and stock. */
function offer(product) {
  const offers = new Map((product.offers ?? []).map((one) => [one.variant_id, one]));
  const variants = (product.variants ?? []).map((variant) => ({ ...variant, ...offers.get(variant.id) }));
  const live = variants.filter((variant) => variant.available);
  let chosen = live.find((variant) => variant.amount_minor === product.price_min_minor) ?? live[0] ?? variants[0];
  const top = el('div', { class: 'offer', 'aria-live': 'polite' });
  const draw = () => {
    const now = chosen ?? { amount_minor: product.price_min_minor, compare_at_minor: product.compare_at_minor, available: product.in_stock };
    top.replaceChildren(priceLine(now.amount_minor, now.compare_at_minor, product.currency, true), el('p', { class: 'state' },
      el('span', { class: now.available ? 'yes' : 'no' }, now.available ? 'In stock' : 'Out of stock'), stars(product.rating, product.rating_count), now.sku ? el('span', { class: 'quiet' }, `SKU ${now.sku}`) : null));
    for (const { label: chip, name, value } of picks) {
      const wanted = { ...chosen.options, [name]: value };
      const buyable = live.some((variant) => Object.entries(wanted).every(([option, held]) => variant.options[option] === held));
      chip.classList.toggle('gone', !buyable);
      chip.lastChild.textContent = buyable ? '' : ' (not available)';
      chip.firstChild.checked = chosen.options[name] === value;
    }
  };
  // Of the variants with the picked value, the one that keeps most of the other choices, an available one first among equals.
  const pick = (name, value) => {
    const fit = (variant) => 2 * Object.keys(variant.options).filter((key) => variant.options[key] === chosen.options[key]).length + Number(variant.available);
    [chosen] = variants.filter((variant) => variant.options[name] === value).sort((a, b) => fit(b) - fit(a));
    draw();
  };
  const names = [...new Set(variants.flatMap((variant) => Object.keys(variant.options)))];
  const picks = names.flatMap((name) => [...new Set(variants.map((variant) => variant.options[name]))].filter(Boolean).map((value) => ({ name, value, label:
    el('label', { class: 'pick' }, el('input', { type: 'radio', name: `option ${name}`, change: () => pick(name, value) }), el('span', { dir: 'auto' }, value), unseen('')) })));
  draw();
  return el('div', { class: 'choice' }, top, ...names.map((name) => el('fieldset', {}, el('legend', {}, name), ...picks.filter((one) => one.name === name).map((one) => one.label))));
}

// ---- What the visitor does ----

const bare = (event) => !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

// Letters typed in one go are one step of the history.
let typedAt = -Infinity;
const typed = debounced(150, () => {
  const replace = performance.now() - typedAt < 2500;
  typedAt = performance.now();
  go({ q: input.value.trim() }, { replace });
});
input.addEventListener('input', (event) => { if (!event.isComposing) typed(); });
input.addEventListener('compositionend', typed);
input.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown') return;
  event.preventDefault();
  grid.querySelector('a')?.focus();
});
$('search').addEventListener('submit', (event) => {
  event.preventDefault();
  typed.cancel();
  typedAt = -Infinity;
  go({ q: input.value.trim() });
  if (matchMedia('(pointer: coarse)').matches) input.blur();
});
$('home').addEventListener('click', (event) => {
  if (!bare(event)) return;
  event.preventDefault();
  go({ ...NO_FILTERS, q: '', sort: '' });
  scrollTo(0, 0);
});

function takePrices() {
  pricesTyped.cancel();
  const [from, to] = [low, high].map((field) => minorOf(field, currency.value));
  if (from === null || to === null) priceNote('Please type an amount, such as 1200.');
  else if (from && to && Number(from) > Number(to)) priceNote('The lowest price is above the highest.');
  else go({ price_min: from, price_max: to, currency: currency.value });
}
const pricesTyped = debounced(400, takePrices);
const brandTyped = debounced(150, () => loadBrands($('brand-q').value.trim()).catch(() => {}));
filters.addEventListener('input', ({ target }) => {
  if (target === low || target === high) pricesTyped();
  if (target.id === 'brand-q') brandTyped();
});
filters.addEventListener('change', ({ target }) => {
  if (target.type === 'checkbox') go({ [target.name]: String(target.checked) });
  if (target.name === 'brand') go({ brand: target.value });
  if (target === currency) takePrices();
});
filters.addEventListener('submit', (event) => { event.preventDefault(); takePrices(); });
sort.addEventListener('change', () => go({ sort: sort.value, currency: currency.value }));

function showPanel(shown) {
  document.body.classList.toggle('filtering', shown);
  $('filters-toggle').setAttribute('aria-expanded', String(shown));
  (shown ? filters.elements.in_stock : $('filters-toggle')).focus();
}
const panelShown = () => document.body.classList.contains('filtering');
$('filters-toggle').addEventListener('click', () => showPanel(!panelShown()));
$('filters-done').addEventListener('click', () => { showPanel(false); $('heading').scrollIntoView(); });
filters.addEventListener('keydown', (event) => { if (event.key === 'Escape' && panelShown()) showPanel(false); });

grid.addEventListener('click', (event) => {
  const id = event.target.closest('a')?.dataset.id;
  if (!id || !bare(event)) return;
  event.preventDefault();
  go({ product: id }, { mark: { opened: true } });
});
grid.addEventListener('keydown', (event) => {
  const links = [...grid.querySelectorAll('a')];
  const at = links.indexOf(event.target);
  const row = getComputedStyle(grid).gridTemplateColumns.split(' ').length;
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + row, ArrowUp: at - row, Home: 0, End: links.length - 1 }[event.key];
  if (at < 0 || to === undefined || !bare(event)) return;
  event.preventDefault();
  (to < 0 ? input : links[Math.min(to, links.length - 1)]).focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || !bare(event) || dialog.open || event.target.closest('input, select')) return;
  event.preventDefault();
  input.focus();
  input.select();
});

dialog.addEventListener('close', () => {
  // The event comes late: the history may have opened the dialog again.
  if (!state.product || dialog.open) return;
  if (history.state?.opened) history.back();
  else go({ product: '' }, { replace: true });
});
dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
$('product-close').addEventListener('click', () => dialog.close());
addEventListener('popstate', () => { state = read(); render(true); });

grid.append(...Array.from({ length: 12 }, () => el('li', { class: 'card ghost', 'aria-hidden': 'true' }, el('div', { class: 'frame' }), el('p'), el('p'))));
render(true);
// Without these two the header line and the brand list stay empty; searching goes on.
loadFacts().catch(() => {});
loadBrands('').catch(() => {});
