//! Carts over emulated stores, through the routes.

mod accounts;
mod arithmetic;
mod changes;
mod checkout;
mod codes;
mod deadlines;
mod faults;
mod idempotency;
mod killed;
mod known;
mod leases;
mod links;
mod mall;
mod measure;
mod model;
mod owners;
mod plays;
mod replacing;
mod reuse;
mod secrets;
mod shortages;
mod store_lines;
mod stores;
mod unknown;
mod walk;
