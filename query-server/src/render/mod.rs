//! Builds answers from the contents of a release, and encodes them as JSON.

pub(crate) mod brand;
pub(crate) mod card;
pub(crate) mod category;
pub(crate) mod changes;
mod discounts;
pub(crate) mod explained;
pub(crate) mod facets;
pub(crate) mod offers;
pub(crate) mod price_history;
pub(crate) mod product;
pub(crate) mod review;
pub(crate) mod shipping;
pub(crate) mod stats;
pub(crate) mod suggested;
pub(crate) mod understood;
mod writer;

use std::borrow::Cow;

pub(crate) use self::writer::json;
use crate::schema::{Page, Pages, Provenance};

/// Tier of every answer from a release.
pub(crate) const TIER: Cow<'static, str> = Cow::Borrowed("graph");
/// Last bytes of the JSON of an answer from a release.
pub(crate) const TIER_END: &str = ",\"tier\":\"graph\"}";

pub(crate) fn provenance(release: &str) -> Provenance<'_> {
    Provenance {
        release: release.into(),
        ignored: None,
    }
}

fn pages(release: &str, next_cursor: Option<String>) -> Pages<'_> {
    Pages {
        release: release.into(),
        page: Page {
            next_cursor: next_cursor.map(Cow::Owned),
        },
        ignored: None,
    }
}
