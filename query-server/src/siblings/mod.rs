//! Siblings: products of one brand whose titles differ by a colour alone, as stores sell one thing that has a page for
//! each of its colours.
//!
//! In: titles, categories and colours of a release. Out: families of rows. A colour counts where the product's own colours
//! say it, or where the word names nothing but a colour and the thing is of a kind that has colours: black tea and green tea
//! are no siblings.

mod colors;

use std::ops::Range;

use data_index::columns::fold_value;
use data_index::{Part, taxonomy};
use data_model::CategoryId;
use rustc_hash::FxHashMap;

use self::colors::Reader;

/// No family.
const ALONE: u32 = u32::MAX;
/// Branches of the taxonomy whose things are told apart by their look: apparel, luggage, furniture, home, toys, electronics,
/// cameras, hardware, sports, vehicles, offices, babies, pets.
const BRANCHES_OF_LOOKS: [u32; 13] = [166, 5181, 436, 536, 1239, 222, 141, 632, 988, 888, 922, 537, 1];
/// And what in them is alive, or burns with a scent.
const NO_LOOKS: [u32; 3] = [985, 592, 3237];
/// Where colours are kinds of thing, whatever anybody calls a colour: food, drinks and tobacco.
const BRANCH_OF_TASTES: u32 = 412;

/// Families of siblings among the rows of a release, numbered as its lists number them.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    /// By row: the family.
    of_rows: Vec<u32>,
    /// By family: where its members begin; one more ends the last.
    starts: Vec<u32>,
    members: Vec<Member>,
}

/// A product of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) row: u32,
    /// Where its title says the colour, in bytes.
    color: (u16, u16),
}

impl Member {
    /// The colour, as the title of this product says it.
    pub(crate) fn color<'a>(&self, title: &'a str) -> &'a str {
        title
            .get(usize::from(self.color.0)..usize::from(self.color.1))
            .unwrap_or_default()
    }
}

/// Rows of a part that are of one brand, and the number of the part's first row.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) part: &'a Part,
    pub(crate) start: u32,
    pub(crate) rows: Range<u32>,
}

impl Siblings {
    /// Families among so many rows, whose brands each lie in some stretches.
    pub(crate) fn of<'a>(rows: usize, brands: impl Iterator<Item = Vec<Stretch<'a>>>) -> Self {
        let mut siblings = Self {
            of_rows: Vec::new(),
            starts: vec![0],
            members: Vec::new(),
        };
        let mut looks = Looks::default();
        for stretches in brands {
            for family in families(&stretches, &mut looks) {
                if siblings.of_rows.is_empty() {
                    siblings.of_rows = vec![ALONE; rows];
                }
                let number = u32::try_from(siblings.starts.len() - 1).unwrap_or(ALONE);
                for member in &family {
                    if let Some(of_row) = siblings.of_rows.get_mut(member.row as usize) {
                        *of_row = number;
                    }
                }
                siblings.members.extend(family);
                siblings
                    .starts
                    .push(u32::try_from(siblings.members.len()).unwrap_or(u32::MAX));
            }
        }
        siblings
    }

    /// The family of a row.
    #[inline]
    pub(crate) fn family(&self, row: u32) -> Option<u32> {
        self.of_rows
            .get(row as usize)
            .copied()
            .filter(|family| *family != ALONE)
    }

    /// The members of a family, by colour.
    pub(crate) fn members(&self, family: u32) -> &[Member] {
        let end = |at: usize| self.starts.get(at).map(|end| *end as usize);
        let range = end(family as usize).zip(end(family as usize + 1));
        range
            .and_then(|(from, to)| self.members.get(from..to))
            .unwrap_or_default()
    }
}

/// The families of one brand, each by colour, then by id; of at least two colours.
fn families(stretches: &[Stretch<'_>], looks: &mut Looks) -> Vec<Vec<Member>> {
    let mut alike: FxHashMap<String, Vec<(String, [u8; 16], Member)>> = FxHashMap::default();
    let mut reader = Reader::default();
    for Stretch { part, start, rows } in stretches {
        let (cards, facets) = (part.cards(), part.facets());
        let codes = facets.codes("color");
        for row in rows.clone() {
            let category = cards.category(row);
            let has_look = *looks.entry(category).or_insert_with(|| has_look(category));
            let Some(has_look) = has_look else { continue };
            let of_row = cards.facet_codes(row);
            let own = of_row
                .get(of_row.partition_point(|code| *code < codes.start)..)
                .unwrap_or_default();
            let own = own.iter().take_while(|code| **code < codes.end);
            let own = own.map(|code| facets.key(*code).value);
            let title = cards.title(row);
            let Some((key, color)) = reader.read(title, own, has_look) else {
                continue;
            };
            let member = Member {
                row: start + row,
                color,
            };
            let named = fold_value(member.color(title));
            alike
                .entry(key.to_owned())
                .or_default()
                .push((named, *cards.id(row).as_bytes(), member));
        }
    }
    let mut families: Vec<_> = alike
        .into_values()
        .filter(|of_key| {
            of_key
                .iter()
                .any(|(color, ..)| of_key.first().is_some_and(|first| *color != first.0))
        })
        .collect();
    // The map's order is none.
    families
        .iter_mut()
        .for_each(|of_key| of_key.sort_unstable_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1))));
    families.sort_unstable_by_key(|of_key| of_key.first().map(|(_, id, _)| *id));
    families
        .into_iter()
        .map(|of_key| of_key.into_iter().map(|(.., member)| member).collect())
        .collect()
}

/// Of each category that was met, what [`has_look`] says.
type Looks = FxHashMap<Option<CategoryId>, Option<bool>>;

/// Whether products of a category are of a kind that has a look; `None` where a colour is a kind of thing.
fn has_look(category: Option<CategoryId>) -> Option<bool> {
    let Some(category) = category else {
        return Some(false);
    };
    let mut has_look = true;
    let mut top = category;
    for above in taxonomy::lineage(category) {
        has_look &= !NO_LOOKS.contains(&above.id.0);
        top = above.id;
    }
    (top.0 != BRANCH_OF_TASTES).then(|| has_look && BRANCHES_OF_LOOKS.contains(&top.0))
}
