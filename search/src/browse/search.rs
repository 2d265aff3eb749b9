use super::{Counts, Scope};
use crate::context::SearchContext;
use crate::hybrid::Answer;
use crate::lexical::Allowed;
use crate::plan::SearchPlan;

/// Counts what a search is about: every product that its words match before any filter, and what else is shown.
pub(crate) fn of_search<'a>(served: &'a SearchContext, plan: &SearchPlan, found: &Answer) -> Counts<'a> {
    let brand = plan.brand_scope(&served.release);
    let blank = plan.text.trim().is_empty() && plan.similar_to.is_none();
    let matches = match brand {
        Err(()) => Some(&[][..]),
        Ok(_) if plan.is_blank() => served.decent().map(Allowed::parts),
        Ok(_) if blank => None,
        Ok(_) => Some(&*found.matches),
    };
    let of_kinds = plan.of_kinds(&served.release).map(|kinds| match matches {
        None => kinds,
        Some(matches) => kinds
            .into_iter()
            .zip(matches)
            .map(|(kinds, matches)| kinds.and(matches.clone()))
            .collect(),
    });
    let scope = Scope {
        category: None,
        brand: brand.unwrap_or_default(),
        matches: of_kinds.as_deref().or(matches),
    };
    served
        .browse
        .counts(&served.release, &scope, &plan.counted_filter(), plan.counted())
}
