//! Checks the precision of the rules on manually judged pairs, and the limits of the search over many products.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once, and which pairs were misjudged is told where it fails"
)]

#[path = "matching/counted.rs"]
mod counted;
#[path = "matching/direction.rs"]
mod direction;
#[path = "matching/judged.rs"]
mod judged;
#[path = "matching/many.rs"]
mod many;
#[path = "matching/market.rs"]
mod market;
#[path = "matching/near.rs"]
mod near;
