//! Reads that have no kernel: an engine that plans statements answers them, where the program has one. Nothing that shoppers
//! wait for is asked here.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use data_index::Release;

use crate::schema::GroupStats;

/// A property of products that groups of them are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupBy {
    /// The brand that sells them.
    Brand,
    /// The category that they are filed under directly.
    Category,
    /// The currency of their prices.
    Currency,
}

impl GroupBy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Brand, Self::Category, Self::Currency];

    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brand => "brand",
            Self::Category => "category",
            Self::Currency => "currency",
        }
    }
}

/// The reason why a read has no answer, for the log.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;
/// An answer to be.
pub type ReadFuture<T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send>>;

/// Answers reads that have no kernel.
pub trait Reads: fmt::Debug + Send + Sync {
    /// The figures of all groups of a release's products, those with most products first.
    fn stats_by(&self, release: Arc<Release>, by: GroupBy) -> ReadFuture<Vec<GroupStats<'static>>>;
}
