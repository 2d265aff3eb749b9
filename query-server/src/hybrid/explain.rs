use data_model::ProductId;

use super::FusedRow;
use crate::lexical::tier;
use crate::schema::{Explained, ExplainedMeaning, ExplainedWords};

/// Of what a product's place is made.
pub(crate) fn explain(row: &FusedRow, id: ProductId) -> Explained<'static> {
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
