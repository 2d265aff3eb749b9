//! Read operations for which an SQL engine replaces code. Shoppers never wait for them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use data_index::Release;

use crate::schema::GroupStats;

data_model::named! {
    /// Property by which products are grouped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GroupBy {
        /// Brand that sells the product.
        Brand = "brand",
        /// Category under which the product is directly filed.
        Category = "category",
        /// Currency of the product's prices.
        Currency = "currency",
    }
}

/// Error of a read, for the log.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;
/// Future of a read's result.
pub type ReadFuture<T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send>>;

/// Engine for the read operations that have no code of their own.
pub trait Reads: fmt::Debug + Send + Sync {
    /// Returns statistics for all groups of a release's products, largest group first.
    fn stats_by(&self, release: Arc<Release>, by: GroupBy) -> ReadFuture<Vec<GroupStats<'static>>>;
}
