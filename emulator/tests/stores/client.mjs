// The platform's own client against an emulated store: a cart from its first line to the checkout page. The steps are
// written to standard output as one JSON object.
import { createRequire } from "node:module";

const [folder, base, token, first, second, code] = process.argv.slice(2);
const { createStorefrontApiClient } = createRequire(`${folder}/`)("@shopify/storefront-api-client");

const client = createStorefrontApiClient({
  storeDomain: base,
  apiVersion: "2026-04",
  publicAccessToken: token,
  clientName: "emulator-test",
  retries: 2,
  // The client asks over TLS always; an emulated store has none.
  customFetchApi: (url, init) => fetch(url.replace(/^https:/, "http:"), init),
});

const CART = `#graphql
  fragment Cart on Cart {
    id checkoutUrl totalQuantity
    cost { subtotalAmount { amount currencyCode } totalAmount { amount } }
    discountCodes { code applicable }
    discountAllocations { targetType discountedAmount { amount } ... on CartCodeDiscountAllocation { code } }
    lines(first: 10) { nodes { quantity merchandise { ... on ProductVariant { id } } } }
  }`;

async function step(query, variables) {
  const { data, errors } = await client.request(`${query}\n${CART}`, { variables });
  if (errors) throw new Error(JSON.stringify(errors));
  const payload = Object.values(data)[0];
  if (payload.userErrors?.length) throw new Error(JSON.stringify(payload.userErrors));
  return payload.cart ?? payload;
}

const line = (id, quantity) => ({ merchandiseId: `gid://shopify/ProductVariant/${id}`, quantity });
const created = await step(
  "mutation ($lines: [CartLineInput!]) { cartCreate(input: { lines: $lines }) { cart { ...Cart } userErrors { message } } }",
  { lines: [line(first, 2)] },
);
const added = await step(
  `mutation ($id: ID!, $lines: [CartLineInput!]!) {
    cartLinesAdd(cartId: $id, lines: $lines) { cart { ...Cart } userErrors { message } } }`,
  { id: created.id, lines: [line(second, 1)] },
);
const discounted = await step(
  `mutation ($id: ID!, $codes: [String!]!) {
    cartDiscountCodesUpdate(cartId: $id, discountCodes: $codes) { cart { ...Cart } userErrors { message } } }`,
  { id: created.id, codes: [code, "NO-SUCH-CODE"] },
);
const read = await step("query ($id: ID!) { cart(id: $id) { ...Cart } }", { id: created.id });
const wrong = await client.request("{ shop { nmae } }");
const page = await fetch(read.checkoutUrl);

console.log(
  JSON.stringify({
    created,
    added,
    discounted,
    isTheSame: JSON.stringify(read) === JSON.stringify(discounted),
    wrong: wrong.errors?.graphQLErrors?.map((error) => error.message),
    page: { status: page.status, takesNothing: (await page.text()).includes("takes no payment") },
  }),
);
