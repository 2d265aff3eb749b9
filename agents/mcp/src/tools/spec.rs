/// Facts about a tool that the OpenAPI description lacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Operations of the tool. The one that accepts the given arguments is called.
    pub(super) operations: &'static [&'static str],
    pub(super) hints: Hints,
}

/// Hints that a client may show before a call (`annotations`).
#[derive(Debug, Clone, Copy)]
pub(super) enum Hints {
    /// Reads stored data.
    Stored,
    /// Queries stores and changes nothing there permanently.
    Live,
    /// Adds to a cart or creates a watch.
    Adds,
    /// Changes the content of a cart.
    Changes,
}

impl Hints {
    /// Returns `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`.
    pub(super) const fn flags(self) -> [bool; 4] {
        match self {
            Self::Stored => [true, false, true, false],
            Self::Live => [true, false, true, true],
            Self::Adds => [false, false, false, true],
            Self::Changes => [false, true, false, true],
        }
    }
}

/// Read-only tools, in the order of the list.
pub(super) const READ: [Spec; 10] = [
    Spec {
        name: "search_products",
        title: "Search products",
        description: "Searches the products of all brands and returns the best matches first. Write the query as a \
            shopper would: price limits, exclusions and recipients are understood (`gift for my sister under 2000, \
            not red`). Filters: `price_min` and `price_max` (minor units of `currency`), `in_stock`, `on_sale`, \
            `brand` (a slug), `facets`. `kind` selects products other than goods, such as gift cards. `pincode` adds \
            the delivery estimate for that pincode to each product. `deliver_by` (a date) keeps the products that are \
            known to arrive there in time. Prices are stored; call get_price for the current price.",
        operations: &["search_products"],
        hints: Hints::Stored,
    },
    Spec {
        name: "get_product",
        title: "Get product details",
        description: "Returns one product as stored: variants, images, offers, attributes, reviews, and discount \
            codes that worked at its store when they were last tested. `ident` is the `id` or the `product_uid` of a \
            search result. `pincode` adds the delivery estimate for that pincode.",
        operations: &["get_product"],
        hints: Hints::Stored,
    },
    Spec {
        name: "get_price",
        title: "Get the current price",
        description: "Asks the brand's own store for the current price and stock of each variant. If `verified` is \
            false, the store did not answer and the numbers are stored ones: show them as unverified and do not buy \
            at them. `quote` with `variant_id` adds a signed quote for that variant. Pass it as `quote` of an item to \
            create_cart; the cart line then states if the price held.",
        operations: &["get_price"],
        hints: Hints::Live,
    },
    Spec {
        name: "list_offers",
        title: "Compare brands' offers",
        description: "Lists the offers of all brands for the same product. Offers in stock come first, then the \
            cheapest in each currency. Another size, pack or version is a different product. `confidence` and \
            `reasons` state how certain the match is. `is_this_product` marks the requested product itself. Prices \
            are stored; call get_price for the current price.",
        operations: &["list_offers"],
        hints: Hints::Stored,
    },
    Spec {
        name: "recommend",
        title: "Recommend products",
        description: "Recommends products for a product. `intent` is `related`, `cross_brand` (related, from other \
            brands), `complement` (goes with the product), `cheaper`, or `same_brand`.",
        operations: &["recommend"],
        hints: Hints::Stored,
    },
    Spec {
        name: "browse",
        title: "Browse a category or brand",
        description: "Returns one page of a category or brand, with facets to filter by. Send `category` (a slug or \
            id from list_categories), `brand` (a slug from list_brands), or both. `pincode` adds delivery estimates, \
            and `deliver_by` keeps the products that arrive by that date.",
        operations: &["browse"],
        hints: Hints::Stored,
    },
    Spec {
        name: "suggest",
        title: "Autocomplete a query",
        description: "Completes a partly typed query and returns matching queries, products, brands and categories.",
        operations: &["suggest"],
        hints: Hints::Stored,
    },
    Spec {
        name: "find_coupons",
        title: "Find working coupons",
        description: "Finds discount codes that work at a brand's store now. Each code is tested in the store's cart. \
            The largest discount comes first. Send exactly one of `product`, `brand` and `domain`. Needs a key.",
        operations: &["find_coupons"],
        hints: Hints::Live,
    },
    Spec {
        name: "list_brands",
        title: "List brands",
        description: "Lists the brands; those with the most products come first. `q` searches by name.",
        operations: &["list_brands"],
        hints: Hints::Stored,
    },
    Spec {
        name: "list_categories",
        title: "List categories",
        description: "Returns the tree of the categories that have products.",
        operations: &["list_categories"],
        hints: Hints::Stored,
    },
];

/// Watch tool, for servers that have watches.
pub(super) const WATCH: [Spec; 1] = [Spec {
    name: "watch_product",
    title: "Watch a product or a query",
    description: "Notifies a webhook when a product's price falls below `price_below` (minor units), its discount \
        reaches `discount_at_least` percent, or it is back in stock (`back_in_stock`). With `query` instead, it \
        notifies when a new matching product is found. `webhook.url` is a public https URL that belongs to the \
        person: ask for it. Keep `secret`: it signs the notifications. Needs a key.",
    operations: &["create_watch"],
    hints: Hints::Adds,
}];

/// Cart tools, if the operator offers them. Cart tools never pay, but lead to checkout links that a person opens.
pub(super) const CART: [Spec; 5] = [
    Spec {
        name: "create_cart",
        title: "Create a cart",
        description: "Creates a cart with items of one or more brands. Each brand's items are in a cart at its own \
            store. Keep `cart_id`: only the caller that created the cart can use it, until `expires_at`. This orders \
            nothing and pays nothing. Needs a key.",
        operations: &["create_cart"],
        hints: Hints::Adds,
    },
    Spec {
        name: "update_cart",
        title: "Change a cart",
        description: "Changes a cart. `items` adds products. `line_id` with `qty` sets the quantity of a line; 0 \
            removes the line. Send either `items`, or `line_id` and `qty`. This orders nothing and pays nothing. \
            Needs a key.",
        operations: &["add_cart_lines", "update_cart_line", "remove_cart_line"],
        hints: Hints::Changes,
    },
    Spec {
        name: "get_cart",
        title: "Get a cart",
        description: "Returns a cart with the current prices and stock of its stores. A cart that expired, or belongs \
            to another caller, is not found. Needs a key.",
        operations: &["get_cart"],
        hints: Hints::Live,
    },
    Spec {
        name: "apply_discount",
        title: "Apply a discount code",
        description: "Applies a discount code at one brand's store of a cart, or at all of them. `applicable` states \
            whether the store accepts the code. Needs a key.",
        operations: &["add_cart_discount"],
        hints: Hints::Adds,
    },
    Spec {
        name: "checkout_links",
        title: "Get checkout links",
        description: "Returns a checkout link for each brand's store. Give the links to the person, who reviews the order and \
            pays there. This tool orders nothing and pays nothing. Needs a key.",
        operations: &["create_checkout"],
        hints: Hints::Adds,
    },
];
