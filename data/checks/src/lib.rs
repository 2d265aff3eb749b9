//! When each brand's store was last asked, and what came of it: `checks/{seq:020}.json`.
//!
//! In: the result of a crawl at each store that it asked. Out: one [`Check`] a brand, and the last run as a whole
//! ([`LastRun`]). It lies beside the registry and not in the lake, because an unchanged store must show that it was
//! asked although it brings no commit.
//!
//! It never judges: whether a check is too old is the reader's question. It never reads the clock, and holds no
//! history but how often a brand was found changed ([`ChangeRate`]): `runs/` has that.

mod check;
mod record;

pub use check::{ChangeRate, Check, CheckOutcome, CheckReport, Checks, LastRun, RunEnd};
pub use record::{ChecksError, load, load_newer, record, record_stores};
