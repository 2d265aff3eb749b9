use std::sync::LazyLock;

use data_model::{Attribute, CategoryId, ProductOption, SizeSystem};
use data_text::runs;
use google_taxonomy::ProductCategory;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of values per attribute.
const VALUES_MAX: usize = 256;
/// Maximum number of attributes per product.
const ATTRIBUTES_MAX: usize = 32;

static ALIASES: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/reference/attributes.tsv").lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect()
});

static COLOURS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../../data/reference/colours.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect()
});

/// Words that form a colour with a following colour.
const SHADES: [&str; 19] = [
    "matte", "satin", "gloss", "glossy", "dark", "light", "pale", "deep", "bright", "heather", "washed", "vintage",
    "solid", "dusty", "neon", "pastel", "metallic", "brushed", "polished",
];

/// Returns the structured attributes, sorted by name. The sources are options, and tags that name their attribute
/// (`Color:Red`, `fabric_cotton`). If neither states a colour, separate colours at the end of the title are used. For
/// wearable products, the audience comes from the title or from a tag with only the audience. Values keep the store's
/// spelling and are merged if they differ only in case.
pub(crate) fn attributes(
    options: &[ProductOption],
    tags: &[String],
    title: &str,
    category: Option<CategoryId>,
) -> Vec<Attribute> {
    let mut found = AttributeSet::default();
    for option in options {
        let name = plain_name(&option.name);
        let name = ALIASES
            .get(name.as_str())
            .map_or(name.clone(), |alias| (*alias).to_owned());
        for value in &option.values {
            found.add(&name, value);
        }
    }
    for tag in tags {
        if let Some((name, value)) = named(tag) {
            found.add(name, value);
        }
    }
    if !found.has("color") {
        trailing_colours(title)
            .into_iter()
            .for_each(|colour| found.add("color", colour));
    }
    if !found.has("gender") && category.is_some_and(is_worn) {
        for word in title.split_whitespace().chain(tags.iter().map(String::as_str)) {
            if let Some(gender) = gender(word) {
                found.add("gender", gender);
            }
        }
    }
    found.finish()
}

/// Returns `None` if the option's name does not map to the attribute `size`.
pub(crate) fn sizes_of(option: &str) -> Option<SizeSystem> {
    let name = plain_name(option);
    (ALIASES.get(name.as_str()) == Some(&"size")).then_some(())?;
    let is_word = |word: &str| runs(&name).any(|one| one == word);
    let systems = [
        ("waist", SizeSystem::Waist),
        ("uk", SizeSystem::Uk),
        ("us", SizeSystem::Us),
        ("eu", SizeSystem::Eu),
        ("ind", SizeSystem::In),
        ("india", SizeSystem::In),
        ("indian", SizeSystem::In),
    ];
    let named = systems.into_iter().find(|(word, _)| is_word(word));
    Some(named.map_or(SizeSystem::Number, |(_, system)| system))
}

/// Removes the words that only ask for a choice: `Select a Color:` becomes `color`.
fn plain_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut plain = lower.trim().trim_end_matches(':').trim_end();
    for ask in ["select ", "choose ", "pick "] {
        if let Some(asked) = plain.strip_prefix(ask) {
            plain = asked;
            for article in ["a ", "an ", "your ", "the "] {
                plain = plain.strip_prefix(article).unwrap_or(plain);
            }
        }
    }
    let plain = match plain.split_once(['(', '[']) {
        Some((before, _)) if !before.trim().is_empty() && ALIASES.contains_key(before.trim()) => before.trim(),
        _ => plain.trim(),
    };
    if plain.is_empty() { lower } else { plain.to_owned() }
}

fn is_worn(category: CategoryId) -> bool {
    ProductCategory::from_id(category.0).is_ok_and(|category| category.name().starts_with("Apparel & Accessories > "))
}

fn gender(word: &str) -> Option<&'static str> {
    let word = word
        .trim_matches(|edge: char| !edge.is_alphanumeric())
        .replace('’', "'");
    Some(match word.to_lowercase().as_str() {
        "men" | "mens" | "men's" => "Men",
        "women" | "womens" | "women's" | "ladies" | "ladies'" => "Women",
        "boys" | "boy's" => "Boys",
        "girls" | "girl's" => "Girls",
        "unisex" => "Unisex",
        _ => return None,
    })
}

/// Returns the attribute and value of a tag with a known attribute name.
fn named(tag: &str) -> Option<(&'static str, &str)> {
    let (name, value) = tag.split_once([':', '=', '_'])?;
    let value = value.trim();
    let name = ALIASES.get(name.trim().to_lowercase().as_str())?;
    (!value.is_empty()).then_some((name, value))
}

/// Maximum number of notes in brackets after a colour, such as `(Set of 2)`.
const NOTES_MAX: usize = 2;

/// Returns the colours at the end of a title that are separated from the product name, as in `Linen Shirt - Navy/White
/// (Set of 2)`.
fn trailing_colours(title: &str) -> Vec<&str> {
    let mut title = title.trim_end();
    for _ in 0..=NOTES_MAX {
        let bracketed = title
            .strip_suffix([')', ']'])
            .and_then(|rest| rest.rsplit_once(['(', '[']));
        let apart = [" - ", " – ", " — ", " | ", ", ", " in "];
        let behind = apart.iter().filter_map(|mark| title.rsplit_once(mark));
        let last = bracketed.into_iter().chain(behind).map(|(_, last)| last.trim());
        if let Some(colours) = last.map(colours).find(|colours| !colours.is_empty()) {
            return colours;
        }
        match bracketed {
            Some((before, _)) => title = before.trim_end(),
            None => break,
        }
    }
    Vec::new()
}

/// Returns the colours of a text that has only colours, such as `black`, `black/white` or `red & blue`. Returns none
/// for any other text.
fn colours(text: &str) -> Vec<&str> {
    if is_colour(text) {
        return vec![text];
    }
    for mark in ["/", " & ", " and "] {
        let parts: Vec<&str> = text.split(mark).map(str::trim).collect();
        if (2..=4).contains(&parts.len()) && parts.iter().all(|part| is_colour(part)) {
            return parts;
        }
    }
    Vec::new()
}

fn is_colour(text: &str) -> bool {
    let lower = text.to_lowercase();
    let shade = || {
        let (shade, colour) = lower.split_once(' ')?;
        (SHADES.contains(&shade) && COLOURS.contains(colour)).then_some(())
    };
    COLOURS.contains(lower.as_str()) || shade().is_some()
}

#[derive(Debug, Default)]
struct AttributeSet {
    attributes: Vec<Attribute>,
    seen: FxHashSet<(usize, String)>,
}

impl AttributeSet {
    fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|attribute| attribute.name == name)
    }

    fn add(&mut self, name: &str, value: &str) {
        let known = self.attributes.iter().position(|attribute| attribute.name == name);
        let place = known.unwrap_or(self.attributes.len());
        if place >= ATTRIBUTES_MAX {
            return;
        }
        if known.is_none() {
            self.attributes.push(Attribute {
                name: name.to_owned(),
                values: Vec::new(),
            });
        }
        let values = &mut self.attributes[place].values;
        if values.len() < VALUES_MAX && self.seen.insert((place, value.to_lowercase())) {
            values.push(value.to_owned());
        }
    }

    fn finish(mut self) -> Vec<Attribute> {
        self.attributes.sort_unstable();
        self.attributes
    }
}
