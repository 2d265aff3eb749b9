//! Retrieval by words and by meaning together, and which of them answers what.
//!
//! Words decide what a query names: titles, codes and brands stand first, whatever the vectors say. Everything else is
//! ordered by both. What only its meaning speaks for must be near enough to be meant, so that a query which means
//! nothing finds nothing. Filters are asked inside both searches.

mod aside;
mod capped;
mod deep;
mod fuse;
mod meant;
mod reading;
mod superlative;
pub(crate) mod tuning;
mod turns;

pub use fuse::{ByWords, FusedRow};
pub(crate) use reading::{Reading, in_english, names_whole, understood};
pub(crate) use superlative::order as superlative_order;

use data_embedding::Vector;
use data_index::{Filter, Release, RowAddress};
use data_model::CurrencyCode;
use data_understanding::Superlative;
use rustc_hash::FxHashSet;

use self::fuse::Kinds;
use crate::context::SearchContext;
use crate::lexical::{self, Allowed, Correction, Found, Order, Relaxed, RowSet, Synonym, Wanted};
use crate::request::Mode;
use crate::semantic::{self, Lacking};

/// What a search asks for.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) text: &'a str,
    pub(crate) mode: Mode,
    pub(crate) filter: Option<&'a Filter>,
    /// What of `filter` says where to look: the brand.
    pub(crate) scope: Option<&'a Filter>,
    /// The rows that may be found, where there are others.
    pub(crate) allowed: Option<&'a Allowed>,
    /// Where no words are looked for but kinds of thing: a filter for each, in whose turn products are answered.
    pub(crate) turns: &'a [Filter],
    /// Where no words are looked for: the text whose meaning puts what passes the filter in order.
    pub(crate) sense: Option<&'a str>,
    /// Whether `filter` leaves products of the scope out.
    pub(crate) narrowed: bool,
    pub(crate) order: Order,
    /// The order of what fits best, in order of relevance.
    pub(crate) superlative: Option<Superlative>,
    /// What prices are ordered in.
    pub(crate) currency: CurrencyCode,
    pub(crate) limit: usize,
    /// Most products of one brand.
    pub(crate) per_brand_max: Option<usize>,
    /// Whether of siblings the first alone is answered.
    pub(crate) folded: bool,
    /// A product that what is found must be like; it is not found itself.
    pub(crate) similar_to: Option<RowAddress>,
    /// Whether all that the search is about is asked for besides.
    pub(crate) with_matches: bool,
}

/// What a search found, and how.
#[derive(Debug)]
pub struct Answer {
    /// Best first.
    pub rows: Vec<FusedRow>,
    /// Whether there are products beyond those.
    pub more: bool,
    /// What was searched with.
    pub engine: Mode,
    /// Why meaning was left out though it was asked for.
    pub degraded: Option<Lacking>,
    /// How far the demand for every word was let go.
    pub relaxed: Relaxed,
    /// Words that were looked for in place of words that no product holds.
    pub corrections: Vec<Correction>,
    /// Words that were looked for beside the query's own.
    pub synonyms: Vec<Synonym>,
    /// Where it was asked for, what the words match, before any filter, and what else is shown, or would be on a page of
    /// usual length: rows of each part.
    pub(crate) matches: Vec<RowSet>,
    /// Whether so many products have every word that filters leave of them what they leave.
    fits: bool,
    /// Whether the query's last word stood for the words that begin with it.
    completed: bool,
}

/// Finds what a question asks for.
pub(crate) fn search(served: &SearchContext, question: &Question<'_>) -> Answer {
    if question.is_deep() {
        return deep::search(served, question);
    }
    let mut answer = ranked(served, question);
    capped::keep(served, question, &mut answer.rows);
    answer.more = answer.rows.len() > question.limit;
    answer.rows.truncate(question.page());
    if question.with_matches && (answer.matches.is_empty() || !answer.fits) {
        // What was found by meaning alone or by fewer words counts as well, unless filters would leave it out.
        answer.matches = with_rows(&served.release, answer.matches, &answer.rows);
    }
    answer.rows.truncate(question.limit);
    answer.relaxed = answer.relaxed();
    answer
}

/// Whether a question finds anything at all.
pub(crate) fn finds_any(served: &SearchContext, question: &Question<'_>) -> bool {
    let few = Question {
        limit: 1,
        per_brand_max: None,
        folded: false,
        with_matches: false,
        order: Order::Relevance,
        // What passes the filter is of the kinds of thing that are asked for.
        turns: &[],
        sense: None,
        superlative: None,
        ..*question
    };
    let is_of_words = few.mode != Mode::Semantic && few.similar_to.is_none();
    if is_of_words && !few.find(served, 1).hits.is_empty() {
        return true;
    }
    !ranked(served, &few).rows.is_empty()
}

/// All that was weighed for a question, best first, whatever brands it is of: more than is shown, where there is more.
fn ranked(served: &SearchContext, question: &Question<'_>) -> Answer {
    let blank = question.text.trim().is_empty();
    let mut answer = match question.mode {
        _ if blank && question.similar_to.is_some() => by_likeness(served, question),
        _ if blank && question.order == Order::Relevance && question.sense.is_some() => {
            turns::by_sense(served, question)
        }
        _ if blank && question.order == Order::Relevance && !question.turns.is_empty() => {
            turns::in_turn(served, question)
        }
        _ if blank => by_words(served, question, None),
        Mode::Lexical => by_words(served, question, None),
        Mode::Semantic => by_meaning(served, question),
        Mode::Hybrid if question.order == Order::Relevance => by_both(served, question),
        Mode::Hybrid => in_order(served, question),
    };
    if let Some(like) = question.similar_to {
        answer.rows.retain(|row| row.at != like);
    }
    if let Some(first) = question.superlative.filter(|_| question.order == Order::Relevance) {
        superlative::put_first(served, question, (first, &mut answer.rows));
    }
    answer
}

impl Answer {
    fn new(rows: Vec<FusedRow>, engine: Mode, degraded: Option<Lacking>) -> Self {
        Self {
            rows,
            more: false,
            engine,
            degraded,
            relaxed: Relaxed::No,
            corrections: Vec::new(),
            synonyms: Vec::new(),
            matches: Vec::new(),
            fits: false,
            completed: false,
        }
    }

    /// Whether any product was found that has every word.
    pub(crate) fn has_every_word(&self) -> bool {
        let is_whole = |row: &FusedRow| row.by_words.is_some_and(|found| found.tier >= lexical::tier::ALL);
        self.rows.iter().any(is_whole)
    }

    /// How far its rows are from having every word.
    fn relaxed(&self) -> Relaxed {
        let words = self.rows.iter().map(|row| row.by_words);
        if self.completed {
            Relaxed::Prefix
        } else if self.engine == Mode::Hybrid && !self.rows.is_empty() && words.clone().all(|found| found.is_none()) {
            Relaxed::Meaning
        } else {
            Relaxed::of(words.flatten().map(|found| found.tier))
        }
    }

    /// With what was found by words on the way.
    fn telling(self, found: Found) -> Self {
        Self {
            corrections: found.corrections,
            synonyms: found.synonyms,
            matches: found.matches,
            fits: found.fits,
            completed: found.completed.is_some() && !found.hits.is_empty(),
            ..self
        }
    }
}

impl Question<'_> {
    /// Whether more is to be shown than a usual page has, of what both words and meaning put in order.
    fn is_deep(&self) -> bool {
        let is_weighed = self.mode == Mode::Hybrid && self.order == Order::Relevance && !self.text.trim().is_empty();
        is_weighed && self.limit > tuning::CANDIDATES_PAGE
    }

    /// What is looked for as if so many were to be shown: a short page is the beginning of a usual one.
    fn page(&self) -> usize {
        self.limit.max(tuning::CANDIDATES_PAGE)
    }

    /// How many hits of either kind to gather for both to be weighed.
    fn both_candidates(&self) -> usize {
        if self.order != Order::Relevance || self.superlative.is_some() {
            // The cheapest of what is found must not depend on how many are shown.
            return self.candidates(tuning::CANDIDATES_MAX);
        }
        let further = self.page() - tuning::CANDIDATES_PAGE;
        let usually = tuning::CANDIDATES + further.saturating_mul(tuning::CANDIDATES_PER_FURTHER);
        self.candidates(usually.min(tuning::CANDIDATES_MAX))
    }

    /// How many hits to gather, of which at least the page's are wanted.
    fn candidates(&self, usually: usize) -> usize {
        // One more tells whether there are more, and one more, where the product that they are like is among them.
        usually.max(self.page() + 1 + usize::from(self.similar_to.is_some()))
    }

    /// The vector to look near to: that of the text, moved half way to the product's that is to be like.
    fn moved(&self, served: &SearchContext, vector: Vector) -> Vector {
        let like = self.similar_to.and_then(|at| served.release.vector(at));
        let Some(like) = like.filter(|like| like.dimensions() == vector.dimensions()) else {
            return vector;
        };
        let pairs = vector.components().iter().zip(like.components());
        let sum: Vec<f32> = pairs.map(|(one, other)| f32::from(*one) + f32::from(*other)).collect();
        // Opposite vectors have no middle.
        Vector::new(&sum).unwrap_or(vector)
    }

    /// Whether these hits by words leave no place for what is found by meaning alone: neither on the page nor among the
    /// first, which tell what is meant. Then nobody need look for it.
    fn is_settled(&self, found: &Found, aside: &FxHashSet<RowAddress>) -> bool {
        let first = self.page().max(tuning::FEEDBACK_ROWS);
        let suffices = found.suffices && aside.is_empty();
        self.similar_to.is_none() && (suffices || fuse::is_settled(&found.hits, aside, first))
    }

    /// Whether the words find nothing before the filter either, wherever they are looked for.
    fn is_silent(&self, served: &SearchContext) -> bool {
        if self.filter.is_none() {
            return true;
        }
        let before = Question {
            filter: None,
            scope: None,
            narrowed: false,
            with_matches: false,
            ..*self
        };
        before.find(served, 1).hits.is_empty()
    }

    fn find(&self, served: &SearchContext, limit: usize) -> Found {
        let wanted = self.wanted(limit);
        if self.text.trim().is_empty() {
            let ordered = served.browse.ordered(self.order, self.currency);
            return lexical::listed(&served.release, ordered, &wanted);
        }
        lexical::search(&served.release, &served.text, &wanted)
    }

    fn wanted(&self, limit: usize) -> Wanted<'_> {
        Wanted {
            text: self.text,
            as_typed: self.mode == Mode::Lexical,
            filter: self.filter,
            scope: self.scope,
            allowed: self.allowed,
            narrowed: self.narrowed,
            order: self.order,
            currency: Some(self.currency),
            limit,
            enough: self.page(),
            // Likeness to a product is a matter of degree: what is shown is counted.
            with_matches: self.with_matches && self.similar_to.is_none(),
        }
    }
}

/// These rows of each part, and the rows of `shown`. Meaning alone, and likeness to a product, match to a degree: there is
/// no set but what is shown.
fn with_rows(release: &Release, matches: Vec<RowSet>, shown: &[FusedRow]) -> Vec<RowSet> {
    let mut matches = if matches.is_empty() {
        RowSet::none_of(release)
    } else {
        matches
    };
    for row in shown {
        if let Some(rows) = matches.get_mut(row.at.part as usize) {
            rows.insert(row.at.row);
        }
    }
    matches
}

/// By words alone; `degraded` tells why, where more was asked for.
fn by_words(served: &SearchContext, question: &Question<'_>, degraded: Option<Lacking>) -> Answer {
    let found = question.find(served, question.candidates(question.page()));
    let rows = fuse::words_alone(&served.release, &found.hits);
    Answer::new(rows, Mode::Lexical, degraded).telling(found)
}

/// What is like a product, without a word; by the words of its title where there are no vectors.
fn by_likeness(served: &SearchContext, question: &Question<'_>) -> Answer {
    let Some(like) = question.similar_to else {
        return by_words(served, question, None);
    };
    if let Some(vector) = served.release.vector(like) {
        let near = near(served, question, &vector, tuning::COSINE_MIN);
        let mut rows = fuse::fuse(&served.release, &[], &[], &near, None);
        sort(served, question, &mut rows);
        return Answer::new(rows, Mode::Semantic, None);
    }
    let title = served
        .release
        .part(like.part)
        .map_or("", |part| part.cards().title(like.row));
    let titled = Question {
        text: title,
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
    let mut rows = fuse::fuse(&served.release, &[], &[], &near, None);
    sort(served, question, &mut rows);
    Answer::new(rows, Mode::Semantic, None)
}

fn near(served: &SearchContext, question: &Question<'_>, vector: &Vector, least: f32) -> Vec<(RowAddress, f32)> {
    let nearest = semantic::Nearest {
        vector,
        like: question.similar_to,
        filter: question.filter,
        scope: question.scope,
        allowed: question.allowed,
        narrowed: question.narrowed,
    };
    nearest.search(&served.release, question.both_candidates(), least)
}

fn by_both(served: &SearchContext, question: &Question<'_>) -> Answer {
    let found = question.find(served, question.both_candidates());
    let vector = match served.semantic.embed(&meant::text(
        question.text,
        (&found.corrections, &found.synonyms),
        found.completed.as_ref(),
    )) {
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
        near.iter().map(|(at, _)| *at),
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
    let by_meaning = near.iter().map(|(at, _)| *at);
    let again = served.release.similarities(&vector, by_meaning);
    let near: Vec<(RowAddress, f32)> = near
        .iter()
        .zip(again)
        .map(|((at, cosine), again)| (*at, again.unwrap_or(*cosine)))
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
    let by_words = by_words(served, question, None);
    if !by_words.rows.is_empty() {
        return Answer {
            engine: Mode::Hybrid,
            ..by_words
        };
    }
    match served.semantic.embed(&meant::text(
        question.text,
        (&by_words.corrections, &by_words.synonyms),
        None,
    )) {
        Ok(vector) => {
            let near = near(served, question, &vector, meant::alone_min(question.text));
            let mut rows = fuse::fuse(&served.release, &[], &[], &near, None);
            sort(served, question, &mut rows);
            Answer {
                rows,
                engine: Mode::Hybrid,
                ..by_words
            }
        }
        Err(lacking) => Answer {
            degraded: Some(lacking),
            ..by_words
        },
    }
}

fn sort(served: &SearchContext, question: &Question<'_>, rows: &mut [FusedRow]) {
    let order = question.order;
    if order != Order::Relevance {
        // Stable: what is alike in this order stays as near as it was found.
        let currency = Some(question.currency);
        rows.sort_by_key(|row| std::cmp::Reverse(order.key(currency, &served.release, row.at)));
    }
}
