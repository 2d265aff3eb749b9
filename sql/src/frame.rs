use datafusion::config::Dialect;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::AggregateUDF;
use datafusion::prelude::{SQLOptions, SessionContext};

use crate::mode::Mode;
use crate::rewrite::rewrite;

/// Plans a statement over the caller's own session, without limits. The syntax is that of statements for the SQL
/// endpoint.
///
/// # Errors
/// The statement cannot be parsed, or `options` forbid it.
pub async fn frame(context: &SessionContext, text: &str, options: &SQLOptions) -> Result<DataFrame, DataFusionError> {
    context.register_udaf(AggregateUDF::from(Mode::default()));
    let state = context.state();
    let mut statement = state.sql_to_statement(text, &Dialect::Generic)?;
    rewrite(&mut statement).map_err(|error| DataFusionError::Plan(error.to_string()))?;
    let plan = state.statement_to_plan(statement).await?;
    options.verify_plan(&plan)?;
    context.execute_logical_plan(plan).await
}
