//! Routes of carts: each reads a request, calls one operation and writes the response.

pub(in crate::routes) mod asking;
pub(in crate::routes) mod body;
pub(in crate::routes) mod codes;
pub(in crate::routes) mod create;
pub(in crate::routes) mod delivery;
pub(in crate::routes) mod lines;
pub(in crate::routes) mod optimize;
