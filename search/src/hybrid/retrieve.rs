//! Retrieves the hits of a query by words, by meaning or by both, best first. If one method finds nothing, the next one
//! is tried.

use data_embedding::Vector;
use data_index::RowAddress;

use super::answer::Answer;
use super::fuse::{self, FusedRow, Kinds};
use super::query::SearchQuery;
use super::{demotion, expanded_text, interleave, superlative, tuning};
use crate::context::SearchContext;
use crate::lexical::Order;
use crate::request::Mode;
use crate::semantic::{DegradedReason, Near, Nearest};

/// Returns all ranked candidates, best first, regardless of brand. There can be more than on the page.
pub(super) fn ranked(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    let blank = query.text.trim().is_empty();
    let mut answer = match (query.mode, query.similar_to) {
        (_, Some(like)) if blank => by_likeness(served, query, like),
        _ if blank && query.order == Order::Relevance => interleave::by_sense(served, query)
            .or_else(|| interleave::in_turn(served, query))
            .unwrap_or_else(|| by_words(served, query, None)),
        (Mode::Lexical, _) => by_words(served, query, None),
        _ if blank => by_words(served, query, None),
        (Mode::Semantic, _) => by_meaning(served, query),
        (Mode::Hybrid, _) if query.order == Order::Relevance => by_both(served, query),
        (Mode::Hybrid, _) => in_order(served, query),
    };
    if let Some(like) = query.similar_to {
        answer.rows.retain(|row| row.at != like);
    }
    if let Some(first) = query.superlative.filter(|_| query.order == Order::Relevance) {
        superlative::put_first(served, query, first, &mut answer.rows);
    }
    if !query.mentions.is_empty() || query.is_for_somebody {
        put_last(served, query, &mut answer.rows);
    }
    answer
}

/// Among the products with as many words as the best one, those that deny an unwanted thing come first, and those that
/// mention it last. For a gift, an occasion or a recipient, products with a price of 0 come last too.
fn put_last(served: &SearchContext, query: &SearchQuery<'_>, rows: &mut [FusedRow]) {
    let tier = |row: &FusedRow| row.by_words.map_or(0, |found| found.tier);
    let Some(best) = rows.first().map(tier) else { return };
    let mut texts_left = tuning::TEXTS_READ_MAX;
    let doubt = |row: &FusedRow| {
        let part = served.release.part(row.at.part).filter(|_| query.is_for_somebody);
        let is_free = part.is_some_and(|part| part.cards().price_min_minor(row.at.row) == 0);
        let mentions = query.mentions.iter();
        let doubts = mentions.map(|mention| mention.doubt(&served.release, row.at, &mut texts_left));
        let (least, most) = doubts.fold((0, i8::from(is_free)), |(least, most), doubt| {
            (doubt.min(least), doubt.max(most))
        });
        if most > 0 { most } else { least }
    };
    let mut fitting: Vec<FusedRow> = rows.iter().copied().filter(|row| tier(row) >= best).collect();
    fitting.sort_by_cached_key(doubt);
    let places = rows.iter_mut().filter(|row| tier(row) >= best);
    places.zip(fitting).for_each(|(place, row)| *place = row);
}

/// `degraded` has the reason if a search by meaning was also requested.
fn by_words(served: &SearchContext, query: &SearchQuery<'_>, degraded: Option<DegradedReason>) -> Answer {
    let found = query.find(served, query.candidates(query.page()));
    let rows = fuse::words_alone(&served.release, &found.hits);
    Answer::new(rows, Mode::Lexical, degraded).telling(found)
}

/// Without vectors, the words of the product's title are searched.
fn by_likeness(served: &SearchContext, query: &SearchQuery<'_>, like: RowAddress) -> Answer {
    let release = &served.release;
    if let Some(vector) = release.vector(like) {
        let near = near(served, query, &vector, tuning::COSINE_MIN);
        return Answer::new(by_nearness(served, query, &near), Mode::Semantic, None);
    }
    let part = release.part(like.part);
    let titled = SearchQuery {
        text: part.map_or("", |part| part.cards().title(like.row)),
        ..*query
    };
    by_words(served, &titled, Some(DegradedReason::Vectors))
}

fn by_meaning(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    let near = match served.semantic.embed(query.text) {
        Ok(vector) => near(served, query, &query.moved(served, vector), tuning::COSINE_MIN),
        // A text without meaning finds nothing, because there are no words to fall back on.
        Err(DegradedReason::KnownWord) => Vec::new(),
        Err(lacking) => return by_words(served, query, Some(lacking)),
    };
    Answer::new(by_nearness(served, query, &near), Mode::Semantic, None)
}

fn near(served: &SearchContext, query: &SearchQuery<'_>, vector: &Vector, least: f32) -> Vec<Near> {
    let nearest = Nearest {
        vector,
        like: query.similar_to,
        narrowing: query.narrowing,
    };
    nearest.search(&served.release, query.both_candidates(), least)
}

fn by_both(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    let found = query.find(served, query.both_candidates());
    let (corrections, synonyms) = (&found.corrections, &found.synonyms);
    let text = expanded_text::text(query.text, corrections, synonyms, found.completed.as_ref());
    let vector = match served.semantic.embed(&text) {
        Ok(vector) => query.moved(served, vector),
        Err(lacking) => {
            let rows = fuse::words_alone(&served.release, &found.hits);
            return Answer::new(rows, Mode::Lexical, Some(lacking)).telling(found);
        }
    };
    let least = if found.hits.is_empty() && query.is_silent(served) {
        expanded_text::alone_min(query.text)
    } else {
        tuning::COSINE_MIN
    };
    let mut demoted = demotion::among(&served.release, &found.named, found.hits.iter().map(|hit| hit.at));
    let near = if query.is_settled(&found, &demoted) {
        Vec::new()
    } else {
        near(served, query, &vector, least)
    };
    demoted.extend(demotion::among(
        &served.release,
        &found.named,
        near.iter().map(|near| near.at),
    ));
    let meaning = query.meaning(&found);
    let kinds = (!found.named.categories.is_empty() || !demoted.is_empty()).then_some(Kinds {
        named: &found.named.categories,
        demoted: &demoted,
    });
    let rows = found.hits.iter().map(|hit| hit.at);
    let cosines: Vec<Option<f32>> = served.release.similarities(&vector, rows).collect();
    let rows = fuse::fuse(&served.release, &found.hits, &cosines, &near, kinds, meaning);
    let Some(vector) = toward(served, &vector, &rows) else {
        return Answer::new(rows, Mode::Hybrid, None).telling(found);
    };
    let hits = found.hits.iter().map(|hit| hit.at);
    let cosines: Vec<Option<f32>> = served.release.similarities(&vector, hits).collect();
    let by_meaning = near.iter().map(|near| near.at);
    let again = served.release.similarities(&vector, by_meaning);
    let near: Vec<Near> = near
        .iter()
        .zip(again)
        .map(|(near, again)| Near {
            cosine: again.unwrap_or(near.cosine),
            ..*near
        })
        .collect();
    let rows = fuse::fuse(&served.release, &found.hits, &cosines, &near, kinds, meaning);
    Answer::new(rows, Mode::Hybrid, None).telling(found)
}

/// Moves the query's vector toward the best hits, whose common direction indicates the meaning.
fn toward(served: &SearchContext, vector: &Vector, rows: &[FusedRow]) -> Option<Vector> {
    if rows.len() < 2 * tuning::FEEDBACK_ROWS {
        // With few hits, the first ones do not stand out.
        return None;
    }
    let mut sum = vec![0.0_f32; vector.dimensions()];
    for row in rows.iter().take(tuning::FEEDBACK_ROWS) {
        let Some(held) = served.release.vector(row.at) else {
            continue;
        };
        for (sum, component) in sum.iter_mut().zip(held.components()) {
            *sum += row.score * f32::from(*component);
        }
    }
    let common = Vector::new(&sum)?;
    let pairs = vector.components().iter().zip(common.components());
    let moved: Vec<f32> = pairs
        .map(|(one, other)| f32::from(*one) + tuning::FEEDBACK * f32::from(*other))
        .collect();
    Vector::new(&moved)
}

/// An order by price, rating or date ignores the relevance of the hits. Semantic hits therefore only count if there are
/// no lexical hits.
fn in_order(served: &SearchContext, query: &SearchQuery<'_>) -> Answer {
    let mut answer = by_words(served, query, None);
    if answer.rows.is_empty() {
        let text = expanded_text::text(query.text, &answer.corrections, &answer.synonyms, None);
        match served.semantic.embed(&text) {
            Ok(vector) => {
                let near = near(served, query, &vector, expanded_text::alone_min(query.text));
                answer.rows = by_nearness(served, query, &near);
            }
            Err(lacking) => {
                answer.degraded = Some(lacking);
                return answer;
            }
        }
    }
    answer.engine = Mode::Hybrid;
    answer
}

fn by_nearness(served: &SearchContext, query: &SearchQuery<'_>, near: &[Near]) -> Vec<FusedRow> {
    let mut rows = fuse::fuse(&served.release, &[], &[], near, None, tuning::MEANING);
    let sort = query.sort();
    if sort.order != Order::Relevance {
        // The sort is stable, so that rows with equal keys stay in order of similarity.
        rows.sort_by_key(|row| std::cmp::Reverse(sort.key_at(&served.release, row.at)));
    }
    rows
}
