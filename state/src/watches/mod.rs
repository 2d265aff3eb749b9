//! Watches, and the events that are to be told. Rows are kept as they are given: the rules are their owner's.

mod change;
mod deliver;
mod judge;
mod row;

pub use self::deliver::{AttemptOutcome, DueEvent};
pub use self::judge::JudgedWatch;
pub use self::row::{EventState, NewWatchEvent, WatchCreation, WatchEventRow, WatchRow};
