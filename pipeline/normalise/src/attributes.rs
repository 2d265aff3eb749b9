use std::sync::LazyLock;

use data_model::{Attribute, CategoryId, ProductOption, SizeSystem};
use data_text::runs;
use google_taxonomy::ProductCategory;
use rustc_hash::{FxHashMap, FxHashSet};

/// Values of one attribute at most.
const VALUES_MAX: usize = 256;
/// Attributes of one product at most.
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

/// Words that may stand before a colour and make one with it.
const SHADES: [&str; 19] = [
    "matte", "satin", "gloss", "glossy", "dark", "light", "pale", "deep", "bright", "heather", "washed", "vintage",
    "solid", "dusty", "neon", "pastel", "metallic", "brushed", "polished",
];

/// Structured attributes, sorted by name: from options; from tags that name what they state (`Color:Red`,
/// `fabric_cotton`); when nothing states a colour, from colours that stand apart at the end of the title; and, of what is
/// worn, for whom it is, from the title or from a tag that says nothing else. Values keep the store's wording; two that
/// differ in case alone are one.
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

/// The system of the numbers of an option, where the option is one of sizes; by the names that make the attribute `size`.
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

/// An option's name in lower case, without the words that only ask for a choice: `Select a Color:` is `color`.
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

/// True of a category of things that are worn.
fn is_worn(category: CategoryId) -> bool {
    ProductCategory::from_id(category.0).is_ok_and(|category| category.name().starts_with("Apparel & Accessories > "))
}

/// The people whom a word names that a product is for.
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

/// A tag that states an attribute by a name that is known.
fn named(tag: &str) -> Option<(&'static str, &str)> {
    let (name, value) = tag.split_once([':', '=', '_'])?;
    let value = value.trim();
    let name = ALIASES.get(name.trim().to_lowercase().as_str())?;
    (!value.is_empty()).then_some((name, value))
}

/// Notes in brackets that may stand behind a colour: `(Set of 2)`.
const NOTES_MAX: usize = 2;

/// The colours that end a title apart from the name of the coloured thing: `Linen Shirt - Navy/White (Set of 2)`.
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

/// The colours of a text that is nothing else: one, or several as `black/white`, `red & blue`; none otherwise.
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
