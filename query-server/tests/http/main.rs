//! The query server through its routes: no sockets, releases built from products made here.

mod brands;
mod catalogue;
mod edges;
mod faults;
mod openapi;
mod product;
mod search;
mod support;
mod swap;
mod totals;
