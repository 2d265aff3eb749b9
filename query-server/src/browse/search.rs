use data_index::RowAddress;

use super::{Counts, Scope};
use crate::lexical::{ReadError, RowSet, Wanted, match_set};
use crate::plan::search::{Mode, SearchPlan};
use crate::served::Served;

/// Counts what a search is about: every product that its words match before any filter, and every product that is
/// shown, so that what was found by meaning alone or by fewer words counts as well.
pub(crate) fn of_search<'a>(
    served: &'a Served,
    plan: &SearchPlan,
    shown: impl Iterator<Item = RowAddress>,
) -> Result<Counts<'a>, ReadError> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(Vec::new()),
        Ok(_) if blank => None,
        Ok(_) => Some(matched(served, plan, shown)?),
    };
    let scope = Scope {
        category: None,
        brand: brand.unwrap_or_default(),
        matches: matches.as_deref(),
    };
    let counts = served
        .browse
        .counts(&served.release, &scope, plan.row_filter(), plan.currency);
    Ok(counts)
}

fn matched(
    served: &Served,
    plan: &SearchPlan,
    shown: impl Iterator<Item = RowAddress>,
) -> Result<Vec<RowSet>, ReadError> {
    // Meaning alone, and likeness to a product, match to a degree: there is no set but what is shown.
    let mut rows = if plan.mode == Mode::Semantic || plan.text.trim().is_empty() {
        RowSet::none_of(&served.release)
    } else {
        let wanted = Wanted {
            text: &plan.text,
            as_typed: plan.mode == Mode::Lexical,
            filter: None,
            order: plan.order,
            limit: plan.limit,
            enough: plan.limit,
        };
        match_set(&served.release, &served.text, &wanted)?
    };
    for at in shown {
        if let Some(rows) = rows.get_mut(at.part as usize) {
            rows.insert(at.row);
        }
    }
    Ok(rows)
}
