use data_index::{Release, RowAddress, taxonomy};
use data_model::CategoryId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexical::{Named, Thing};

/// What a category is to the thing that a query names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// The thing's own, above or below it, or called the same: nothing of it is put aside.
    Own,
    /// A branch of accessories or parts of other things.
    Accessory,
    /// Anything else.
    Other,
}

/// The rows, of those that are weighed, that are no such thing as the query names but something for it: a lock or a sleeve
/// where it says `laptop`. A row is one where its category is another than the thing's and its title has the thing's name
/// without saying that it is what the product is; in a branch of accessories it need not have the name.
pub(super) fn among(release: &Release, named: &Named, rows: impl Iterator<Item = RowAddress>) -> FxHashSet<RowAddress> {
    let Some(thing) = &named.thing else {
        return FxHashSet::default();
    };
    let mut known: FxHashMap<CategoryId, Kin> = FxHashMap::default();
    let mut doubtful: Vec<(RowAddress, Kin)> = Vec::new();
    for at in rows {
        let category = release.part(at.part).and_then(|part| part.cards().category(at.row));
        let Some(category) = category else { continue };
        let kin = *known.entry(category).or_insert_with(|| kin(category, named, thing));
        if kin != Kin::Own {
            doubtful.push((at, kin));
        }
    }
    doubtful.sort_unstable_by_key(|(at, _)| *at);
    let mut aside = FxHashSet::default();
    for of_part in doubtful.chunk_by(|one, other| one.0.part == other.0.part) {
        let part = of_part.first().and_then(|(at, _)| release.part(at.part));
        let list = part.and_then(|part| part.terms().find(&thing.stem));
        let mut cursor = list.map(data_index::terms::TermList::cursor);
        for (at, kin) in of_part {
            let held = cursor
                .as_mut()
                .and_then(|cursor| (cursor.seek(at.row) == at.row).then(|| cursor.holding()));
            let held = held.filter(|held| held.in_title());
            let is_aside = match held {
                Some(held) => held.head_level() < 2,
                None => *kin == Kin::Accessory,
            };
            if is_aside {
                aside.insert(*at);
            }
        }
    }
    aside
}

fn kin(category: CategoryId, named: &Named, thing: &Thing) -> Kin {
    let is_named = |id: &CategoryId| named.categories.binary_search(id).is_ok();
    let is_above = || {
        named
            .categories
            .iter()
            .any(|own| taxonomy::lineage(*own).any(|one| one.id == category))
    };
    let called_so = |id: CategoryId| thing.called_so.binary_search(&id).is_ok();
    if taxonomy::lineage(category).any(|one| is_named(&one.id) || called_so(one.id)) || is_above() {
        return Kin::Own;
    }
    // A department may have accessories in its name; a branch of accessories is not all of a department.
    let is_branch = |name: &str| {
        let mut words = name.split(' ');
        words.any(|word| matches!(word, "Accessories" | "Accessory" | "Parts"))
    };
    let mut lineage = taxonomy::lineage(category);
    if lineage.any(|one| one.parent.is_some() && is_branch(one.name)) {
        Kin::Accessory
    } else {
        Kin::Other
    }
}
