//! SQL over a release: its products, variants, reviews, facet values and brands as DataFusion tables.
//!
//! Input: an opened [`Release`](data_index::Release). Output: a session in which its tables are registered once, with
//! columns named as in the lake. Filters for which the release has posting lists use these lists, and only the columns
//! that a statement reads are built. The tables are the oracle against which the kernels of the query server are
//! tested. The tables also execute the queries that no kernel covers. The crate never reads the lake and never writes.
//!
//! | table | a row is | specific columns |
//! |---|---|---|
//! | `products` | a product | `brand`, `image`, `category_slug`, `department`, `url`, net content and unit price, `newest_at`, `quality` |
//! | `variants` | a variant | net content and unit price |
//! | `reviews` | a review in the release; `source` says who publishes it | |
//! | `facets` | a facet value of a product | `name`, `value` (both folded), `label` |
//! | `brands` | a brand, including brands without products | totals of its products |
//! | `product_matches` | a product and the same product of another brand | all of them |

mod columns;
mod content;
mod filters;
mod matched;
mod provider;
mod rows;
mod schema;

use std::sync::Arc;

use data_index::Release;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};

use self::provider::ReleaseTable;

/// Tables of a release in one session, created once and used as long as the release is open.
#[derive(Clone)]
pub struct ReleaseTables {
    context: SessionContext,
}

impl std::fmt::Debug for ReleaseTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleaseTables").finish_non_exhaustive()
    }
}

impl ReleaseTables {
    /// Registers the tables of a release.
    ///
    /// # Errors
    /// The query engine rejects a table.
    pub fn new(release: &Arc<Release>) -> Result<Self, DataFusionError> {
        let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
        for table in schema::TABLES {
            let provider = ReleaseTable::new(Arc::clone(release), table);
            context.register_table(table.name, Arc::new(provider))?;
        }
        Ok(Self { context })
    }

    /// Returns the session.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.context
    }
}
