//! One engine with two doors: what the query server answers, as tables and table functions of one DataFusion session.
//!
//! In: a query server. Out: a session over the release that it serves: the release's tables, and functions that call the
//! operations that REST calls, so that a statement joins what a search found with prices, stock and history.
//!
//! | function | a row is | columns |
//! |---|---|---|
//! | `search(q, mode, limit, brand)` | a product that a search finds | `product_id`, `rank`, `score` |
//! | `similar(product_id, limit)` | a product that is like another | `product_id`, `rank`, `score` |
//! | `recommend(product_id, intent, limit)` | a product that goes with another | `product_id`, `rank` |
//! | `shipping(pincode)` | a brand and its delivery there | `brand_slug`, `serviceable`, `days_min`, … |
//!
//! It holds no rule of a search: those are the query server's. It never plans on the way of a REST request.

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

/// The tables and functions of the release that a server serves now; `None` before there is one.
///
/// # Errors
/// The query engine refuses a table.
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
