//! Siblings: products of one brand whose titles differ only by a colour, because some stores have a separate page for
//! each colour.
//!
//! Input: titles, categories and colours of a release. Output: families of rows. A colour counts if it is one of the
//! product's own colours. It also counts if its word has no other meaning and the product is of a kind that has
//! colours. Black tea and green tea are therefore not siblings.

mod colors;

use std::ops::Range;
use std::sync::OnceLock;

use data_index::{Part, taxonomy};
use data_model::CategoryId;
use data_text::fold_value;
use rustc_hash::FxHashMap;

use self::colors::Reader;

/// Branches of the taxonomy whose products vary in look: apparel, luggage, furniture, home, toys, electronics, cameras,
/// hardware, sports, vehicles, offices, babies, pets.
const BRANCHES_OF_LOOKS: [u32; 13] = [166, 5181, 436, 536, 1239, 222, 141, 632, 988, 888, 922, 537, 1];
/// Categories within these branches for living things or scented things.
const NO_LOOKS: [u32; 3] = [985, 592, 3237];
/// In food, drinks and tobacco, colours name different products.
const BRANCH_OF_TASTES: u32 = 412;

/// Families of siblings by brand. They are computed on first use, because computing all of them would double the time
/// to open a release.
#[derive(Debug, Default)]
pub(crate) struct Siblings(Box<[OnceLock<Families>]>);

/// Family of siblings, by its brand and its index within the brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Family {
    brand: u32,
    at: u32,
}

/// Families of one brand.
#[derive(Debug, Default)]
struct Families {
    /// Rows in families, ascending, each with its family.
    of_rows: Box<[(u32, u32)]>,
    /// Start of each family's members, followed by the end of the last.
    starts: Box<[u32]>,
    members: Box<[Member]>,
}

/// Product of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub(crate) row: u32,
    /// Byte range in the product's title.
    color: (u16, u16),
}

impl Member {
    /// Returns the colour as written in the title of this product.
    pub fn color<'a>(&self, title: &'a str) -> &'a str {
        title
            .get(usize::from(self.color.0)..usize::from(self.color.1))
            .unwrap_or_default()
    }
}

/// Rows of one brand in a part, and the number of the part's first row.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) part: &'a Part,
    pub(crate) start: u32,
    pub(crate) rows: Range<u32>,
}

impl Siblings {
    pub(crate) fn of(brands: usize) -> Self {
        Self((0..brands).map(|_| OnceLock::new()).collect())
    }

    /// Returns the family of a row of a brand. The brand's rows in `stretches` are read only on the first call for the
    /// brand.
    pub(crate) fn family<'a>(
        &self,
        brand: usize,
        row: u32,
        stretches: impl FnOnce() -> Vec<Stretch<'a>>,
    ) -> Option<Family> {
        let families = self.0.get(brand)?.get_or_init(|| Families::of(&stretches()));
        let found = families.of_rows.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(Family {
            brand: u32::try_from(brand).ok()?,
            at: families.of_rows.get(found)?.1,
        })
    }

    /// Returns the members ordered by colour.
    pub(crate) fn members(&self, family: Family) -> &[Member] {
        let of_brand = self.0.get(family.brand as usize).and_then(OnceLock::get);
        of_brand.map_or(&[], |families| families.members(family.at as usize))
    }
}

impl Families {
    fn of(stretches: &[Stretch<'_>]) -> Self {
        let (mut of_rows, mut starts, mut members) = (Vec::new(), vec![0], Vec::new());
        for (number, family) in (0..).zip(families(stretches, &mut Looks::default())) {
            of_rows.extend(family.iter().map(|member| (member.row, number)));
            members.extend(family);
            starts.push(u32::try_from(members.len()).unwrap_or(u32::MAX));
        }
        of_rows.sort_unstable();
        Self {
            of_rows: of_rows.into(),
            starts: starts.into(),
            members: members.into(),
        }
    }

    fn members(&self, family: usize) -> &[Member] {
        let end = |at: usize| self.starts.get(at).map(|end| *end as usize);
        let range = end(family).zip(end(family + 1));
        range
            .and_then(|(from, to)| self.members.get(from..to))
            .unwrap_or_default()
    }
}

/// Returns the families with at least two colours. Members are ordered by colour, then by id.
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
    // The map has no fixed order.
    families
        .iter_mut()
        .for_each(|of_key| of_key.sort_unstable_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1))));
    families.sort_unstable_by_key(|of_key| of_key.first().map(|(_, id, _)| *id));
    families
        .into_iter()
        .map(|of_key| of_key.into_iter().map(|(.., member)| member).collect())
        .collect()
}

/// Cached results of [`has_look`].
type Looks = FxHashMap<Option<CategoryId>, Option<bool>>;

/// Returns true if products of a category vary in look. `None` if a colour names a different product.
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
