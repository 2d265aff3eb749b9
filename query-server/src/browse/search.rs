use data_index::RowAddress;

use super::{Counts, Scope};
use crate::hybrid::Answer;
use crate::lexical::RowSet;
use crate::plan::search::SearchPlan;
use crate::served::Served;

/// Counts what a search is about: every product that its words match before any filter, and every product that is
/// shown, so that what was found by meaning alone or by fewer words counts as well.
pub(crate) fn of_search<'a>(served: &'a Served, plan: &SearchPlan, found: &mut Answer) -> Counts<'a> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(Vec::new()),
        Ok(_) if blank => None,
        Ok(_) => {
            let shown = found.rows.iter().map(|row| row.at);
            Some(matched(served, std::mem::take(&mut found.matches), shown))
        }
    };
    let scope = Scope {
        category: None,
        brand: brand.unwrap_or_default(),
        matches: matches.as_deref(),
    };
    served
        .browse
        .counts(&served.release, &scope, plan.row_filter(), plan.currency)
}

fn matched(served: &Served, matches: Vec<RowSet>, shown: impl Iterator<Item = RowAddress>) -> Vec<RowSet> {
    // Meaning alone, and likeness to a product, match to a degree: there is no set but what is shown.
    let mut rows = if matches.is_empty() {
        RowSet::none_of(&served.release)
    } else {
        matches
    };
    for at in shown {
        if let Some(rows) = rows.get_mut(at.part as usize) {
            rows.insert(at.row);
        }
    }
    rows
}
