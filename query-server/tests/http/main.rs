//! Tests of the query server through its routes and the operations behind them, without sockets. Releases are built
//! from test products.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what helpers of tests cannot do ends the test"
)]

mod accessories;
mod adult;
mod brand_products;
mod brands;
mod browse;
mod browse_faults;
mod catalogue;
mod changes;
mod checks;
mod concepts;
mod counted;
mod currencies;
mod cut_lists;
mod delivery;
mod discounts;
mod edges;
mod faults;
mod fold;
mod internal;
mod kinds;
mod languages;
mod lookup;
mod meaning;
mod offers;
mod openapi;
mod operations;
mod pages;
mod price_history;
mod product;
mod recipients;
mod recommend;
mod search;
mod search_facets;
mod shipping;
mod shop;
mod sized;
mod spellings;
mod stale;
mod suggest;
mod support;
mod swap;
mod totals;
mod understood;
mod wide;
mod words;
mod zones;
