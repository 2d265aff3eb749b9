use search::SuggestResult;

use super::{TIER, card, provenance};
use crate::schema::{SuggestAnswer, SuggestedName, Suggestions};
use crate::served::ReleaseView;

pub(crate) fn suggested<'a>(served: &'a ReleaseView, found: &'a SuggestResult) -> SuggestAnswer<'a> {
    let brands = found.brands.iter().filter_map(|at| served.release.brands().get(*at));
    let brands = brands.map(|entry| SuggestedName {
        slug: entry.facts.brand.slug.as_str().into(),
        name: entry.facts.brand.name.as_str().into(),
    });
    let categories = found.categories.iter().map(|category| SuggestedName {
        slug: category.slug.as_str().into(),
        name: category.name.into(),
    });
    SuggestAnswer {
        data: Suggestions {
            queries: found.queries.iter().map(Into::into).collect(),
            products: card::cards(served, &found.products),
            brands: brands.collect(),
            categories: categories.collect(),
        },
        provenance: provenance(served.id_text()),
        tier: TIER,
    }
}
