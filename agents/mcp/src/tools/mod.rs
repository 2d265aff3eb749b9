//! Tools: the operations that they call, with arguments and results from the OpenAPI description.

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
