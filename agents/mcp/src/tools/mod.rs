//! The tools: which operations they call, what they take and answer, as the interface description has it.

mod arguments;
mod book;
mod operation;
mod result;
mod schema;
mod spec;

pub(crate) use self::book::Book;
pub use self::book::BookError;
pub(crate) use self::result::{DATA_NOTICE, tool_result};

#[cfg(test)]
mod tests;
