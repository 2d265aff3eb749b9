use std::sync::LazyLock;

use data_model::{Attribute, ProductOption};
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

/// Structured attributes, sorted by name: from options; from tags that name what they state (`Color:Red`,
/// `fabric_cotton`); and, when nothing states a colour, from a colour that stands apart at the end of the title.
/// Values keep the store's wording; two that differ in case alone are one.
pub(crate) fn attributes(options: &[ProductOption], tags: &[String], title: &str) -> Vec<Attribute> {
    let mut found = Found::default();
    for option in options {
        let name = option.name.to_lowercase();
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
    if !found.has("color")
        && let Some(colour) = trailing_colour(title)
    {
        found.add("color", colour);
    }
    found.finish()
}

/// A tag that states an attribute by a name that is known.
fn named(tag: &str) -> Option<(&'static str, &str)> {
    let (name, value) = tag.split_once([':', '=', '_'])?;
    let value = value.trim();
    let name = ALIASES.get(name.trim().to_lowercase().as_str())?;
    (!value.is_empty()).then_some((name, value))
}

fn trailing_colour(title: &str) -> Option<&str> {
    let bracketed = || {
        title
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once('('))
            .map(|(_, last)| last)
    };
    let apart = [" - ", " – ", " — ", " | ", ", ", " in "];
    let behind = apart
        .iter()
        .filter_map(|mark| title.rsplit_once(mark))
        .map(|(_, last)| last);
    let mut last = bracketed().into_iter().chain(behind).map(str::trim);
    last.find(|last| COLOURS.contains(last.to_lowercase().as_str()))
}

#[derive(Debug, Default)]
struct Found {
    attributes: Vec<Attribute>,
    seen: FxHashSet<(usize, String)>,
}

impl Found {
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
