use data_index::{Release, RowAddress, taxonomy};
use data_model::CategoryId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexical::{Purpose, QuerySubject, Thing};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThingRelation {
    /// Category of the product, with ancestors, descendants, and categories of the same name. Its products are not
    /// demoted.
    Own,
    /// Branch of accessories or components for other products.
    Accessory,
    Other,
}

/// Returns the candidate rows that are accessories for the named product, such as a lock or a sleeve for `laptop`.
/// Their category is not the product's. Their title has the product's name, but not as the kind of product. In a branch
/// of accessories, the title need not have it.
pub(super) fn among(
    release: &Release,
    named: &QuerySubject,
    rows: impl Iterator<Item = RowAddress>,
) -> FxHashSet<RowAddress> {
    let Some(thing) = &named.thing else {
        return named
            .purpose
            .as_ref()
            .map_or_else(FxHashSet::default, |purpose| others(release, named, purpose, rows));
    };
    let mut known: FxHashMap<CategoryId, ThingRelation> = FxHashMap::default();
    let mut doubtful: Vec<(RowAddress, ThingRelation)> = Vec::new();
    for at in rows {
        let category = release.part(at.part).and_then(|part| part.cards().category(at.row));
        let Some(category) = category else { continue };
        let relation = *known
            .entry(category)
            .or_insert_with(|| relation(category, named, thing));
        if relation != ThingRelation::Own {
            doubtful.push((at, relation));
        }
    }
    doubtful.sort_unstable_by_key(|(at, _)| *at);
    let mut demoted = FxHashSet::default();
    for of_part in doubtful.chunk_by(|one, other| one.0.part == other.0.part) {
        let part = of_part.first().and_then(|(at, _)| release.part(at.part));
        let list = part.and_then(|part| part.terms().find(&thing.stem));
        let mut cursor = list.map(data_index::terms::TermList::cursor);
        for (at, relation) in of_part {
            let held = cursor
                .as_mut()
                .and_then(|cursor| (cursor.seek(at.row) == at.row).then(|| cursor.holding()));
            let held = held.filter(|held| held.in_title());
            let is_aside = match held {
                Some(held) => held.head_level() < 2,
                None => *relation == ThingRelation::Accessory,
            };
            if is_aside {
                demoted.insert(*at);
            }
        }
    }
    demoted
}

/// Fields of a row with any of some words.
#[derive(Debug, Clone, Copy, Default)]
struct Has {
    anywhere: bool,
    /// True if the title has the word as its head or right before it.
    as_thing: bool,
}

/// Returns the candidate rows that are the object of the purpose, such as the mower for the query `blade for mower`.
/// Nothing in such a row names the product, or the title's head is the object of the purpose. Rows in the product's own
/// category are excluded.
fn others(
    release: &Release,
    named: &QuerySubject,
    purpose: &Purpose,
    rows: impl Iterator<Item = RowAddress>,
) -> FxHashSet<RowAddress> {
    let mut rows: Vec<RowAddress> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    let heads = held(release, &purpose.heads, &rows);
    let others = held(release, &purpose.others, &rows);
    // No product is demoted if no title has the word as its head.
    if !heads.iter().any(|has| has.as_thing) {
        return FxHashSet::default();
    }
    let is_filed = |at: RowAddress| {
        let category = release.part(at.part).and_then(|part| part.cards().category(at.row));
        let mut lineage = category.into_iter().flat_map(taxonomy::lineage);
        lineage.any(|one| named.categories.binary_search(&one.id).is_ok())
    };
    let of_row = rows.into_iter().zip(heads).zip(others);
    let is_other = |head: Has, other: Has| !head.as_thing && (other.as_thing || !head.anywhere);
    let demoted = of_row.filter(|((at, head), other)| is_other(*head, *other) && !is_filed(*at));
    demoted.map(|((at, _), _)| at).collect()
}

/// Returns the fields of each row with any of these words.
fn held(release: &Release, stems: &[String], rows: &[RowAddress]) -> Vec<Has> {
    let mut all = Vec::with_capacity(rows.len());
    for of_part in rows.chunk_by(|one, other| one.part == other.part) {
        let part = of_part.first().and_then(|at| release.part(at.part));
        let lists = stems.iter().filter_map(|stem| part?.terms().find(stem));
        let mut cursors: Vec<_> = lists.map(data_index::terms::TermList::cursor).collect();
        all.extend(of_part.iter().map(|at| {
            let mut has = Has::default();
            for cursor in &mut cursors {
                if cursor.seek(at.row) == at.row {
                    has.anywhere = true;
                    has.as_thing |= cursor.holding().in_title() && cursor.holding().head_level() > 0;
                }
            }
            has
        }));
    }
    all
}

fn relation(category: CategoryId, named: &QuerySubject, thing: &Thing) -> ThingRelation {
    let is_named = |id: &CategoryId| named.categories.binary_search(id).is_ok();
    let is_above = || {
        named
            .categories
            .iter()
            .any(|own| taxonomy::lineage(*own).any(|one| one.id == category))
    };
    let called_so = |id: CategoryId| thing.called_so.binary_search(&id).is_ok();
    if taxonomy::lineage(category).any(|one| is_named(&one.id) || called_so(one.id)) || is_above() {
        return ThingRelation::Own;
    }
    // A department may have accessories in its name, but a branch of accessories is never a whole department.
    let is_branch = |name: &str| {
        let mut words = name.split(' ');
        words.any(|word| matches!(word, "Accessories" | "Accessory" | "Parts"))
    };
    let mut lineage = taxonomy::lineage(category);
    if lineage.any(|one| one.parent.is_some() && is_branch(one.name)) {
        ThingRelation::Accessory
    } else {
        ThingRelation::Other
    }
}
