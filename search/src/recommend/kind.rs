use data_index::{RowAddress, taxonomy};
use data_model::CategoryId;
use data_text::stems;
use data_understanding::intent::{Audience, audiences_named};
use rustc_hash::FxHashMap;

use crate::context::SearchContext;

/// Minimum percentage of a brand's products, so that their department or audience applies to products that state none.
const SHARE_OF_BRAND_MIN: u64 = 75;
/// Categories nearer to the root are no more specific than a department.
const LEVELS_MIN: usize = 3;
const SAY_PEOPLE: [&str; 2] = ["gender", "age_group"];
/// In these departments, a product without a stated audience is not for children.
const FOR_ADULTS: [&str; 3] = ["Apparel & Accessories", "Health & Beauty", "Luggage & Bags"];
const YOUNGEST: &str = "Baby & Toddler";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CategoryRelation {
    /// The categories are equal, or one is a descendant of the other.
    Same,
    /// The categories are siblings.
    Near,
    /// The categories are in one department.
    Department,
    /// One of the products has no specific category.
    Unknown,
    /// The categories are in different departments.
    Foreign,
}

/// Audiences that a product states, as bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct People(u8);

impl People {
    const MEN: u8 = 1;
    const WOMEN: u8 = 2;
    const BOYS: u8 = 4;
    const GIRLS: u8 = 8;
    const BABIES: u8 = 16;
    const YOUNG: u8 = Self::BOYS | Self::GIRLS | Self::BABIES;
    const CHILDREN: Self = Self(Self::YOUNG);

    fn add(&mut self, audience: Audience) {
        self.0 |= match audience {
            Audience::Men => Self::MEN,
            Audience::Women => Self::WOMEN,
            Audience::Boys => Self::BOYS,
            Audience::Girls => Self::GIRLS,
            Audience::Kids | Audience::Baby => Self::YOUNG,
            Audience::Unisex => Self::MEN | Self::WOMEN | Self::BOYS | Self::GIRLS,
        };
    }

    fn add_named(&mut self, text: &str) {
        audiences_named(text)
            .into_iter()
            .for_each(|audience| self.add(audience));
    }

    const fn is_young(self) -> bool {
        self.0 != 0 && self.0 & !Self::YOUNG == 0
    }
}

#[derive(Debug, Clone, Copy)]
struct Brand {
    department: Option<CategoryId>,
    people: People,
}

/// Categories and audiences of products. The facts of each brand are computed once.
#[derive(Debug)]
pub(super) struct Kinds<'a> {
    pub(super) served: &'a SearchContext,
    brands: FxHashMap<usize, Brand>,
}

impl<'a> Kinds<'a> {
    pub(super) fn of(served: &'a SearchContext) -> Self {
        Self {
            served,
            brands: FxHashMap::default(),
        }
    }

    pub(super) fn relation(&mut self, one: RowAddress, other: RowAddress) -> CategoryRelation {
        let (Some(own), Some(others)) = (self.category(one), self.category(other)) else {
            return match self.department(one).zip(self.department(other)) {
                Some((own, others)) if own != others => CategoryRelation::Foreign,
                _ => CategoryRelation::Unknown,
            };
        };
        let levels = |id: CategoryId| taxonomy::lineage(id).count();
        let has_levels = own == others || levels(own).min(levels(others)) >= LEVELS_MIN;
        let is_below = |one: CategoryId, above: CategoryId| taxonomy::lineage(one).any(|held| held.id == above);
        let parent = |id: CategoryId| taxonomy::lineage(id).nth(1).map(|above| above.id);
        if has_levels && (is_below(own, others) || is_below(others, own)) {
            CategoryRelation::Same
        } else if has_levels && parent(own) == parent(others) {
            CategoryRelation::Near
        } else if top(own) == top(others) {
            CategoryRelation::Department
        } else {
            CategoryRelation::Foreign
        }
    }

    /// Returns true if the two products are for different people.
    pub(super) fn is_for_others(&mut self, one: RowAddress, other: RowAddress) -> bool {
        let (own, others) = (self.people(one), self.people(other));
        if own.0 != 0 && others.0 != 0 {
            return own.0 & others.0 == 0;
        }
        let mut is_for_adults = |at: RowAddress, people: People| {
            let department = self.department(at).and_then(taxonomy::by_id);
            people.0 == 0 && department.is_some_and(|department| FOR_ADULTS.contains(&department.name))
        };
        (own.is_young() && is_for_adults(other, others)) || (others.is_young() && is_for_adults(one, own))
    }

    /// Returns true if both titles seem to have the same head noun.
    pub(super) fn share_a_noun(&self, one: RowAddress, other: RowAddress) -> bool {
        let title = self
            .served
            .release
            .part(one.part)
            .map(|part| part.cards().title(one.row));
        let stems = title.map(stems).unwrap_or_default();
        stems
            .iter()
            .any(|stem| self.is_headed_by(one, stem) && self.is_headed_by(other, stem))
    }

    fn is_headed_by(&self, at: RowAddress, stem: &str) -> bool {
        let part = self.served.release.part(at.part);
        let Some(mut cursor) = part.and_then(|part| part.terms().find(stem)).map(|list| list.cursor()) else {
            return false;
        };
        cursor.seek(at.row) == at.row && cursor.holding().in_title() && cursor.holding().head_level() >= 2
    }

    pub(super) fn category(&self, at: RowAddress) -> Option<CategoryId> {
        let part = self.served.release.part(at.part)?;
        part.cards().category(at.row)
    }

    fn department(&mut self, at: RowAddress) -> Option<CategoryId> {
        self.category(at).and_then(top).or_else(|| self.brand(at).department)
    }

    fn people(&mut self, at: RowAddress) -> People {
        let mut people = People::default();
        let Some(part) = self.served.release.part(at.part) else {
            return people;
        };
        let (cards, facets) = (part.cards(), part.facets());
        for name in SAY_PEOPLE {
            let codes = facets.codes(name);
            let own = cards.facet_codes(at.row).iter().filter(|code| codes.contains(code));
            own.for_each(|code| people.add_named(facets.key(*code).value));
        }
        if people == People::default() {
            people.add_named(cards.title(at.row));
        }
        let sizes = facets.codes("size");
        let mut own = cards.facet_codes(at.row).iter().filter(|code| sizes.contains(code));
        let is_sized_by_age = people == People::default() && own.any(|code| is_age(facets.key(*code).value));
        if is_sized_by_age || self.category(at).is_some_and(is_of_the_youngest) {
            people = People::CHILDREN;
        }
        let is_silent = people == People::default();
        if is_silent { self.brand(at).people } else { people }
    }

    fn brand(&mut self, at: RowAddress) -> Brand {
        let release = &self.served.release;
        let place = release.part(at.part).map_or(0, |part| part.brand_index(at.row));
        *self.brands.entry(place).or_insert_with(|| {
            let categories = release.brands().get(place).map_or(&[][..], |brand| &brand.categories);
            let all: u64 = categories.iter().map(|category| category.products).sum();
            let is_most = |count: u64| count > 0 && count * 100 >= all * SHARE_OF_BRAND_MIN;
            let mut tops: FxHashMap<u32, u64> = FxHashMap::default();
            let mut youngest = 0;
            for category in categories {
                if let Some(top) = top(category.category) {
                    *tops.entry(top.0).or_default() += category.products;
                }
                youngest += u64::from(is_of_the_youngest(category.category)) * category.products;
            }
            let department = tops.into_iter().find(|(_, count)| is_most(*count));
            Brand {
                department: department.map(|(id, _)| CategoryId(id)),
                people: if is_most(youngest) {
                    People::CHILDREN
                } else {
                    People::default()
                },
            }
        })
    }
}

/// Returns true for children's sizes, such as "3-6 months", "2T" and "5y".
fn is_age(size: &str) -> bool {
    let unit = size.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '/' | ' '));
    let units = ["month", "months", "t", "y", "yr", "yrs", "year", "years"];
    unit.len() < size.len() && units.contains(&unit)
}

fn top(category: CategoryId) -> Option<CategoryId> {
    taxonomy::lineage(category).last().map(|top| top.id)
}

fn is_of_the_youngest(category: CategoryId) -> bool {
    taxonomy::lineage(category).any(|held| held.name.starts_with(YOUNGEST))
}
