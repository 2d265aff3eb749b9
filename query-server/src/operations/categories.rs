use std::sync::Arc;

use api::{Asset, EntityTag};
use data_index::taxonomy::Category;

use super::{Answer, OperationError};
use crate::pictures::Pictures;
use crate::render::category::{self, Pictured};
use crate::render::{TIER, json, provenance};
use crate::schema::CategoriesAnswer;
use crate::served::ReleaseView;
use crate::server::QueryServer;

impl QueryServer {
    /// Returns the category tree without empty categories. The tree is built once per release.
    ///
    /// # Errors
    /// `NotReady`.
    pub fn categories(&self) -> Result<Answer, OperationError> {
        self.at_once(|served| Ok(Answer::constant(categories(served))))
    }
}

pub(crate) fn categories(served: &ReleaseView) -> &Arc<Asset> {
    served.categories.get_or_init(|| {
        let pictures = Pictures::of(&served.release);
        let pictured = Pictured {
            pictures: &pictures,
            release: &served.release,
        };
        let shown = |category: &Category| served.search.is_shown(category);
        let answer = CategoriesAnswer {
            data: category::tree(served.release.category_tree(), pictured, shown),
            provenance: provenance(served.id_text()),
            tier: TIER,
        };
        let tag = EntityTag::of(&[served.stamp(), b"categories"]);
        Arc::new(Asset::graph(tag, json(1 << 16, &answer)))
    })
}
