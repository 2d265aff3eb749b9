//! Siblings: products of one brand whose titles differ by a colour alone, as stores sell one thing that has a page for
//! each of its colours.
//!
//! In: titles, categories and colours of a release. Out: families of rows. A colour counts where the product's own colours
//! say it, or where the word names nothing but a colour and the thing is of a kind that has colours: black tea and green tea
//! are no siblings.

mod colors;

use std::ops::Range;
use std::sync::OnceLock;

use data_index::{Part, taxonomy};
use data_model::CategoryId;
use data_text::fold_value;
use rustc_hash::FxHashMap;

use self::colors::Reader;

/// Branches of the taxonomy whose things are told apart by their look: apparel, luggage, furniture, home, toys, electronics,
/// cameras, hardware, sports, vehicles, offices, babies, pets.
const BRANCHES_OF_LOOKS: [u32; 13] = [166, 5181, 436, 536, 1239, 222, 141, 632, 988, 888, 922, 537, 1];
/// The categories among them of things that are alive, or burn with a scent.
const NO_LOOKS: [u32; 3] = [985, 592, 3237];
/// The branch whose colours are kinds of thing, whatever anybody calls a colour: food, drinks and tobacco.
const BRANCH_OF_TASTES: u32 = 412;

/// Families of siblings among the rows of a release. They are found brand by brand when somebody asks for one of the brand: to
/// find all takes as long as whatever else is made when a release is opened.
#[derive(Debug, Default)]
pub(crate) struct Siblings(Box<[OnceLock<Families>]>);

/// A family: of which brand, and which of its families.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Family {
    brand: u32,
    at: u32,
}

/// The families of one brand.
#[derive(Debug, Default)]
struct Families {
    /// Rows that are of a family, ascending, each with its family.
    of_rows: Box<[(u32, u32)]>,
    /// By family: where its members begin; one more ends the last.
    starts: Box<[u32]>,
    members: Box<[Member]>,
}

/// A product of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub(crate) row: u32,
    /// The range of the colour in its title, in bytes.
    color: (u16, u16),
}

impl Member {
    /// The colour, as the title of this product says it.
    pub fn color<'a>(&self, title: &'a str) -> &'a str {
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
    /// Of so many brands; nothing is found yet.
    pub(crate) fn of(brands: usize) -> Self {
        Self((0..brands).map(|_| OnceLock::new()).collect())
    }

    /// The family of a row of a brand. `stretches` are the brand's rows: they are read where nobody asked for the brand before.
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

    /// The members of a family, by colour.
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

/// The answer of [`has_look`] for each category that was met.
type Looks = FxHashMap<Option<CategoryId>, Option<bool>>;

/// True where products of a category have a look; `None` where a colour is a kind of thing.
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
