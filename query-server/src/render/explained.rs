use data_model::ProductId;
use search::{Answer, FusedRow, tier};

use crate::schema::{Explained, ExplainedMeaning, ExplainedWords};
use crate::served::ReleaseView;

/// Returns the score components of all found products.
pub(crate) fn explained(served: &ReleaseView, found: &Answer) -> Vec<Explained<'static>> {
    let rows = found.rows.iter();
    rows.filter_map(|row| Some(explain(row, served.product_id(row.at)?)))
        .collect()
}

fn explain(row: &FusedRow, id: ProductId) -> Explained<'static> {
    Explained {
        id,
        score: row.score,
        words: row.by_words.map(|found| ExplainedWords {
            tier: tier::name(found.tier).into(),
            score: found.score,
            fit: found.fit,
            share: 1.0 - row.meaning,
        }),
        category: row.category,
        meaning: row.cosine.map(|cosine| ExplainedMeaning {
            cosine,
            nearness: row.nearness,
            share: row.meaning,
        }),
    }
}
