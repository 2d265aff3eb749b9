use super::{Counts, Scope};
use crate::hybrid::Answer;
use crate::lexical::Allowed;
use crate::operations::SearchPlan;
use crate::served::Served;

/// Counts what a search is about: every product that its words match before any filter, and what else is shown.
pub(crate) fn of_search<'a>(served: &'a Served, plan: &SearchPlan, found: &Answer) -> Counts<'a> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(&[][..]),
        Ok(_) if plan.is_blank() => served.decent().map(Allowed::parts),
        Ok(_) if blank => None,
        Ok(_) => Some(&*found.matches),
    };
    let scope = Scope {
        category: None,
        brand: brand.unwrap_or_default(),
        matches,
    };
    served
        .browse
        .counts(&served.release, &scope, plan.row_filter(), plan.counted())
}
