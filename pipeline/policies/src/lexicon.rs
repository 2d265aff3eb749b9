//! Vocabulary that maps words to meanings. The words are in `lexicon.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::token::Token;

/// Defines each concept once, so that vocabulary and code use the same name.
macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// Meaning of a word or phrase for shipping.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Concept {
            $($(#[$doc])* $name,)+
        }

        impl Concept {
            const ALL: &'static [(&'static str, Self)] = &[$((stringify!($name), Self::$name)),+];
        }
    };
}

concepts! {
    Free,
    /// Shipping as a noun.
    Ship,
    /// To ship, as a verb.
    ShipVerb,
    /// A fee for shipping.
    Fee,
    /// An order by a customer.
    Order,
    Above,
    Below,
    /// Up to and including an amount.
    UpTo,
    /// "Or more" after an amount.
    OrMore,
    /// "Or less" after an amount.
    OrLess,
    Between,
    Cod,
    Prepaid,
    /// Dispatch of the parcel.
    Dispatch,
    /// Delivery of the parcel.
    Deliver,
    /// A word that refers to the words after it.
    Following,
    Metro,
    Rest,
    Remote,
    Domestic,
    Abroad,
    /// `in` or `within`, which may precede a region or a duration.
    Within,
    Not,
    Offered,
    Ended,
    /// Uncertainty: perhaps, sometimes, for some.
    Hedge,
    /// Word of another topic: returns, refunds, complaints.
    Stray,
    /// Special goods or times.
    Special,
    /// A faster shipping service.
    Express,
    Advance,
    Least,
    Most,
    Working,
    Before,
    After,
    SameDay,
    Support,
    Elsewhere,
    Yes,
    Break,
    Take,
    Pin,
    /// A promotion: a gift or a discount.
    Promo,
    /// Name of a town or a state.
    City,
    /// Noun for shipped goods.
    Parcel,
    /// An exception for the words that follow.
    Except,
    /// Name of a country.
    Nation,
    /// A charge for something other than shipping.
    Charge,
    /// A region in an unknown country.
    Somewhere,
    /// A limitation in time.
    Passing,
}

/// Phrases and their meanings, indexed by the start of their first word.
type Lexicon = HashMap<String, Vec<(Concept, &'static str)>>;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("lexicon.txt")));

/// Returns the start of a first word by which the lexicon is indexed. No stem is shorter than two letters.
fn key(word: &str) -> String {
    word.chars().take_while(|char| *char != ' ').take(2).collect()
}

fn read(text: &'static str) -> Lexicon {
    let (mut lexicon, mut of) = (Lexicon::new(), None);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let phrases = match line.split_once(':') {
            Some((name, phrases)) => {
                let found = Concept::ALL.iter().find(|(known, _)| *known == name);
                of = found.map(|(_, concept)| *concept);
                phrases
            }
            None => line,
        };
        let Some(concept) = of else { continue };
        for phrase in phrases.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()) {
            lexicon
                .entry(key(phrase.trim_end_matches('*')))
                .or_default()
                .push((concept, phrase));
        }
    }
    lexicon
}

/// Returns the number of words that the phrase takes at the start of these tokens, if it matches.
fn matches(phrase: &str, tokens: &[Token]) -> Option<usize> {
    let mut len = 0;
    for word in phrase.split(' ') {
        let written = match tokens.get(len)? {
            Token::Word(written) => written.clone(),
            // A phrase may contain a number, like `tier 2`.
            Token::Number(thousandths) => (thousandths / 1_000).to_string(),
            Token::Sign('&') if word == "and" => "and".to_owned(),
            Token::Sign(_) | Token::Clock(_) => return None,
        };
        let fits = match word.strip_suffix('*') {
            Some(stem) => written.starts_with(stem),
            None => written == word,
        };
        if !fits {
            return None;
        }
        len += 1;
    }
    Some(len)
}

/// Returns the meanings of the longest phrases at the start of these tokens, each with its number of words.
pub(crate) fn meanings(tokens: &[Token]) -> Vec<(Concept, usize)> {
    let is_and = tokens.first().is_some_and(|token| token.is('&'));
    let first = tokens
        .first()
        .and_then(|token| token.word().or(is_and.then_some("and")))
        .map(key);
    let phrases = first
        .and_then(|first| LEXICON.get(&first))
        .map_or(&[][..], Vec::as_slice);
    let mut found: Vec<(Concept, usize)> = Vec::new();
    for (concept, phrase) in phrases {
        // An `&` joins two words, but `& above` is a comparison.
        if let Some(len) = matches(phrase, tokens)
            && (len > 1 || !is_and)
            && !found.contains(&(*concept, len))
        {
            found.push((*concept, len));
        }
    }
    let longest = found.iter().map(|(_, len)| *len).max().unwrap_or(0);
    found.retain(|(_, len)| *len == longest);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_concept_has_words_and_every_line_a_concept() {
        let known: Vec<Concept> = LEXICON.values().flatten().map(|(concept, _)| *concept).collect();
        assert!(Concept::ALL.iter().all(|(_, concept)| known.contains(concept)));
        let names = include_str!("lexicon.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let mut names = names.filter_map(|line| line.split_once(':')).map(|(name, _)| name);
        assert!(names.all(|name| Concept::ALL.iter().any(|(known, _)| *known == name)));
    }
}
