//! Data of the query server as tables and table functions of one DataFusion session.
//!
//! Input: a query server. Output: a session over its release, with the release's tables, and functions that call the
//! same operations as the REST API. One statement can therefore join search results with prices, stock and history.
//!
//! | function | a row is | columns |
//! |---|---|---|
//! | `search(q, mode, limit, brand)` | a product that a search finds | `product_id`, `rank`, `score` |
//! | `similar(product_id, limit)` | a product that is like another | `product_id`, `rank`, `score` |
//! | `recommend(product_id, intent, limit)` | a product that goes with another | `product_id`, `rank` |
//! | `shipping(pincode)` | a brand and its delivery there | `brand_slug`, `serviceable`, `days_min`, … |
//!
//! The search rules are in the query server. REST requests never plan SQL.

mod arguments;
mod call;
mod function;
mod scan;
mod stats;

use data_tables::ReleaseTables;
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use query_server::QueryServer;

pub use self::stats::EngineReads;

use self::function::{FUNCTIONS, TableCall};

/// Returns a session with the tables and functions of the release being served; `None` if no release is loaded yet.
///
/// # Errors
/// The query engine rejects a table.
pub fn session(server: &QueryServer) -> Result<Option<SessionContext>, DataFusionError> {
    let Some(pinned) = server.pinned() else { return Ok(None) };
    let Some(release) = pinned.releases().borrow().clone() else {
        return Ok(None);
    };
    let context = ReleaseTables::new(&release)?.context().clone();
    for function in FUNCTIONS {
        context.register_udtf(function.signature.name, TableCall::of(function, &pinned));
    }
    Ok(Some(context))
}
