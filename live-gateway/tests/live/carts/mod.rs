//! Carts over emulated stores, through the routes.

mod accounts;
mod arithmetic;
mod checkout;
mod codes;
mod faults;
mod idempotency;
mod killed;
mod mall;
mod measure;
mod owners;
mod secrets;
mod shortages;
mod walk;
