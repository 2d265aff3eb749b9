//! The taxonomy's own names of its categories, as rules behind those of the file.

use google_taxonomy::ProductCategory;

use super::table::{PHRASE_WORDS_MAX, Table};

/// No category of the taxonomy has a higher id.
const ID_MAX: u32 = 600_000;

/// Last words of many names that say nothing where they stand alone.
const GENERAL: [&str; 14] = [
    "Accessories",
    "Supplies",
    "Equipment",
    "Parts",
    "Care",
    "Sets",
    "Kits",
    "Media",
    "Power",
    "Components",
    "Memory",
    "Masks",
    "Meal",
    "Grips",
];

/// A list of single words: "Toners & Astringents".
fn is_list(name: &str) -> bool {
    name.split(['&', ',']).all(|part| !part.trim().contains(' '))
}

impl Table {
    /// Adds the names of all categories: one of several words names a product, one word alone may also be a taste, a
    /// motif or a trade, and that of a category with others below it is a department's.
    pub(super) fn add_names(&mut self) {
        let mut paths: Vec<ProductCategory> = (1..=ID_MAX)
            .filter_map(|id| ProductCategory::from_id(id).ok())
            .collect();
        paths.sort_unstable_by_key(|category| category.name());
        for (at, category) in paths.iter().enumerate() {
            let path = category.name();
            let is_department = paths
                .get(at + 1)
                .and_then(|next| next.name().strip_prefix(path))
                .is_some_and(|rest| rest.starts_with(" > "));
            let Some((_, name)) = path.rsplit_once(" > ") else {
                continue;
            };
            for mark in [" Parts & Accessories", " Accessories", " Replacement Parts", " Parts"] {
                if let Some(thing) = name.strip_suffix(mark) {
                    self.accessories.entry(thing).or_insert(*category);
                    break;
                }
            }
            for part in parts(name) {
                let words = part.split_whitespace().count();
                let last = part.rsplit(' ').next().unwrap_or_default();
                let is_part = name.contains(['&', ',']);
                let is_general = match words {
                    1 => GENERAL.contains(&last) || (is_part && !is_list(name)),
                    _ => is_part && GENERAL.contains(&last),
                };
                if words > PHRASE_WORDS_MAX || is_general {
                    continue;
                }
                let mark = match (words, is_department) {
                    (_, true) => "*",
                    (1, false) => "~",
                    _ => "",
                };
                // A phrase of the file knows better.
                let _ = self.add_unless_known(&format!("{mark}{part}"), *category);
            }
        }
    }
}

/// The names of a category: `Tea & Infusions` is tea, and infusions, but `Hair Clippers & Trimmers` are both for hair, and `TV
/// & Monitor Mounts` are mounts of both.
fn parts(name: &str) -> Vec<String> {
    let name = name.replace('\'', "");
    let mut parts: Vec<String> = name
        .split(['&', ',', '/'])
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    let is_plural = |part: &str| part.ends_with('s') && !part.ends_with("ss");
    let Some((last, earlier)) = parts.split_last_mut() else {
        return parts;
    };
    if let Some((_, head)) = last.rsplit_once(' ') {
        for part in earlier.iter_mut().filter(|part| !is_plural(part)) {
            *part = format!("{part} {head}");
        }
    } else if let [first, ..] = earlier
        && let Some((modifier, head)) = first.rsplit_once(' ')
        && is_plural(head)
    {
        *last = format!("{modifier} {last}");
    }
    parts
}
