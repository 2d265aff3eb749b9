//! Records when each brand's store was last queried and the outcome, in `checks/{seq:020}.json`.
//!
//! Input: a crawl's result for each store that it queried. Output: one [`Check`] per brand, and the last run
//! ([`LastRun`]). The record is next to the registry and not in the lake, because a check of an unchanged store must be
//! recorded although it creates no lake commit.
//!
//! Readers decide if a check is too old. No code of the crate reads the clock. The only history here is the rate of
//! changes per brand ([`ChangeRate`]). `runs/` contains the full history.

mod check;
mod record;

pub use check::{ChangeRate, Check, CheckOutcome, CheckReport, Checks, LastRun, RunEnd};
pub use record::{ChecksError, load, load_newer, record, record_stores};
