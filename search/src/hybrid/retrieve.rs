//! The hits of a question by words, by meaning or by both, best first; where one of them has nothing to say, the next one is
//! asked.

use data_embedding::Vector;
use data_index::RowAddress;

use super::answer::Answer;
use super::fuse::{self, FusedRow, Kinds};
use super::question::Question;
use super::{aside, meant, superlative, tuning, turns};
use crate::context::SearchContext;
use crate::lexical::Order;
use crate::request::Mode;
use crate::semantic::{Lacking, Near, Nearest};

/// All that was weighed for a question, best first, whatever brands it is of: more than is shown, where there is more.
pub(super) fn ranked(served: &SearchContext, question: &Question<'_>) -> Answer {
    let blank = question.text.trim().is_empty();
    let mut answer = match (question.mode, question.similar_to) {
        (_, Some(like)) if blank => by_likeness(served, question, like),
        _ if blank && question.order == Order::Relevance => turns::by_sense(served, question)
            .or_else(|| turns::in_turn(served, question))
            .unwrap_or_else(|| by_words(served, question, None)),
        (Mode::Lexical, _) => by_words(served, question, None),
        _ if blank => by_words(served, question, None),
        (Mode::Semantic, _) => by_meaning(served, question),
        (Mode::Hybrid, _) if question.order == Order::Relevance => by_both(served, question),
        (Mode::Hybrid, _) => in_order(served, question),
    };
    if let Some(like) = question.similar_to {
        answer.rows.retain(|row| row.at != like);
    }
    if let Some(first) = question.superlative.filter(|_| question.order == Order::Relevance) {
        superlative::put_first(served, question, first, &mut answer.rows);
    }
    if question.doubtful.is_some() || question.is_for_somebody {
        put_last(served, question, &mut answer.rows);
    }
    answer
}

/// Puts what may be what is refused, and of gifts what is given away, behind all that has as many words as the best has.
fn put_last(served: &SearchContext, question: &Question<'_>, rows: &mut [FusedRow]) {
    let tier = |row: &FusedRow| row.by_words.map_or(0, |found| found.tier);
    let Some(best) = rows.first().map(tier) else { return };
    let is_last = |row: &FusedRow| {
        let at = row.at;
        let price = served
            .release
            .part(at.part)
            .map(|part| part.cards().price_min_minor(at.row));
        question.doubtful.is_some_and(|doubtful| doubtful.has(at.part, at.row))
            || question.is_for_somebody && price == Some(0)
    };
    let mut fitting: Vec<FusedRow> = rows.iter().copied().filter(|row| tier(row) >= best).collect();
    fitting.sort_by_key(is_last);
    let places = rows.iter_mut().filter(|row| tier(row) >= best);
    places.zip(fitting).for_each(|(place, row)| *place = row);
}

/// By words alone; `degraded` tells why, where more was asked for.
fn by_words(served: &SearchContext, question: &Question<'_>, degraded: Option<Lacking>) -> Answer {
    let found = question.find(served, question.candidates(question.page()));
    let rows = fuse::words_alone(&served.release, &found.hits);
    Answer::new(rows, Mode::Lexical, degraded).telling(found)
}

/// What is like a product, without a word; by the words of its title where there are no vectors.
fn by_likeness(served: &SearchContext, question: &Question<'_>, like: RowAddress) -> Answer {
    let release = &served.release;
    if let Some(vector) = release.vector(like) {
        let near = near(served, question, &vector, tuning::COSINE_MIN);
        return Answer::new(by_nearness(served, question, &near), Mode::Semantic, None);
    }
    let part = release.part(like.part);
    let titled = Question {
        text: part.map_or("", |part| part.cards().title(like.row)),
        ..*question
    };
    by_words(served, &titled, Some(Lacking::Vectors))
}

fn by_meaning(served: &SearchContext, question: &Question<'_>) -> Answer {
    let near = match served.semantic.embed(question.text) {
        Ok(vector) => near(served, question, &question.moved(served, vector), tuning::COSINE_MIN),
        // Words that mean nothing find nothing: there are none to go back to.
        Err(Lacking::KnownWord) => Vec::new(),
        Err(lacking) => return by_words(served, question, Some(lacking)),
    };
    Answer::new(by_nearness(served, question, &near), Mode::Semantic, None)
}

fn near(served: &SearchContext, question: &Question<'_>, vector: &Vector, least: f32) -> Vec<Near> {
    let nearest = Nearest {
        vector,
        like: question.similar_to,
        narrowing: question.narrowing,
    };
    nearest.search(&served.release, question.both_candidates(), least)
}

fn by_both(served: &SearchContext, question: &Question<'_>) -> Answer {
    let found = question.find(served, question.both_candidates());
    let (corrections, synonyms) = (&found.corrections, &found.synonyms);
    let text = meant::text(question.text, corrections, synonyms, found.completed.as_ref());
    let vector = match served.semantic.embed(&text) {
        Ok(vector) => question.moved(served, vector),
        Err(lacking) => {
            let rows = fuse::words_alone(&served.release, &found.hits);
            return Answer::new(rows, Mode::Lexical, Some(lacking)).telling(found);
        }
    };
    let least = if found.hits.is_empty() && question.is_silent(served) {
        meant::alone_min(question.text)
    } else {
        tuning::COSINE_MIN
    };
    let mut aside = aside::among(&served.release, &found.named, found.hits.iter().map(|hit| hit.at));
    let near = if question.is_settled(&found, &aside) {
        Vec::new()
    } else {
        near(served, question, &vector, least)
    };
    aside.extend(aside::among(
        &served.release,
        &found.named,
        near.iter().map(|near| near.at),
    ));
    let kinds = (!found.named.categories.is_empty() || !aside.is_empty()).then_some(Kinds {
        named: &found.named.categories,
        aside: &aside,
    });
    let rows = found.hits.iter().map(|hit| hit.at);
    let cosines: Vec<Option<f32>> = served.release.similarities(&vector, rows).collect();
    let rows = fuse::fuse(&served.release, &found.hits, &cosines, &near, kinds);
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
    let rows = fuse::fuse(&served.release, &found.hits, &cosines, &near, kinds);
    Answer::new(rows, Mode::Hybrid, None).telling(found)
}

/// The vector of a query, moved toward what was found best: what the first hits have in common tells what is meant.
fn toward(served: &SearchContext, vector: &Vector, rows: &[FusedRow]) -> Option<Vector> {
    if rows.len() < 2 * tuning::FEEDBACK_ROWS {
        // The first of few are not told apart from the rest.
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

/// Sorted by price, rating or date, whatever was found stands in that order, however well it fits: so what words find
/// is all there is, and meaning answers only where they find nothing.
fn in_order(served: &SearchContext, question: &Question<'_>) -> Answer {
    let mut answer = by_words(served, question, None);
    if answer.rows.is_empty() {
        let text = meant::text(question.text, &answer.corrections, &answer.synonyms, None);
        match served.semantic.embed(&text) {
            Ok(vector) => {
                let near = near(served, question, &vector, meant::alone_min(question.text));
                answer.rows = by_nearness(served, question, &near);
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

/// What meaning alone speaks for, in the order that is asked for.
fn by_nearness(served: &SearchContext, question: &Question<'_>, near: &[Near]) -> Vec<FusedRow> {
    let mut rows = fuse::fuse(&served.release, &[], &[], near, None);
    let sort = question.sort();
    if sort.order != Order::Relevance {
        // Stable: what is alike in this order stays as near as it was found.
        rows.sort_by_key(|row| std::cmp::Reverse(sort.key_at(&served.release, row.at)));
    }
    rows
}
