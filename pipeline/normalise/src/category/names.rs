//! Adds the taxonomy's category names as rules of lower priority than those of the file.

use google_taxonomy::ProductCategory;

use super::table::{PHRASE_WORDS_MAX, Table};
use super::vectors::{CategoryName, Names};

/// All category ids of the taxonomy are smaller.
const ID_MAX: u32 = 600_000;

/// Last words of many category names that do not name a product alone.
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

/// Returns true for a list of single words, such as "Toners & Astringents".
fn is_list(name: &str) -> bool {
    name.split(['&', ',']).all(|part| !part.trim().contains(' '))
}

pub(super) fn categories() -> impl Iterator<Item = ProductCategory> {
    (1..=ID_MAX).filter_map(|id| ProductCategory::from_id(id).ok())
}

impl Table {
    /// Returns all names of categories with their vectors, computed at first use.
    pub(super) fn names(&self) -> &Names {
        self.vectors.get_or_init(|| {
            let phrases = self.phrases.iter().map(|(name, category)| CategoryName {
                name,
                category: *category,
            });
            Names::of(phrases, categories())
        })
    }

    /// Adds the names of all categories. A name of several words names a product. A single word may also be a flavour,
    /// motif or occupation, so it is only weak evidence. The name of a category with subcategories is treated like the
    /// name of a department.
    pub(super) fn add_names(&mut self) {
        let mut paths: Vec<ProductCategory> = categories().collect();
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
                // A phrase of the file takes precedence.
                let _ = self.add_unless_known(&format!("{mark}{part}"), *category);
            }
        }
    }
}

/// `Tea & Infusions` gives tea, and infusions. In `Hair Clippers & Trimmers`, both parts are for hair, and in `TV &
/// Monitor Mounts`, both are mounts.
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
