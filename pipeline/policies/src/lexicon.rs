//! The vocabulary: which words mean what. The words themselves are in `lexicon.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::token::Token;

/// Names each concept once: the vocabulary calls it what the code does.
macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// The meaning of a word or a group of words for shipping.
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
    /// At no cost.
    Free,
    /// Shipping as a thing: the service, the parcel's way.
    Ship,
    /// To ship, as a verb.
    ShipVerb,
    /// A fee for shipping.
    Fee,
    /// A purchase.
    Order,
    Above,
    Below,
    /// Up to and with.
    UpTo,
    /// Follows an amount: or more.
    OrMore,
    /// Follows an amount: or less.
    OrLess,
    Between,
    Cod,
    Prepaid,
    /// Until the parcel leaves.
    Dispatch,
    /// Until it is there.
    Deliver,
    /// Before a verb: it is about the words behind it.
    Following,
    Metro,
    Rest,
    Remote,
    Domestic,
    Abroad,
    /// `in`, `within`: may stand before a place or a duration.
    Within,
    Not,
    /// Says that something is there.
    Offered,
    Ended,
    /// Perhaps, sometimes, for some.
    Hedge,
    /// It is about something else: returns, refunds, complaints.
    Stray,
    /// About goods or times of their own.
    Special,
    /// A faster service of its own.
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
    /// Ends a clause.
    Break,
    Take,
    /// Postal codes.
    Pin,
    /// Something that is given away or taken off.
    Promo,
    /// A town or a state by its name.
    City,
    /// A thing that is sent.
    Parcel,
    /// It does not hold for what follows.
    Except,
    /// A country by its name.
    Nation,
    /// A charge for something else than shipping.
    Charge,
    /// A place without a known country.
    Somewhere,
    /// For some time alone.
    Passing,
}

/// Phrases by how their first word begins, each with what it means.
type Lexicon = HashMap<String, Vec<(Concept, &'static str)>>;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("lexicon.txt")));

/// The part of a first word by which phrases are found: no stem is shorter than two letters.
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

/// The number of words that the phrase takes at these tokens, if it stands there.
fn matches(phrase: &str, tokens: &[Token]) -> Option<usize> {
    let mut len = 0;
    for word in phrase.split(' ') {
        let written = match tokens.get(len)? {
            Token::Word(written) => written.clone(),
            // `tier 2`
            Token::Number(hundredths) => (hundredths / 100).to_string(),
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

/// All that the words at the beginning of these tokens mean, each with how many they are: of the longest phrases.
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
        // A sign alone joins; `& above` compares.
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
