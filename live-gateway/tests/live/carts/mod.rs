//! Carts over emulated stores, through the routes.

mod accounts;
mod arithmetic;
mod changes;
mod checkout;
mod codes;
mod faults;
mod idempotency;
mod killed;
mod leases;
mod mall;
mod measure;
mod owners;
mod replacing;
mod reuse;
mod secrets;
mod shortages;
mod unknown;
mod walk;
