//! How large a plan becomes. A name that is used twice is one thing in a statement and two in its plan, so that thirty lines may
//! stand for a billion steps, which planning would write out one by one. Counted are the steps as they would be written out,
//! and what a column is made of where all names in it are replaced by what they stand for.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, GroupingSet, LogicalPlan, WindowFunctionDefinition};

use crate::SqlError;
use crate::guard::Stop;

/// Most steps of a plan.
const STEPS_MAX: u64 = 2_000;
/// Most grouping sets of one step.
const GROUPING_SETS_MAX: u64 = 64;
/// Most parts of an expression with all names replaced.
const PARTS_MAX: u64 = 50_000;

/// Refuses a plan that is too large.
pub(crate) fn check(plan: &LogicalPlan) -> Result<()> {
    Sizes::default().of(plan).map(|_| ())
}

/// Refuses what makes a text or list of as much as there is, and would be written once for each row: as a window, over all.
fn check_windows(plan: &LogicalPlan) -> Result<()> {
    let LogicalPlan::Window(windows) = plan else {
        return Ok(());
    };
    for expression in &windows.window_expr {
        if let Expr::WindowFunction(window) = expression.clone().unalias_nested().data
            && let WindowFunctionDefinition::AggregateUDF(function) = &window.fun
            && GATHERING.contains(&function.name())
        {
            let words = format!("{} is not taken over a window: group by instead", function.name());
            return Err(DataFusionError::External(Box::new(SqlError::Refused(words))));
        }
    }
    Ok(())
}

/// Refuses to group in so many ways at once: the groups of each way are held beside those of all others.
fn check_grouping(plan: &LogicalPlan) -> Result<()> {
    let LogicalPlan::Aggregate(aggregate) = plan else {
        return Ok(());
    };
    let sets = aggregate.group_expr.iter().fold(1_u64, |sets, expression| {
        let ways = match expression {
            Expr::GroupingSet(GroupingSet::Cube(columns)) => {
                u32::try_from(columns.len()).map_or(u64::MAX, |columns| 2_u64.saturating_pow(columns))
            }
            Expr::GroupingSet(GroupingSet::Rollup(columns)) => columns.len() as u64 + 1,
            Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => sets.len() as u64,
            _ => 1,
        };
        sets.saturating_mul(ways)
    });
    if sets > GROUPING_SETS_MAX {
        let words =
            format!("the statement groups in {sets} ways at once, of {GROUPING_SETS_MAX}: ask for fewer grouping sets");
        return Err(DataFusionError::External(Box::new(SqlError::Refused(words))));
    }
    Ok(())
}

/// Functions whose values hold all that they were given.
const GATHERING: [&str; 2] = ["array_agg", "string_agg"];

/// Refuses constants that are too large to be written once for each row of a batch. In an optimized plan: what follows from
/// constants alone is a constant there.
pub(crate) fn check_constants(plan: &LogicalPlan, stop: &Stop) -> Result<()> {
    plan.apply_with_subqueries(|step| {
        step.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::Literal(value, _) = part {
                    stop.check_repeated(value.size())?;
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

/// What is known of a step with all that it reads.
#[derive(Debug, Clone)]
struct Size {
    steps: u64,
    /// By column: the parts of what it is made of.
    columns: Arc<[u64]>,
}

/// Sizes of steps that are met more than once, by where they stand in memory; the plan outlives them.
#[derive(Default)]
struct Sizes(HashMap<*const LogicalPlan, Size>);

fn refused(words: &str, most: u64) -> DataFusionError {
    let words = format!("the statement {words} more than {most}: name fewer things by means of each other");
    DataFusionError::External(Box::new(SqlError::Refused(words)))
}

impl Sizes {
    fn of(&mut self, plan: &LogicalPlan) -> Result<Size> {
        let at: *const LogicalPlan = plan;
        if let Some(known) = self.0.get(&at) {
            return Ok(known.clone());
        }
        let size = self.count(plan)?;
        self.0.insert(at, size.clone());
        Ok(size)
    }

    fn count(&mut self, plan: &LogicalPlan) -> Result<Size> {
        check_windows(plan)?;
        check_grouping(plan)?;
        let inputs = plan.inputs();
        let read = inputs.iter().map(|input| self.of(input)).collect::<Result<Vec<_>>>()?;
        let mut steps = read.iter().fold(1_u64, |sum, input| sum.saturating_add(input.steps));
        // In the order in which the step sees them: those of its inputs, one after the other.
        let seen: Vec<u64> = read.iter().flat_map(|input| input.columns.iter().copied()).collect();
        let mut made = Vec::new();
        plan.apply_expressions(|expression| {
            let parts = self.parts(expression, &inputs, &seen, &mut steps)?;
            if parts > PARTS_MAX {
                return Err(refused("makes a column of parts that are", PARTS_MAX));
            }
            made.push(parts);
            Ok(TreeNodeRecursion::Continue)
        })?;
        if steps > STEPS_MAX {
            return Err(refused("has steps that are", STEPS_MAX));
        }
        let count = plan.schema().fields().len();
        let columns = match plan {
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) if made.len() == count => made,
            LogicalPlan::Window(_) if seen.len() + made.len() == count => seen.into_iter().chain(made).collect(),
            _ if seen.len() == count => seen,
            // Some of what is read, or something made of it: no more than the largest of them.
            _ => vec![seen.into_iter().chain(made).max().unwrap_or(1); count],
        };
        Ok(Size {
            steps,
            columns: columns.into(),
        })
    }

    /// The parts of an expression; the steps of its subqueries are added to `steps`.
    fn parts(&mut self, expression: &Expr, inputs: &[&LogicalPlan], seen: &[u64], steps: &mut u64) -> Result<u64> {
        let mut parts = 0_u64;
        expression.apply(|part| {
            parts = parts.saturating_add(match part {
                Expr::Column(column) => {
                    let mut start = 0;
                    let found = inputs.iter().find_map(|input| {
                        let at = input.schema().maybe_index_of_column(column).map(|at| start + at);
                        start += input.schema().fields().len();
                        at
                    });
                    found.and_then(|at| seen.get(at).copied()).unwrap_or(1)
                }
                Expr::ScalarSubquery(subquery) => self.steps_of(&subquery.subquery, steps)?,
                Expr::Exists(exists) => self.steps_of(&exists.subquery.subquery, steps)?,
                Expr::InSubquery(within) => self.steps_of(&within.subquery.subquery, steps)?,
                Expr::SetComparison(within) => self.steps_of(&within.subquery.subquery, steps)?,
                _ => 1,
            });
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(parts)
    }

    fn steps_of(&mut self, plan: &Arc<LogicalPlan>, steps: &mut u64) -> Result<u64> {
        let size = self.of(plan)?;
        *steps = steps.saturating_add(size.steps);
        Ok(1)
    }
}
