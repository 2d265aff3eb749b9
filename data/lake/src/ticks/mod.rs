//! Commit batches (ticks), which turn one Delta commit per table into one commit of the whole lake.
//!
//! A commit batch stages its rows. Its record is then written under the next number by a conditional create. From then
//! on the batch will be applied. Any process that opens the lake and finds a record without an end record applies the
//! staged rows to the tables that do not have the batch yet. The end record lists the version of every table.
//!
//! There is one exception: a batch is given up if rows that it must rewrite are lost and no table has the batch yet.
//! The first table that every batch commits to decides. The next version of that table carries either the batch or the
//! mark that the batch was given up.

mod record;
mod staging;
mod store;

pub(crate) use record::PackedRows;
pub(crate) use record::{Rows, TickEnd, TickKind, TickRecord};
pub(crate) use staging::{is_same, pack, staged};
pub(crate) use store::Ticks;
