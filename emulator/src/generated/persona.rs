use std::collections::HashSet;

use super::coin::Coin;
use super::dice::Dice;
use super::trades::{Trade, WORDS};

/// Identity of a generated store: name, trade, currency, location and habits.
#[derive(Debug, Clone)]
pub(crate) struct Persona {
    /// Index of the store among all stores.
    pub(crate) index: u32,
    pub(crate) seed: u64,
    pub(crate) name: String,
    /// Slug in kebab-case, unique among the stores and valid as a host label.
    pub(crate) slug: String,
    pub(crate) trade: &'static Trade,
    pub(crate) coin: &'static Coin,
    /// Price level in percent of the usual price.
    pub(crate) tier_pct: u64,
    pub(crate) place: (&'static str, &'static str),
    /// True if the product type is always blank, as in a third of stores.
    pub(crate) blank_types: bool,
    pub(crate) reviewed: bool,
}

impl Persona {
    /// Generates the persona of store `index`. `taken` contains the slugs of the previous stores.
    pub(crate) fn draw(seed: u64, index: u32, taken: &mut HashSet<String>) -> Self {
        let mut dice = Dice::of(&[seed, 0x5354_4f52, u64::from(index)]);
        // The first stores use each trade in turn, so that a small market has many kinds of products.
        let trades = &WORDS.trades;
        let nth = if (index as usize) < trades.len() {
            (index as usize + seed as usize % trades.len()) % trades.len()
        } else {
            dice.below(trades.len() as u64) as usize
        };
        let coin = if index == 0 {
            Coin::of("INR")
        } else {
            Coin::at(dice.below(1000))
        };
        let place = dice.pick(&coin.cities);
        let (name, slug) = name(&mut dice, &trades[nth], place.0, index, taken);
        Self {
            index,
            seed,
            name,
            slug,
            trade: &trades[nth],
            coin,
            tier_pct: dice.between(70, 220),
            place,
            blank_types: dice.chance(250),
            reviewed: dice.chance(800),
        }
    }

    /// Returns a persona for a recorded store, from which faults generate the invented products of endless or shifting
    /// pages.
    pub(crate) fn stand_in(name: &str, slug: &str, currency: &str, index: u32) -> Self {
        let mut taken = HashSet::new();
        let drawn = Self::draw(super::dice::fold_bytes(slug.as_bytes()), index, &mut taken);
        let coin = Coin::of(currency);
        Self {
            name: name.to_owned(),
            slug: slug.to_owned(),
            coin,
            place: coin.cities[0],
            ..drawn
        }
    }

    pub(crate) fn shop_id(&self) -> u64 {
        50_000_000_000 + Dice::of(&[self.seed, 0x0053_484f_5049, u64::from(self.index)]).below(40_000_000_000)
    }
}

fn name(dice: &mut Dice, trade: &Trade, city: &str, index: u32, taken: &mut HashSet<String>) -> (String, String) {
    for attempt in 0..8 {
        let mut name = format!("{} {}", dice.pick(&WORDS.openings), dice.pick(&trade.endings));
        if attempt >= 4 {
            name = format!("{name} {city}");
        }
        let slug = kebab(&name);
        if taken.insert(slug.clone()) {
            return (name, slug);
        }
    }
    let name = format!(
        "{} {} {}",
        dice.pick(&WORDS.openings),
        dice.pick(&trade.endings),
        index + 1
    );
    let slug = kebab(&format!("{name} {city}"));
    taken.insert(slug.clone());
    (name, slug)
}

/// Returns the kebab-case of a text in ASCII. Common accents are removed, and other characters become one hyphen.
pub(crate) fn kebab(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_kebab(&mut out, text);
    out
}

/// Appends the kebab-case of `text`, limited to 120 bytes.
pub(crate) fn push_kebab(out: &mut String, text: &str) {
    let start = out.len();
    for char in text.chars() {
        if out.len() - start >= 120 {
            break;
        }
        match char {
            'a'..='z' | '0'..='9' => out.push(char),
            'A'..='Z' => out.push(char.to_ascii_lowercase()),
            'à' | 'á' | 'â' | 'ä' | 'ā' => out.push('a'),
            'è' | 'é' | 'ê' | 'É' => out.push('e'),
            'ö' | 'ó' | 'ô' | 'ō' => out.push('o'),
            'ü' | 'ú' => out.push('u'),
            '\'' | '’' | '™' | '®' => {}
            _ => {
                if out.len() > start && !out.ends_with('-') {
                    out.push('-');
                }
            }
        }
    }
    while out.len() > start && out.ends_with('-') {
        out.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_thousand_stores_have_five_thousand_slugs() {
        let mut taken = HashSet::new();
        let slugs: HashSet<String> = (0..5000)
            .map(|index| Persona::draw(7, index, &mut taken).slug)
            .collect();
        assert_eq!(slugs.len(), 5000);
        assert!(
            slugs
                .iter()
                .all(|slug| slug.len() <= 63 && !slug.starts_with('-') && !slug.ends_with('-'))
        );
    }

    #[test]
    fn kebab_case_has_no_other_characters() {
        assert_eq!(kebab("Café Lune & Co. – l'Été™"), "cafe-lune-co-lete");
        assert_eq!(kebab("हल्दी"), "");
    }
}
