//! Words for generated brands: the products of each trade, their names and their prices, read from `data`.

use std::sync::LazyLock;

use crate::table::rows;

/// A kind of product.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Noun at the end of a product title.
    pub(crate) noun: &'static str,
    /// Product type that the store states.
    pub(crate) product_type: &'static str,
    /// Minimum of the usual price in rupees.
    pub(crate) rupees_min: u64,
    /// Maximum of the usual price in rupees.
    pub(crate) rupees_max: u64,
    /// Name of the option set for this kind, for `options::draw`.
    pub(crate) options: &'static str,
    /// SVG markup of the outline on a canvas of 400 by 400. `$a` stands for the product's tone, `$b` for a darker tone
    /// and `$c` for a lighter one.
    pub(crate) shape: &'static str,
    /// Words before the noun in a title.
    pub(crate) forms: Vec<&'static str>,
    /// Sentences for the product description.
    pub(crate) facts: Vec<&'static str>,
    /// Path of the category in Shopify's product taxonomy.
    pub(crate) category: &'static str,
}

/// Trade: kinds of products that one brand plausibly sells together.
#[derive(Debug)]
pub(crate) struct Trade {
    /// Last words of brand names.
    pub(crate) endings: Vec<&'static str>,
    /// True if titles name a colour and a series, as for clothes.
    pub(crate) coloured: bool,
    pub(crate) kinds: Vec<Kind>,
}

/// Colour name as shops use it, with its tone in pictures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colour {
    pub(crate) name: &'static str,
    pub(crate) tone: &'static str,
}

#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) trades: Vec<Trade>,
    /// First words of brand names, from many languages.
    pub(crate) openings: Vec<&'static str>,
    /// Names of product series, often a person's name.
    pub(crate) series: Vec<&'static str>,
    pub(crate) colours: Vec<Colour>,
}

pub(crate) static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

const TRADES: &str = include_str!("../../data/trades.tsv");
const KINDS: &str = include_str!("../../data/kinds.tsv");
const FACTS: &str = include_str!("../../data/facts.tsv");
const SHAPES: &str = include_str!("../../data/shapes.tsv");
const NAMES: &str = include_str!("../../data/words.tsv");

/// Returns the second cells of the rows whose first cell is `key`.
fn values(text: &'static str, key: &str) -> Vec<&'static str> {
    let rows = rows(text).filter(|row| row.first() == Some(&key));
    rows.filter_map(|row| row.get(1).copied()).collect()
}

impl Kind {
    fn read(row: &[&'static str]) -> Option<Self> {
        let &[_, noun, product_type, from, to, options, shape, facts, forms, category] = row else {
            return None;
        };
        Some(Self {
            noun,
            product_type,
            rupees_min: from.parse().ok()?,
            rupees_max: to.parse().ok()?,
            options,
            shape: values(SHAPES, shape).first()?,
            forms: forms.split('|').collect(),
            facts: values(FACTS, facts),
            category,
        })
    }
}

impl Words {
    fn read() -> Self {
        let trade = |row: Vec<&'static str>| {
            let &[name, titles, endings] = row.as_slice() else {
                return None;
            };
            let kinds = rows(KINDS).filter(|row| row.first() == Some(&name));
            Some(Trade {
                endings: endings.split('|').collect(),
                coloured: titles == "coloured",
                kinds: kinds.filter_map(|row| Kind::read(&row)).collect(),
            })
        };
        let colours = rows(NAMES).filter_map(|row| match *row.as_slice() {
            ["colour", name, tone] => Some(Colour { name, tone }),
            _ => None,
        });
        Self {
            trades: rows(TRADES).filter_map(trade).collect(),
            openings: values(NAMES, "opening"),
            series: values(NAMES, "series"),
            colours: colours.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::dice::Dice;
    use super::super::options;
    use super::*;

    #[test]
    fn every_trade_can_be_drawn_from() {
        assert_eq!(WORDS.trades.len(), rows(TRADES).count());
        let kinds = WORDS.trades.iter().map(|trade| trade.kinds.len());
        assert_eq!(kinds.sum::<usize>(), rows(KINDS).count());
        for trade in &WORDS.trades {
            assert!(!trade.endings.is_empty() && trade.kinds.len() >= 4);
            for kind in &trade.kinds {
                assert!(!kind.forms.is_empty() && kind.facts.len() >= 3, "{}", kind.noun);
                assert!(
                    0 < kind.rupees_min && kind.rupees_min < kind.rupees_max,
                    "{}",
                    kind.noun
                );
                let drawn = (0..20).any(|seed| !options::draw(&mut Dice::of(&[seed]), kind.options, "IN").is_empty());
                assert_eq!(drawn, kind.options != "single", "{}", kind.noun);
            }
        }
    }

    #[test]
    fn words_are_not_repeated() {
        let colours = WORDS.colours.iter().map(|colour| colour.name).collect();
        for words in [&WORDS.openings, &WORDS.series, &colours] {
            assert!(words.len() > 30);
            assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
        }
    }
}
