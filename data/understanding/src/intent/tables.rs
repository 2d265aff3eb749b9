use std::sync::LazyLock;

use super::Audience;
use crate::phrases::Phrases;
use crate::tables::lines;

/// A malformed line is skipped, because a test checks the file.
pub(super) static TABLES: LazyLock<Tables> = LazyLock::new(Tables::shipped);

const INTENTS: &str = include_str!("../../../reference/understanding/intents.tsv");
const COLOURS: &str = include_str!("../../../reference/colours.txt");

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) audiences: Phrases<Audience>,
    /// Audience phrases of one word.
    pub(super) audience_words: Vec<(&'static str, Audience)>,
    pub(super) people: Phrases<Audience>,
    pub(super) nobody: Phrases<()>,
    pub(super) occasions: Phrases<&'static str>,
    pub(super) uses: Phrases<&'static str>,
    pub(super) colours: Phrases<&'static str>,
    /// Colour phrases, each with the name of its colour.
    pub(super) colour_phrases: Vec<(&'static str, &'static str)>,
    /// Colours, each with another colour that it is a shade of.
    pub(super) shades: Vec<(&'static str, &'static str)>,
    pub(super) unsure: Phrases<()>,
    pub(super) things: Phrases<()>,
}

impl Tables {
    fn shipped() -> Self {
        let mut tables = Self::default();
        for (kind, rest) in lines(INTENTS) {
            let Some((name, phrases)) = rest.split_once('\t') else {
                continue;
            };
            let phrases = phrases.split(", ");
            match kind {
                "audience" | "who" => {
                    let Some(audience) = Audience::named(name) else {
                        continue;
                    };
                    if kind == "audience" {
                        let words = phrases.clone().filter(|phrase| !phrase.contains(' '));
                        tables.audience_words.extend(words.map(|word| (word, audience)));
                    }
                    let table = if kind == "who" {
                        &mut tables.people
                    } else {
                        &mut tables.audiences
                    };
                    phrases.for_each(|phrase| table.add(phrase, audience));
                }
                "no" => phrases.for_each(|phrase| tables.nobody.add(phrase, ())),
                "occasion" => phrases.for_each(|phrase| tables.occasions.add(phrase, name)),
                "use" => phrases.for_each(|phrase| tables.uses.add(phrase, name)),
                "colour" => phrases.for_each(|phrase| tables.add_colour(phrase, name)),
                "shade" => tables.shades.extend(phrases.map(|shade| (name, shade))),
                "unsure" => phrases.for_each(|phrase| tables.unsure.add(phrase, ())),
                _ => phrases.for_each(|phrase| tables.things.add(phrase, ())),
            }
        }
        // The colours of the table above come first because they define the colour of other spellings.
        for colour in COLOURS.lines().filter(|line| !line.starts_with('#')) {
            tables.add_colour(colour, colour);
        }
        tables
    }

    fn add_colour(&mut self, phrase: &'static str, colour: &'static str) {
        self.colours.add(phrase, colour);
        self.colour_phrases.push((phrase, colour));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_of_a_kind_that_is_known() {
        let kinds = [
            "audience", "who", "no", "occasion", "use", "colour", "shade", "unsure", "thing",
        ];
        for line in INTENTS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let fields: Vec<&str> = line.split('\t').collect();
            assert!(kinds.contains(&fields[0]) && fields.len() == 3, "{line:?}");
            let is_of_somebody = matches!(fields[0], "audience" | "who");
            assert!(!is_of_somebody || Audience::named(fields[1]).is_some(), "{line:?}");
            assert!(
                fields[2]
                    .split(", ")
                    .all(|phrase| !phrase.is_empty() && !phrase.contains(['\'', ',']))
            );
        }
    }
}
