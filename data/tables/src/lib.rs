//! SQL over a release: its products, variants, reviews, facet values and brands as DataFusion tables.
//!
//! In: an opened [`Release`](data_index::Release). Out: a session in which its tables are registered once, with
//! columns named as in the lake. Filters that the release has posting lists for are answered by them, and only the
//! columns that a statement reads are made. It is the oracle that the kernels of the query server are held equal to,
//! and what answers whatever no kernel does. It never reads the lake and never writes.
//!
//! | table | a row is | columns of its own |
//! |---|---|---|
//! | `products` | a product | `brand`, `image`, `category_slug`, `department`, `url`, what it holds and costs by content, `newest_at`, `quality` |
//! | `variants` | a variant | what it holds and costs by content |
//! | `reviews` | a review that the release holds; `source` says who publishes it | |
//! | `facets` | a facet value of a product | `name`, `value` (both folded), `label` |
//! | `brands` | a brand, those without products too | totals of its products |
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

/// A release's tables in one session, made once and kept as long as the release.
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
    /// The query engine refuses a table.
    pub fn new(release: &Arc<Release>) -> Result<Self, DataFusionError> {
        let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
        for table in schema::TABLES {
            let provider = ReleaseTable::new(Arc::clone(release), table);
            context.register_table(table.name, Arc::new(provider))?;
        }
        Ok(Self { context })
    }

    /// The session.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.context
    }
}
