//! The goods of a shop, as far as its products tell for sure.

use data_model::CategoryId;
use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::Reading;
use super::table::TABLE;

/// So many of a product type have to be sure before they tell what the others of it are.
const OF_TYPE_MIN: u32 = 3;
/// So many of a shop have to be sure before they tell what its others are.
const OF_SHOP_MIN: u32 = 8;
/// In hundredths: the share of one kind among what is sure that makes it the kind of what says nothing of itself.
const SHARE_OF_TYPE_MIN: u32 = 80;
const SHARE_OF_SHOP_MIN: u32 = 75;
/// In hundredths: a shop sells one department if so much of what is sure is of it.
const SHARE_OF_DEPARTMENT_MIN: u32 = 70;
/// A phrase has its second meaning in a shop that sells so many times more near it than near the first.
const MORE_MIN: u32 = 3;
/// In hundredths: a noun means a kind that the shop sells if so much of what it sells is of that kind.
const SHARE_OF_MEANING_MIN: u32 = 15;
/// In hundredths: what is no more than this of a shop's products is not what it sells.
const SHARE_OF_ODD_MAX: u32 = 2;
/// Levels of a path that tell something: a department alone says too little of a product.
const LEVELS_MIN: usize = 2;

/// The number of products of each category, those below it included.
#[derive(Debug, Default)]
struct Counts {
    products: u32,
    by_path: FxHashMap<&'static str, u32>,
}

impl Counts {
    fn add(&mut self, category: ProductCategory) {
        self.products += 1;
        for path in ancestors(category.name()) {
            *self.by_path.entry(path).or_default() += 1;
        }
    }

    fn of(&self, path: &str) -> u32 {
        self.by_path.get(path).copied().unwrap_or(0)
    }

    /// The deepest category that has so large a share of the products, in hundredths.
    fn shared(&self, share_min: u32) -> Option<ProductCategory> {
        let enough = |count: u32| u64::from(count) * 100 >= u64::from(self.products) * u64::from(share_min);
        let paths = self.by_path.iter().filter(|(_, count)| enough(**count));
        // More than half have each of them, so that they are one line of ancestors.
        let (path, _) = paths.max_by_key(|(path, _)| path.len())?;
        let levels = path.split(" > ").count();
        (levels >= LEVELS_MIN)
            .then(|| ProductCategory::from_name(path).ok())
            .flatten()
    }
}

/// The sure categories of a shop's products, by kind and by product type. It takes memory by the kinds and types there are, not
/// by products.
#[derive(Debug, Default)]
pub(crate) struct Assortment {
    all: u32,
    told: Counts,
    by_type: FxHashMap<u64, Counts>,
}

impl Assortment {
    /// The assortment of these products.
    pub(crate) fn of<'r>(readings: impl Iterator<Item = &'r Reading>) -> Self {
        let mut assortment = Self::default();
        for reading in readings {
            assortment.all += 1;
            let Some(category) = reading.category.filter(|_| reading.other.is_none()) else {
                continue;
            };
            assortment.told.add(category);
            if let Some(product_type) = reading.product_type {
                assortment.by_type.entry(product_type).or_default().add(category);
            }
        }
        assortment
    }

    /// The category of a product of this shop: its own where it is sure of it; else what the shop's other products make
    /// the likelier meaning; else what nearly all of its type, or of the shop, are.
    pub(crate) fn settle(&self, reading: &Reading) -> Option<CategoryId> {
        self.settled(reading).map(|category| CategoryId(category.id()))
    }

    fn settled(&self, reading: &Reading) -> Option<ProductCategory> {
        let Some(category) = reading.category else {
            return match reading.open {
                Some(noun) => self.of_type(reading).or_else(|| self.meant(TABLE.meanings(noun))),
                None => self.usual(reading),
            };
        };
        if reading.sure {
            return Some(category);
        }
        let (near, _) = self.sells(category);
        let likelier = reading
            .other
            .filter(|other| self.sells(*other).0 >= OF_TYPE_MIN.max(near * MORE_MIN));
        if likelier.is_some() {
            return likelier;
        }
        match self.usual(reading) {
            Some(usual) if is_within(usual, category) || self.is_odd(category) => Some(usual),
            None if reading.weak && self.is_foreign(category) => None,
            _ => Some(category),
        }
    }

    /// The one of a noun's meanings that the shop sells most of, and enough of.
    fn meant(&self, meanings: &[ProductCategory]) -> Option<ProductCategory> {
        let sold = |category: &ProductCategory| self.told.of(category.name());
        let most = meanings
            .iter()
            .copied()
            .max_by_key(|category| (sold(category), std::cmp::Reverse(category.id())))?;
        let enough = sold(&most) >= OF_TYPE_MIN && sold(&most) * 100 >= self.told.products * SHARE_OF_MEANING_MIN;
        enough.then_some(most)
    }

    /// True where next to nothing of what the shop sells is near this kind.
    fn is_odd(&self, category: ProductCategory) -> bool {
        let (near, _) = self.sells(category);
        near <= 1 || near * 100 <= self.told.products * SHARE_OF_ODD_MAX
    }

    /// The number of the shop's products of the kinds that are nearest to a category, and of the category itself.
    fn sells(&self, category: ProductCategory) -> (u32, u32) {
        let near = ancestors(category.name())
            .nth(LEVELS_MIN - 1)
            .unwrap_or(category.name());
        (self.told.of(near), self.told.of(category.name()))
    }

    /// True of a shop of another department that has nothing of this one.
    fn is_foreign(&self, category: ProductCategory) -> bool {
        let one = self.told.by_path.iter().any(|(path, count)| {
            !path.contains(" > ")
                && u64::from(*count) * 100 >= u64::from(self.told.products) * u64::from(SHARE_OF_DEPARTMENT_MIN)
        });
        one && self.told.products >= OF_SHOP_MIN && self.is_odd(category)
    }

    fn usual(&self, reading: &Reading) -> Option<ProductCategory> {
        self.of_type(reading).or_else(|| {
            let enough = self.told.products >= OF_SHOP_MIN && self.told.products * 4 >= self.all;
            enough.then(|| self.told.shared(SHARE_OF_SHOP_MIN)).flatten()
        })
    }

    fn of_type(&self, reading: &Reading) -> Option<ProductCategory> {
        let counts = self.by_type.get(&reading.product_type?)?;
        let enough = counts.products >= OF_TYPE_MIN;
        enough.then(|| counts.shared(SHARE_OF_TYPE_MIN)).flatten()
    }
}

fn is_within(category: ProductCategory, above: ProductCategory) -> bool {
    super::is_below(category.name(), above.name())
}

/// The paths of a category and of those above it, from the department down.
fn ancestors(path: &'static str) -> impl Iterator<Item = &'static str> {
    let ends = path.match_indices(" > ").map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(move |end| path.get(..end))
}
