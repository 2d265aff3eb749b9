/// What is said of a tool beside the interface description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The operations that it calls: the one that takes the arguments given.
    pub(super) operations: &'static [&'static str],
    pub(super) hints: Hints,
}

/// What a client may show before it calls (`annotations`).
#[derive(Debug, Clone, Copy)]
pub(super) enum Hints {
    /// Reads stored data.
    Stored,
    /// Asks stores, and changes nothing there that outlasts the question.
    Live,
    /// Adds to a cart.
    Adds,
    /// Changes what is in a cart.
    Changes,
}

impl Hints {
    /// `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`
    pub(super) const fn flags(self) -> [bool; 4] {
        match self {
            Self::Stored => [true, false, true, false],
            Self::Live => [true, false, true, true],
            Self::Adds => [false, false, false, true],
            Self::Changes => [false, true, false, true],
        }
    }
}

/// The tools that read, in the order in which they are listed.
pub(super) const READ: [Spec; 9] = [
    Spec {
        name: "search_products",
        title: "Search products",
        description: "Searches products of many brands by what they are called and what is meant, best first. Write the \
            query as a shopper would; prices, what is not wanted, and whom it is for are read out of it. Filter by \
            `price_max` and `price_min` (minor units of `currency`), `in_stock`, `on_sale`, `brand` (a slug) and \
            `facets`. Prices are stored ones: ask get_price for what a product costs now.",
        operations: &["search_products"],
        hints: Hints::Stored,
    },
    Spec {
        name: "get_product",
        title: "Get a product",
        description: "One product with its variants, pictures, offers, attributes and reviews, as stored. `ident` is an \
            `id` or a `product_uid` of a product card.",
        operations: &["get_product"],
        hints: Hints::Stored,
    },
    Spec {
        name: "get_price",
        title: "Get the live price",
        description: "What a product costs now and which variants are in stock, asked of the brand's own store. Where \
            `verified` is false the store did not say: show the numbers as unverified and do not buy on them.",
        operations: &["get_price"],
        hints: Hints::Live,
    },
    Spec {
        name: "recommend",
        title: "Recommend products",
        description: "Products that go with a product: `related` ones, such of other brands (`cross_brand`), \
            `complement`s, `cheaper` ones, or others of the `same_brand`.",
        operations: &["recommend"],
        hints: Hints::Stored,
    },
    Spec {
        name: "browse",
        title: "Browse a category or a brand",
        description: "A page of a category's or a brand's products with the facets to narrow it by. Give `category` (a \
            slug or id of list_categories), `brand` (a slug of list_brands), or both.",
        operations: &["browse"],
        hints: Hints::Stored,
    },
    Spec {
        name: "suggest",
        title: "Suggest while typing",
        description: "Completes what a shopper begins to type: queries, products, brands and categories.",
        operations: &["suggest"],
        hints: Hints::Stored,
    },
    Spec {
        name: "find_coupons",
        title: "Find working coupons",
        description: "Discount codes that work at a brand's store now, tested at its cart, those that take off most first. \
            Give exactly one of `product`, `brand` and `domain`. Needs a key.",
        operations: &["find_coupons"],
        hints: Hints::Live,
    },
    Spec {
        name: "list_brands",
        title: "List brands",
        description: "Brands of the market, those with most products first; `q` looks for a name.",
        operations: &["list_brands"],
        hints: Hints::Stored,
    },
    Spec {
        name: "list_categories",
        title: "List categories",
        description: "The tree of categories that have products.",
        operations: &["list_categories"],
        hints: Hints::Stored,
    },
];

/// The tools of carts, where the operator offers them. None of them pays: they end at links that a person opens.
pub(super) const CART: [Spec; 5] = [
    Spec {
        name: "create_cart",
        title: "Create a cart",
        description: "Makes a cart over several brands; each brand's items lie in a cart of its own store. `cart_id` of \
            the answer names it: only this caller finds it, until `expires_at`. Nothing is ordered or paid. Needs a key.",
        operations: &["create_cart"],
        hints: Hints::Adds,
    },
    Spec {
        name: "update_cart",
        title: "Change a cart",
        description: "Changes a cart: `items` puts more into it; `line_id` with `qty` sets how many there are of a line, 0 \
            takes it out. Give `items`, or `line_id` and `qty`. Nothing is ordered or paid. Needs a key.",
        operations: &["add_cart_lines", "update_cart_line", "remove_cart_line"],
        hints: Hints::Changes,
    },
    Spec {
        name: "get_cart",
        title: "Look at a cart",
        description: "A cart as its stores have it now. One that is over or another's is not found. Needs a key.",
        operations: &["get_cart"],
        hints: Hints::Live,
    },
    Spec {
        name: "apply_discount",
        title: "Enter a discount code",
        description: "Enters a discount code at one brand's store of a cart, or at all of them. `applicable` is the \
            store's own verdict. Needs a key.",
        operations: &["add_cart_discount"],
        hints: Hints::Adds,
    },
    Spec {
        name: "checkout_links",
        title: "Get checkout links",
        description: "The links under which a person checks out, one for each brand's own store. Give them to the person: \
            the person looks at the order and pays there. Nothing is ordered or paid by this tool. Needs a key.",
        operations: &["create_checkout"],
        hints: Hints::Adds,
    },
];
