use super::FusedRow;
use crate::lexical::tier;
use crate::render::json::{ObjectWriter, number, object};

/// Writes of what a product's place is made.
pub(crate) fn explain(out: &mut Vec<u8>, row: &FusedRow, id: data_model::ProductId) {
    object(out, |members| {
        members.id("id", id);
        number(members.name("score"), row.score);
        match &row.by_words {
            None => members.null("words"),
            Some(found) => members.object("words", |words| {
                words.text("tier", tier::name(found.tier));
                number(words.name("score"), found.score);
                number(words.name("fit"), found.fit);
                number(words.name("share"), 1.0 - row.meaning);
            }),
        }
        number(members.name("category"), row.category);
        match row.cosine {
            None => members.null("meaning"),
            Some(cosine) => members.object("meaning", |meaning| of_meaning(meaning, row, cosine)),
        }
    });
}

fn of_meaning(meaning: &mut ObjectWriter<'_>, row: &FusedRow, cosine: f32) {
    number(meaning.name("cosine"), cosine);
    number(meaning.name("nearness"), row.nearness);
    number(meaning.name("share"), row.meaning);
}
