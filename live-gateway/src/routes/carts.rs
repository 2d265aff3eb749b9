//! Routes of carts: read a request, call one operation, write.

pub(in crate::routes) mod asking;
pub(in crate::routes) mod body;
pub(in crate::routes) mod codes;
pub(in crate::routes) mod create;
pub(in crate::routes) mod delivery;
pub(in crate::routes) mod lines;
pub(in crate::routes) mod optimize;
