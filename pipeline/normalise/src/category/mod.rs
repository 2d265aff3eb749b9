//! The Google product category of a product, from what its shop calls it.
//!
//! In: product type, title and tags as the shop wrote them. Out: the id of a category of the Google product taxonomy,
//! or nothing. The rules are the phrases of `data/reference/categories.tsv`; no rule, no category: never a guess.
//!
//! The product type is believed first, then the title, then the tags. Within a text the last noun of its first phrase
//! names the product ("leather dog collar with bell" is a collar): what stands behind "for", "with", a comma or a dash
//! only tells about it.
//!
//! It never looks at the description (prose names too much), and never learns: the same table for every shop.

mod head;
mod table;
#[cfg(test)]
mod tests;
mod words;

use data_model::CategoryId;
use google_taxonomy::ProductCategory;

use self::head::{Head, Text};
use self::table::{Strength, TABLE, Table};

/// Tags that are read; shops with more use them as notes to themselves.
const TAGS_MAX: usize = 64;

/// Category of the Google product taxonomy (version 2019-07-10) for a product, `None` if no rule fits.
///
/// Pure and deterministic: the same texts always give the same category.
pub fn categorise(product_type: Option<&str>, title: &str, tags: &[String]) -> Option<CategoryId> {
    place(&TABLE, product_type, title, tags).map(|category| CategoryId(category.id()))
}

fn place(table: &Table, product_type: Option<&str>, title: &str, tags: &[String]) -> Option<ProductCategory> {
    let typed = match product_type {
        Some(text) => match type_head(table, text) {
            Typed::Path(category) => return Some(category),
            Typed::Head(head) => Some(head),
            Typed::Nothing => None,
        },
        None => None,
    };
    let title = Text::read(table, title);
    let titled = title.decisive(table).or_else(|| title.head(table));
    if let Some(category) = strong(typed) {
        return Some(narrowed(category, typed, titled));
    }
    let open = titled.is_some_and(|head| head.is_open());
    strong(titled)
        .or_else(|| typed.and_then(|head| head.category()))
        .or_else(|| titled.filter(|head| head.strength == Strength::Weak)?.category())
        .or_else(|| if open { None } else { from_tags(table, tags) })
}

fn strong(head: Option<Head<'_>>) -> Option<ProductCategory> {
    head.filter(|head| head.strength >= Strength::Head)?.category()
}

/// The title says the same more exactly: a deeper category, a longer name for the same noun ("camera monitor" in the
/// title of a "monitor"), or a name that has the type in it ("baseball cap" under "baseball").
fn narrowed(category: ProductCategory, typed: Option<Head<'_>>, titled: Option<Head<'_>>) -> ProductCategory {
    let (Some(typed), Some(titled)) = (typed, titled) else {
        return category;
    };
    let Some(exact) = titled.category() else {
        return category;
    };
    let longer = typed.noun == titled.noun && titled.length > typed.length;
    if longer || titled.has_within(&typed) || is_below(exact.name(), category.name()) {
        exact
    } else {
        category
    }
}

enum Typed<'t> {
    /// The shop wrote a path of the taxonomy itself.
    Path(ProductCategory),
    Head(Head<'t>),
    Nothing,
}

fn type_head<'t>(table: &'t Table, text: &str) -> Typed<'t> {
    if text.contains(" > ")
        && let Ok(category) = ProductCategory::from_name(text.trim())
    {
        return Typed::Path(category);
    }
    // A path of the shop's own: its end is the most exact.
    for part in text.rsplit('>').take(table::PHRASE_WORDS_MAX) {
        let text = Text::read(table, part);
        let whole = text.whole(table, &[]).map(Head::alone);
        let head = whole.or_else(|| text.head(table)).filter(|head| !head.is_open());
        if let Some(head) = head {
            return Typed::Head(head);
        }
    }
    Typed::Nothing
}

/// What the tags that are names of products have in common, whatever their order. A tag that only names what contains
/// another's category adds nothing; weak ones count if there are no others.
fn from_tags(table: &Table, tags: &[String]) -> Option<ProductCategory> {
    let (mut named, mut weak) = (Vec::new(), Vec::new());
    for tag in tags.iter().take(TAGS_MAX) {
        let Some(head) = Text::read(table, tag).whole(table, table.audience()) else {
            continue;
        };
        let Some(category) = head.rule.category else { continue };
        match head.strength {
            Strength::Head | Strength::Decisive | Strength::Alone => named.push(category.name()),
            Strength::Weak => weak.push(category.name()),
            Strength::Broad | Strength::Feature => {}
        }
    }
    ProductCategory::from_name(shared_path(if named.is_empty() { &weak } else { &named })?).ok()
}

/// The path all `paths` share once those that contain another are left out; a department says nothing.
fn shared_path(paths: &[&'static str]) -> Option<&'static str> {
    let exact = paths
        .iter()
        .copied()
        .filter(|above| !paths.iter().any(|path| is_below(path, above)));
    let shared = exact.reduce(common_path)?;
    (shared.contains(" > ")).then_some(shared)
}

fn common_path(one: &'static str, other: &'static str) -> &'static str {
    let mut common = 0;
    for (left, right) in one.split(" > ").zip(other.split(" > ")) {
        if left != right {
            break;
        }
        common += left.len() + if common > 0 { " > ".len() } else { 0 };
    }
    one.get(..common).unwrap_or("")
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(" > "))
}
