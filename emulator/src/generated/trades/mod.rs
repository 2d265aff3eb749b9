//! The words that generated brands are made of: what a trade sells, under which names, at which prices.

mod beauty;
mod food;
mod gear;
mod home;
mod life;
mod wear;

use crate::picture::Shape;

/// The options that a kind of product is sold in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// One default variant.
    Single,
    /// XS to XXL.
    Size,
    /// Size and colour.
    SizeColour,
    /// Shoe sizes; the numbers depend on the currency's country.
    Shoe,
    /// A few colours.
    Colour,
    /// Net weight.
    Weight,
    /// Net weight and grind.
    Grind,
    /// Net volume.
    Volume,
    /// Shades of make-up.
    Shade,
    /// Ring sizes.
    Ring,
    /// Metal or plating.
    Metal,
    /// Packs of one, two, three.
    Pack,
    /// Bed sizes and colour.
    Bed,
    /// Ages of children.
    Age,
    /// Load in kilograms.
    Load,
    /// Ruled, dotted, plain.
    Ruling,
}

/// A kind of product.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The noun at the end of a title.
    pub(crate) noun: &'static str,
    /// The store's name for the type.
    pub(crate) product_type: &'static str,
    /// Usual price in rupees, from and to.
    pub(crate) rupees: (u32, u32),
    /// The options that it is sold in.
    pub(crate) scheme: Scheme,
    /// The form in which it is drawn.
    pub(crate) shape: Shape,
    /// Words before the noun.
    pub(crate) forms: &'static [&'static str],
    /// Sentences of its description.
    pub(crate) facts: &'static [&'static str],
}

/// A trade: kinds of product that one brand plausibly sells together.
#[derive(Debug)]
pub(crate) struct Trade {
    /// Words that end a brand's name.
    pub(crate) endings: &'static [&'static str],
    /// True where titles name a colour and a series, as with clothes.
    pub(crate) coloured: bool,
    /// The kinds of product that it sells.
    pub(crate) kinds: &'static [Kind],
}

pub(crate) const fn kind(
    noun: &'static str,
    product_type: &'static str,
    rupees: (u32, u32),
    scheme: Scheme,
    shape: Shape,
    forms: &'static [&'static str],
    facts: &'static [&'static str],
) -> Kind {
    Kind {
        noun,
        product_type,
        rupees,
        scheme,
        shape,
        forms,
        facts,
    }
}

/// Every trade; a store's trade is one of them.
pub(crate) const TRADES: &[&Trade] = &[
    &wear::ETHNIC,
    &wear::WESTERN,
    &wear::FOOTWEAR,
    &wear::BAGS,
    &beauty::SKIN,
    &beauty::MAKEUP,
    &food::COFFEE,
    &food::TEA,
    &food::PANTRY,
    &home::LINEN,
    &home::DECOR,
    &home::KITCHEN,
    &gear::ELECTRONICS,
    &gear::FITNESS,
    &life::PETS,
    &life::KIDS,
    &life::JEWELLERY,
    &life::STATIONERY,
];

/// Words that begin a brand's name, of many languages.
pub(crate) const OPENINGS: &[&str] = &[
    "Kaveri",
    "Neem",
    "Saffron",
    "Monsoon",
    "Indigo",
    "Banyan",
    "Malabar",
    "Nilgiri",
    "Tamarind",
    "Jaipur",
    "Marigold",
    "Sandalwood",
    "Ganga",
    "Deccan",
    "Himalaya",
    "Konkan",
    "Lotus",
    "Peacock",
    "Mogra",
    "Gulmohar",
    "Chandan",
    "Amrit",
    "Anaya",
    "Ishaan",
    "Meera",
    "Tara",
    "Vana",
    "Surya",
    "Chandra",
    "Megha",
    "Prithvi",
    "Aarohi",
    "Rann",
    "Kutch",
    "Aravalli",
    "Periyar",
    "Godavari",
    "Madras",
    "Bombay",
    "Calcutta",
    "Mysore",
    "Udaipur",
    "Varanasi",
    "Coorg",
    "Pondi",
    "Goa",
    "Ladakh",
    "Assam",
    "Nordvik",
    "Lumen",
    "Alder",
    "Birch",
    "Juniper",
    "Cobalt",
    "Harbour",
    "Meridian",
    "Solstice",
    "Ember",
    "Willow",
    "Quarry",
    "Saltmarsh",
    "Northgate",
    "Atlas",
    "Piccolo",
    "Olmo",
    "Lisboa",
    "Sakura",
    "Kintsugi",
    "Hoshi",
    "Mizu",
    "Oud",
    "Dahab",
    "Zafran",
    "Najma",
    "Café Lune",
    "Maison Rive",
    "Élan",
    "Fjord",
    "Thistle",
    "Wren",
    "Otter",
    "Magpie",
    "Copper",
    "Linden",
    "Sequoia",
    "Prairie",
    "Canyon",
    "Tidal",
    "Aurora",
    "Pebble",
    "Orchard",
    "Foxglove",
    "Hearth",
    "Almanac",
    "Commonplace",
    "Good Hands",
    "Two Rivers",
    "Third Wave",
    "Old Town",
    "Little Oak",
    "Blue Door",
    "Red Earth",
    "White Lotus",
    "Green Valley",
    "Slow",
    "Plain",
    "Kindred",
];

/// Words that name a series, often a person's name.
pub(crate) const SERIES: &[&str] = &[
    "Anaya", "Meera", "Tara", "Ira", "Zoya", "Kiara", "Naina", "Riya", "Veda", "Diya", "Aisha", "Leela", "Mira",
    "Noor", "Pari", "Rani", "Sana", "Uma", "Vani", "Yara", "Aarav", "Kabir", "Vihaan", "Arjun", "Rehan", "Dev", "Nova",
    "Luna", "Aria", "Iris", "Olive", "Hazel", "Ivy", "Wren", "Skye", "Sol", "Rio", "Oslo", "Milan", "Kyoto", "Porto",
    "Sienna", "Como", "Aspen", "Juno", "Vega", "Orion", "Atlas", "Echo", "Drift", "Haven", "Bloom", "Dune", "Cove",
    "Ridge", "Mesa", "Flora", "Terra", "Breeze", "Ember", "Frost", "Haze", "Dawn", "Dusk",
];

/// Colours as shops name them, with the tone that pictures use.
pub(crate) const COLOURS: &[(&str, &str)] = &[
    ("Indigo", "#3f51b5"),
    ("Black", "#2b2b30"),
    ("Ivory", "#efe6d2"),
    ("Mustard", "#d9a520"),
    ("Rust", "#b5532a"),
    ("Olive", "#76803c"),
    ("Teal", "#1f8a87"),
    ("Maroon", "#7d1f35"),
    ("Blush Pink", "#e8a5ae"),
    ("Sage Green", "#9caf88"),
    ("Navy Blue", "#24345f"),
    ("White", "#f4f4f1"),
    ("Charcoal", "#464a50"),
    ("Terracotta", "#c9694a"),
    ("Lavender", "#a99bd0"),
    ("Sky Blue", "#7db9de"),
    ("Emerald", "#14805e"),
    ("Coral", "#f0795f"),
    ("Beige", "#d8c3a1"),
    ("Burgundy", "#6b1f33"),
    ("Turquoise", "#38b6b0"),
    ("Peach", "#f4b494"),
    ("Forest Green", "#2f5d3a"),
    ("Wine", "#722f47"),
    ("Grey", "#989ca3"),
    ("Brown", "#7a5236"),
    ("Red", "#c8333a"),
    ("Yellow", "#f0c93a"),
    ("Lilac", "#c6a8d8"),
    ("Rani Pink", "#d1307a"),
    ("Copper", "#b8703f"),
    ("Mint", "#a4d8bf"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_trade_can_be_drawn_from() {
        for trade in TRADES {
            assert!(!trade.endings.is_empty() && trade.kinds.len() >= 4);
            for kind in trade.kinds {
                assert!(!kind.forms.is_empty() && kind.facts.len() >= 3, "{}", kind.noun);
                assert!(kind.rupees.0 > 0 && kind.rupees.0 < kind.rupees.1, "{}", kind.noun);
            }
        }
    }

    #[test]
    fn words_are_not_repeated() {
        for words in [OPENINGS, SERIES] {
            assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
        }
        assert_eq!(
            COLOURS.iter().map(|(name, _)| name).collect::<HashSet<_>>().len(),
            COLOURS.len()
        );
    }
}
