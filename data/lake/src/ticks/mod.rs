//! Ticks: what makes one commit of the whole lake out of one commit a table.
//!
//! A tick stages its rows, then writes its record under the next number by a conditional create. From then on it
//! will happen: whoever opens the lake and finds a record without its end applies the staged rows to the tables
//! that do not have the tick yet. The end names the version of every table.
//!
//! One exception: where rows that it must rewrite are lost and no table has it yet, the tick is given up. The table
//! that every tick comes to first decides: its next version carries either the tick or the mark that it was given up.

mod record;
mod staging;
mod store;

pub(crate) use record::PackedRows;
pub(crate) use record::{Rows, TickEnd, TickKind, TickRecord};
pub(crate) use staging::{is_same, pack, staged};
pub(crate) use store::Ticks;
