//! The tools: which operations they call, what they take and answer, as the interface description has it.

mod app;
mod arguments;
mod book;
mod connector;
mod market;
mod operation;
mod result;
mod schema;
mod spec;
mod toolset;
mod view;

pub use self::book::BookError;
pub use self::market::{MarketOffer, MarketTools};
pub(crate) use self::result::{DATA_NOTICE, Results};
pub use self::toolset::{Resource, ToolError, ToolOutcome, Toolset};

#[cfg(test)]
mod tests;
