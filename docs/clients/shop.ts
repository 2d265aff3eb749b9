// From a sentence to the brands' own checkouts, without dependencies.
//
//   node shop.ts http://127.0.0.1:8080 KEY "running shoes for men under 4000"      (Node 22.18 or newer, Deno, Bun)
//
// Prints what it does, and one checkout link a brand as its last lines.

interface Envelope<T, P = Record<string, unknown>> {
  data: T;
  provenance: P;
  tier: "graph" | "live";
  as_of?: string;
}

interface Card {
  id: string;
  title: string;
  brand: string;
  brand_slug: string;
  price_min_minor: number;
  currency: string;
}

interface Discovered extends Card {
  why: string;
  misses: string[];
  add_to_cart: { method: string; href: string; body: unknown };
}

interface DiscoverProvenance {
  intent: Record<string, unknown>;
  degraded: boolean;
  left_out: Record<string, number>;
}

interface LivePrice {
  verified: boolean;
  price_min_minor: number;
  currency: string;
}

interface Cart {
  cart_id: string;
  totals: { currency: string; total_minor: number }[];
  problems: { detail: string }[];
}

interface Checkout {
  checkouts: { brand_slug: string; checkout_url: string }[];
}

const [base, key, sentence] = process.argv.slice(2);
if (base === undefined || key === undefined || sentence === undefined) {
  throw new Error("node shop.ts ADDRESS KEY SENTENCE");
}

/** Sends a request; `href` is a path of the market or an absolute address. */
async function ask<A>(method: string, href: string, body?: unknown): Promise<A> {
  const headers: Record<string, string> = { "X-Service-Key": key, Accept: "application/json" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    // The same request sent again, after a broken connection, does nothing twice.
    headers["Idempotency-Key"] = crypto.randomUUID();
  }
  const answer = await fetch(new URL(href, base), {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) {
    throw new Error(`${method} ${href}: ${answer.status} ${await answer.text()}`);
  }
  return (await answer.json()) as A;
}

/** An amount as people read it, by the currency's own number of decimals. */
function amount(minor: number, currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "code" });
  const decimals = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(minor / 10 ** decimals);
}

// Words alone: the search.
const words = new URLSearchParams({ q: sentence, limit: "3", in_stock: "true" });
const found = await ask<Envelope<Card[]>>("GET", `/v1/search?${words}`);
for (const card of found.data) {
  console.log("found:", card.title, "from", card.brand);
}

// A sentence with its limits: discovery. Each product comes with the request that buys it; what misses a limit says so.
const answer = await ask<Envelope<Discovered[], DiscoverProvenance>>("POST", "/v1/discover", { query: sentence, limit: 3 });
console.log("understood:", JSON.stringify(answer.provenance.intent));
const chosen = answer.data.find((item) => item.misses.length === 0);
if (chosen === undefined) {
  throw new Error(`nothing keeps to the sentence: ${JSON.stringify(answer.provenance.left_out)}`);
}
console.log("chosen:", chosen.title, "from", chosen.brand);
console.log("why:", chosen.why);

// Stored prices may be old: the brand's own store says what it costs now.
const price = (await ask<Envelope<LivePrice>>("GET", `/v1/products/${chosen.id}/price`)).data;
if (!price.verified) {
  throw new Error("the store did not confirm its price; try again later");
}
console.log("price now:", amount(price.price_min_minor, price.currency));

// A cart, with the request exactly as it was given.
const { method, href, body } = chosen.add_to_cart;
const cart = (await ask<Envelope<Cart>>(method, href, body)).data;
for (const problem of cart.problems) {
  console.log("problem:", problem.detail);
}
for (const total of cart.totals) {
  console.log("total:", amount(total.total_minor, total.currency));
}

// Each brand's own checkout; the buyer pays there.
const checkout = (await ask<Envelope<Checkout>>("POST", "/v1/checkout", { cart_id: cart.cart_id })).data;
for (const link of checkout.checkouts) {
  console.log("checkout:", link.brand_slug, link.checkout_url);
}
