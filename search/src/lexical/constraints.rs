//! Constraints of a query besides its words, which are required phrases, absences and exclusions.

use data_index::terms::{NO_ROW, indexed_start, word_hash};
use data_index::{Part, Release, RowAddress};
use data_text::{fold_value, stems};
use data_understanding::intent::{Audience, audience_words, audiences_named};
use data_understanding::languages::without_words;
use data_understanding::{Absence, Meaning, denies};

use super::index::TextIndex;
use super::rows::{AllowedRows, RowSet};
use super::terms::QueryTerms;

/// Attributes that may have a phrase as a value. A one-word phrase is compared only with the first, because the words
/// of the others are indexed.
const ATTRIBUTES: [&str; 5] = ["vendor", "color", "material", "pattern", "style"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// Titles must contain one of these phrases.
    Required(Vec<String>),
    /// Titles, attributes, vendors and brands must match none of these.
    Excluded(Vec<String>),
}

#[derive(Debug)]
pub(crate) struct Constraints<'a> {
    release: &'a Release,
    index: &'a TextIndex,
    /// Stems of the searched words.
    searched: Vec<String>,
    /// Rows that contain all searched words.
    about: Vec<RowSet>,
    allowed: Option<Vec<RowSet>>,
    mentions: Vec<Mention>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ConstrainedRows {
    /// Rows that satisfy all constraints. `None` without constraints.
    pub(crate) allowed: Option<AllowedRows>,
    /// Rows that mention unwanted things, for which their texts decide.
    pub(crate) mentions: Vec<Mention>,
}

/// Rows that mention an unwanted word.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    stem: String,
    rows: AllowedRows,
}

impl Mention {
    /// Returns how a row speaks of the unwanted thing: -1 if it says that the product lacks it, 1 if it may have it, 0 if
    /// it does not mention it. Reads the row's text if `texts_left` is not 0, and subtracts the read text. A row whose
    /// text is not read may have the thing.
    pub(crate) fn doubt(&self, release: &Release, at: RowAddress, texts_left: &mut usize) -> i8 {
        let Some(part) = release.part(at.part).filter(|_| self.rows.has(at.part, at.row)) else {
            return 0;
        };
        let Some(left) = texts_left.checked_sub(1) else {
            return 1;
        };
        *texts_left = left;
        let title = part.cards().title(at.row);
        let text = format!("{title}. {}", indexed_start(part.details().row(at.row).description()));
        if denies(&text, &self.stem) { -1 } else { 1 }
    }
}

impl<'a> Constraints<'a> {
    /// Prepares the constraints of a search for `text`.
    pub(crate) fn of(release: &'a Release, index: &'a TextIndex, text: &str) -> Self {
        let words = QueryTerms::of(text, |_| false);
        // A word that no product has is mistyped or meaningless.
        let is_held = |stem: &str| release.parts().iter().any(|part| part.holds(stem));
        let words: Vec<_> = words.iter().filter(|term| is_held(&term.stemmed)).collect();
        let about = release.parts().iter().map(|part| {
            let held = words.iter().map(|term| holding(part, &term.stemmed, |_| true));
            let held = held.map(|rows| rows.unwrap_or_else(|| RowSet::none(part.rows())));
            held.fold(RowSet::all(part.rows()), RowSet::and)
        });
        Self {
            release,
            index,
            about: about.collect(),
            searched: words.iter().map(|term| term.stemmed.to_string()).collect(),
            allowed: None,
            mentions: Vec::new(),
        }
    }

    /// Returns the effect of a constraint, or `None` if it has none.
    pub(crate) fn add(&mut self, meaning: &Meaning) -> Option<Constraint> {
        match meaning {
            Meaning::Phrase(phrase) => self.require(vec![phrase.clone()]),
            Meaning::Lacking(absence) => self.lack(absence),
            Meaning::Excluded(words) => {
                self.mention(words);
                self.exclude(words)
            }
            Meaning::ExcludedBrand(at) => self.exclude_brand(*at),
            _ => None,
        }
    }

    /// Allows only rows that lack a component or quality. If products advertise the lack, only titles that state it are
    /// allowed. Otherwise titles without the thing also count.
    fn lack(&mut self, absence: &Absence) -> Option<Constraint> {
        let Absence { of, stated, .. } = absence;
        let ways = stated.iter().cloned().chain(self.stated_in_languages(of));
        let said: Vec<String> = ways.filter(|way| is_titled(self.release, way)).collect();
        // Words that stay in the query exclude products only if products state the unwanted thing.
        let refused = (!absence.is_left || self.is_held(of)).then(|| std::slice::from_ref(of));
        self.mention(refused.into_iter().flatten());
        let titles = self.titles_with(&said);
        if (absence.is_claimed || absence.is_left) && self.is_about(&titles) {
            self.allow(titles);
            return Some(Constraint::Required(said));
        }
        // A title such as `without sugar` also contains the unwanted word, so such titles are added again.
        let (words, others) = self.without(refused?);
        let titles = titles.into_iter().zip(others);
        self.allow(titles.map(|(one, other)| one.or(other)).collect());
        Some(Constraint::Excluded(words))
    }

    /// Returns the ways in which titles in other languages state the lack of something.
    fn stated_in_languages(&self, of: &str) -> Vec<String> {
        let stems = stems(of);
        let names: Vec<&str> = std::iter::once(of).chain(self.index.languages.titled(&stems)).collect();
        let ways = without_words().flat_map(|word| names.iter().map(move |name| format!("{word} {name}")));
        ways.collect()
    }

    pub(crate) fn finish(self) -> ConstrainedRows {
        ConstrainedRows {
            allowed: self.allowed.map(AllowedRows::of),
            mentions: self.mentions,
        }
    }

    pub(crate) fn keep(&mut self, rows: &AllowedRows) {
        self.allow(rows.parts().to_vec());
    }

    /// Excludes rows that state another audience. For children, only rows that state this audience are allowed, if the
    /// search words find any.
    pub(crate) fn make_for(&mut self, audience: Audience) {
        use Audience::{Baby, Boys, Girls, Kids, Men, Unisex, Women};
        let (own, others): (&[Audience], &[Audience]) = match audience {
            Men => (&[Men, Unisex], &[Women, Girls, Boys, Kids]),
            Women => (&[Women, Unisex], &[Men, Girls, Boys, Kids]),
            Boys => (&[Boys, Kids], &[Girls, Men, Women]),
            Girls => (&[Girls, Kids], &[Boys, Men, Women]),
            Kids => (&[Kids, Boys, Girls], &[Men, Women]),
            Baby => (&[Baby], &[Men, Women]),
            Unisex => return,
        };
        let (own, others) = (self.made_for(own), self.made_for(others));
        let fits = own
            .iter()
            .cloned()
            .zip(others)
            .map(|(own, others)| own.or(others.not()));
        let fits = fits.collect();
        self.allow(fits);
        let is_child = !matches!(audience, Men | Women);
        if is_child && !self.searched.is_empty() && self.is_about(&own) {
            self.allow(own);
        }
    }

    fn made_for(&self, audiences: &[Audience]) -> Vec<RowSet> {
        let words: Vec<Vec<String>> = audiences
            .iter()
            .flat_map(|audience| audience_words(*audience))
            .map(stems)
            .collect();
        let of_part = |part: &Part| {
            let found = words.iter().map(|words| stated(part, "", words));
            found.fold(RowSet::none(part.rows()), RowSet::or)
        };
        self.release.parts().iter().map(of_part).collect()
    }

    /// Records the rows that mention an unwanted thing.
    fn mention<'p>(&mut self, phrases: impl IntoIterator<Item = &'p String>) {
        for phrase in phrases {
            let words = stems(phrase);
            let [word] = words.as_slice() else { continue };
            let sets = self.release.parts().iter();
            let is_of_product = |held: data_index::terms::PostingPayload| {
                held.in_title() || held.in_category() || held.description_weight() > 0.0
            };
            let sets = sets.map(|part| holding(part, word, is_of_product).unwrap_or_else(|| RowSet::none(part.rows())));
            self.mentions.push(Mention {
                stem: word.clone(),
                rows: AllowedRows::of(sets.collect()),
            });
        }
    }

    /// Returns true if any of these rows has all searched words.
    fn is_about(&self, sets: &[RowSet]) -> bool {
        let meets = |(set, about): (&RowSet, &RowSet)| !set.clone().and(about.clone()).is_empty();
        sets.iter().zip(&self.about).any(meets)
    }

    /// Allows only rows whose titles have one of the phrases, if any row with the searched words does.
    fn require(&mut self, phrases: Vec<String>) -> Option<Constraint> {
        let titles = self.titles_with(&phrases);
        self.is_about(&titles).then(|| {
            self.allow(titles);
            Constraint::Required(phrases)
        })
    }

    fn titles_with(&self, phrases: &[String]) -> Vec<RowSet> {
        let stems: Vec<Vec<String>> = phrases.iter().map(|phrase| stems(phrase)).collect();
        let sets = self.release.parts().iter().map(|part| {
            let found = stems.iter().filter_map(|words| titled(part, words));
            found.fold(RowSet::none(part.rows()), RowSet::or)
        });
        sets.collect()
    }

    /// Excludes rows whose titles, attributes or categories have one of the phrases, a synonym or a translation.
    fn exclude(&mut self, phrases: &[String]) -> Option<Constraint> {
        let (words, sets) = self.without(phrases);
        (!words.is_empty()).then(|| {
            self.allow(sets);
            Constraint::Excluded(words)
        })
    }

    /// Returns the unwanted words and the rows without them. See [`Self::exclude`].
    fn without(&self, phrases: &[String]) -> (Vec<String>, Vec<RowSet>) {
        let mut words = Vec::new();
        for phrase in phrases.iter().filter(|phrase| !phrase.is_empty()) {
            let first = phrase.split(' ').next().unwrap_or_default();
            // Two words that are adjacent in no title do not name one thing.
            let phrase = if phrase.contains(' ') && !self.is_held(phrase) {
                first
            } else {
                phrase
            };
            words.push(phrase.to_owned());
            words.extend(self.index.synonyms.of_word(phrase));
            words.extend(self.index.languages.titled(&stems(phrase)).map(str::to_owned));
            let audiences = audiences_named(phrase).into_iter();
            words.extend(audiences.flat_map(audience_words).map(str::to_owned));
        }
        let held: Vec<Vec<String>> = words.iter().map(|word| stems(word)).collect();
        let sets = self.release.parts().iter().map(|part| {
            let found = words.iter().zip(&held).map(|(word, stems)| stated(part, word, stems));
            let filed = self.filed(part, &held);
            found.fold(filed, RowSet::or).not()
        });
        let sets = sets.collect();
        (words, sets)
    }

    /// Each name is a list of stems.
    fn filed(&self, part: &Part, names: &[Vec<String>]) -> RowSet {
        let categories = names.iter().flat_map(|stems| self.index.category_names.called(stems));
        let mut rows = RowSet::none(part.rows());
        let codes = categories.filter_map(|id| part.facets().code("category", &id.to_string()));
        codes
            .flat_map(|code| part.facets().rows(code))
            .for_each(|row| rows.insert(row));
        rows
    }

    /// Excludes a brand and its products in other stores, which have its name as vendor, or in the title if the name is
    /// unambiguous.
    fn exclude_brand(&mut self, at: usize) -> Option<Constraint> {
        let entry = self.release.brands().get(at)?;
        let name = entry.facts.brand.name.clone();
        let (phrase, is_plain) = (fold_value(&name), self.index.is_plain(entry));
        let words = stems(&phrase);
        // In a search for a cover for a brand's phone, the brand's name is a searched word.
        let is_wanted = words.iter().any(|word| self.searched.contains(word));
        let others = self.release.parts().iter().map(|part| {
            let mut refused = RowSet::none(part.rows());
            let own = part
                .entry()
                .stores
                .iter()
                .filter(|held| held.store == entry.facts.brand.store);
            own.flat_map(|held| held.first_row..held.first_row.saturating_add(held.rows))
                .for_each(|row| refused.insert(row));
            let named = if is_plain || is_wanted {
                valued(part, &ATTRIBUTES[..1], &phrase)
            } else {
                stated(part, &phrase, &words)
            };
            refused.or(named).not()
        });
        let others = others.collect();
        self.allow(others);
        Some(Constraint::Excluded(vec![name]))
    }

    fn is_held(&self, phrase: &str) -> bool {
        let words = stems(phrase);
        let mut parts = self.release.parts().iter();
        parts.any(|part| !stated(part, phrase, &words).is_empty())
    }

    fn allow(&mut self, sets: Vec<RowSet>) {
        self.allowed = Some(match self.allowed.take() {
            None => sets,
            Some(before) => before
                .into_iter()
                .zip(sets)
                .map(|(one, other)| one.and(other))
                .collect(),
        });
    }
}

/// Returns true if the words of a phrase are adjacent in a title.
fn is_titled(release: &Release, phrase: &str) -> bool {
    let words = stems(phrase);
    let mut parts = release.parts().iter();
    parts.any(|part| titled(part, &words).is_some_and(|rows| !rows.is_empty()))
}

/// Returns true if two or more words that may be a price are adjacent in a title, so that they are a name.
pub(crate) fn is_name(release: &Release, phrase: &str) -> bool {
    stems(phrase).len() > 1 && is_titled(release, phrase)
}

/// Returns the rows whose posting for the stem satisfies `how`. `None` if no row has the stem.
fn holding(part: &Part, stem: &str, how: impl Fn(data_index::terms::PostingPayload) -> bool) -> Option<RowSet> {
    let mut cursor = part.terms().find(stem)?.cursor();
    let mut rows = RowSet::none(part.rows());
    while cursor.row() != NO_ROW {
        if how(cursor.holding()) {
            rows.insert(cursor.row());
        }
        cursor.advance();
    }
    Some(rows)
}

/// Returns the rows with adjacent words in their titles.
fn titled(part: &Part, words: &[String]) -> Option<RowSet> {
    let in_title = |word: &String| holding(part, word, data_index::terms::PostingPayload::in_title);
    let mut sets = words.iter().map(in_title);
    let first = sets.next()??;
    let rows = sets.try_fold(first, |rows, set| Some(rows.and(set?)))?;
    if words.len() < 2 {
        return Some(rows);
    }
    let hashes: Vec<u16> = words.iter().map(|word| word_hash(word)).collect();
    let mut beside = RowSet::none(part.rows());
    let mut title = Vec::new();
    RowSet::in_all(std::slice::from_ref(&rows), |row| {
        title.clear();
        title.extend(part.terms().title_words(row).iter());
        if title.windows(hashes.len()).any(|words| words == hashes) {
            beside.insert(row);
        }
    });
    Some(beside)
}

/// Returns the rows with the value in one of these facets.
fn valued(part: &Part, names: &[&str], value: &str) -> RowSet {
    let mut rows = RowSet::none(part.rows());
    for name in names {
        if let Some(code) = part.facets().code(name, value) {
            part.facets().rows(code).iter().for_each(|row| rows.insert(row));
        }
    }
    rows
}

/// Returns the rows with a phrase in their titles or attributes, or as vendor.
fn stated(part: &Part, phrase: &str, words: &[String]) -> RowSet {
    let (found, names) = if let [word] = words {
        let found = holding(part, word, |holding| holding.in_title() || holding.in_option());
        (found, &ATTRIBUTES[..1])
    } else {
        (titled(part, words), &ATTRIBUTES[..])
    };
    let valued = valued(part, names, phrase);
    match found {
        Some(found) => found.or(valued),
        None => valued,
    }
}
