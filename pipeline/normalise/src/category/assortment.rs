//! Statistics of the products of a shop whose category is certain.

use google_taxonomy::ProductCategory;
use rustc_hash::FxHashMap;

use super::Reading;
use super::table::Table;

/// Minimum number of certain products of a type to decide the others of the type.
const OF_TYPE_MIN: u32 = 3;
/// Minimum number of certain products of a shop to decide its other products.
const OF_SHOP_MIN: u32 = 8;
/// Minimum percentage of one category among the certain products of a type or a shop. Products without a category then
/// get it.
const SHARE_OF_TYPE_MIN: u32 = 80;
const SHARE_OF_SHOP_MIN: u32 = 75;
/// Minimum percentage of certain products in one department if the shop sells only that department.
const SHARE_OF_DEPARTMENT_MIN: u32 = 70;
/// Minimum ratio of products near a phrase's second meaning to those near its first, so that the second applies.
const MORE_MIN: u32 = 3;
/// Minimum percentage of a shop's products of one kind, so that a noun means that kind.
const SHARE_OF_MEANING_MIN: u32 = 15;
/// Maximum percentage of a shop's products of a kind that is atypical for the shop.
const SHARE_OF_ODD_MAX: u32 = 2;
/// Minimum percentage of products with a setting's words among those affected by it, so that it applies to the whole
/// shop.
const SHARE_OF_SETTING_MIN: u32 = 70;
/// At least one product in so many must name a category to represent the others.
const SHOP_PARTS_MAX: u32 = 4;
const TYPE_PARTS_MAX: u32 = 3;
/// A department without further levels is too general.
pub(super) const LEVELS_MIN: usize = 2;

/// Number of products of each category, including its subcategories.
#[derive(Debug, Default)]
struct Counts {
    /// Number of all products, including those without a category.
    all: u32,
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

    /// Returns true if enough products name a category to represent the others.
    const fn is_sample(&self, parts_max: u32) -> bool {
        self.products * parts_max >= self.all
    }

    fn of(&self, path: &str) -> u32 {
        self.by_path.get(path).copied().unwrap_or(0)
    }

    /// Returns the deepest category with at least this percentage of the products.
    fn shared(&self, share_min: u32) -> Option<ProductCategory> {
        let enough = |count: u32| u64::from(count) * 100 >= u64::from(self.products) * u64::from(share_min);
        let paths = self.by_path.iter().filter(|(_, count)| enough(**count));
        // Each of these paths has more than half of the products, so that it is an ancestor or a descendant of the
        // others.
        let (path, _) = paths.max_by_key(|(path, _)| path.len())?;
        let levels = path.split(" > ").count();
        (levels >= LEVELS_MIN)
            .then(|| ProductCategory::from_name(path).ok())
            .flatten()
    }
}

/// Certain categories of a shop's products, by kind and by product type. Memory use depends on the number of kinds and
/// types, not of products.
#[derive(Debug)]
pub(super) struct Assortment<'t> {
    table: &'t Table,
    told: Counts,
    by_type: FxHashMap<u64, Counts>,
    /// Products named only by a noun of several departments. They are counted separately, because a noun must not
    /// confirm its own meaning.
    by_noun: FxHashMap<u32, Counts>,
    /// For each setting, the products with its words, and those without them that it would change.
    settings: FxHashMap<u8, Setting>,
}

#[derive(Debug, Default)]
struct Setting {
    own: u32,
    others: u32,
}

impl<'t> Assortment<'t> {
    pub(super) fn of<'r>(table: &'t Table, readings: impl Iterator<Item = &'r Reading>) -> Self {
        let mut assortment = Self {
            table,
            told: Counts::default(),
            by_type: FxHashMap::default(),
            by_noun: FxHashMap::default(),
            settings: FxHashMap::default(),
        };
        for reading in readings {
            assortment.told.all += 1;
            if let Some(product_type) = reading.product_type {
                assortment.by_type.entry(product_type).or_default().all += 1;
            }
            let Some(category) = reading.category.filter(|_| reading.other.is_none()) else {
                continue;
            };
            assortment.told.add(category);
            if let Some(noun) = reading.doubtful {
                assortment.by_noun.entry(noun).or_default().add(category);
            }
            if let Some(setting) = reading.setting {
                assortment.settings.entry(setting).or_default().own += 1;
            }
            if let Some(elsewhere) = reading.elsewhere {
                assortment.settings.entry(elsewhere.setting).or_default().others += 1;
            }
            if let Some(product_type) = reading.product_type {
                assortment.by_type.entry(product_type).or_default().add(category);
            }
        }
        assortment
    }

    /// Returns the product's own category if it is certain and fits the shop. Otherwise, the meaning counts that the
    /// shop's other products make likelier, or else the category of nearly all products of the same type or shop.
    pub(super) fn settle(&self, reading: &Reading) -> Option<ProductCategory> {
        let settled = self.settled(reading);
        let elsewhere = reading.elsewhere.filter(|elsewhere| {
            let beside = self.settings.get(&elsewhere.setting);
            settled == reading.category && beside.is_some_and(Setting::is_of_shop)
        });
        let settled = elsewhere.map_or(settled, |elsewhere| Some(elsewhere.category));
        self.part_of(reading, settled).or(settled)
    }

    fn settled(&self, reading: &Reading) -> Option<ProductCategory> {
        if let Some(noun) = reading.open {
            let told = || {
                self.of_type(reading)
                    .or_else(|| self.meant(self.table.meanings(noun), None))
            };
            return told().or_else(|| reading.category.filter(|category| !self.is_foreign(*category)));
        }
        let Some(category) = reading.category else {
            return self.usual(reading);
        };
        if let Some(meant) = reading.doubtful.and_then(|noun| self.meant_here(noun, category)) {
            return Some(meant);
        }
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

    /// Returns another meaning of a noun of several departments, if almost no other product of the shop is near the
    /// rules' meaning. The result is another meaning of the noun, or the branch of nearly all products of the shop.
    fn meant_here(&self, noun: u32, category: ProductCategory) -> Option<ProductCategory> {
        let own = self.by_noun.get(&noun);
        let others = self.told.products - own.map_or(0, |own| own.products);
        let near = near(category);
        let witnesses = self.told.of(near) - own.map_or(0, |own| own.of(near));
        if others < OF_SHOP_MIN || witnesses * 100 > others * SHARE_OF_ODD_MAX {
            return None;
        }
        self.meant(self.table.meanings(noun), own).or_else(|| {
            let shared = self.told.shared(SHARE_OF_SHOP_MIN)?;
            (super::department(shared) != super::department(category)).then_some(shared)
        })
    }

    pub(super) fn meanings(&self, noun: u32) -> &[ProductCategory] {
        self.table.meanings(noun)
    }

    /// Returns the parts category of the kind that the shop sells most, for a product that is a part.
    fn part_of(&self, reading: &Reading, settled: Option<ProductCategory>) -> Option<ProductCategory> {
        let is_part = settled
            .is_some_and(|category| category.name().contains("Accessories") || category.name().contains("Parts"));
        if !reading.part || is_part {
            return None;
        }
        let parts = |path: &&'static str| {
            let name = path.rsplit(" > ").next().unwrap_or_default();
            self.table
                .accessories
                .get(name.strip_suffix('s').unwrap_or(name))
                .copied()
        };
        let sold = self.told.by_path.iter();
        let enough = sold.filter(|(_, count)| **count * 100 >= self.told.products * SHARE_OF_MEANING_MIN);
        let of_kinds = enough.filter_map(|(path, count)| Some((*count, path.len(), parts(path)?)));
        let (.., most) = of_kinds.max_by_key(|(count, length, category)| (*count, *length, category.id()))?;
        Some(most)
    }

    /// Returns the meaning of a noun whose kind the shop sells most, if it sells enough of that kind. Products named by
    /// the noun itself do not count.
    fn meant(&self, meanings: &[ProductCategory], own: Option<&Counts>) -> Option<ProductCategory> {
        let count = |path: &str| self.told.of(path) - own.map_or(0, |own| own.of(path));
        let all = self.told.products - own.map_or(0, |own| own.products);
        let sold = |category: &ProductCategory| (count(near(*category)), count(category.name()));
        let most = meanings.iter().copied().max_by_key(|category| {
            let (near, exact) = sold(category);
            // Without a noun to exclude, only products of exactly this meaning count.
            let counted = if own.is_some() { near } else { exact };
            (counted, exact, std::cmp::Reverse(category.id()))
        })?;
        let (near, exact) = sold(&most);
        let counted = if own.is_some() { near } else { exact };
        let enough = counted >= OF_TYPE_MIN && counted * 100 >= all * SHARE_OF_MEANING_MIN;
        enough.then_some(most)
    }

    /// Returns true if hardly any product of the shop is near this kind.
    fn is_odd(&self, category: ProductCategory) -> bool {
        let (near, _) = self.sells(category);
        near <= 1 || near * 100 <= self.told.products * SHARE_OF_ODD_MAX
    }

    /// Returns the number of the shop's products in the group nearest to a category, and in the category itself.
    fn sells(&self, category: ProductCategory) -> (u32, u32) {
        (self.told.of(near(category)), self.told.of(category.name()))
    }

    /// Returns true if the shop sells mainly one department and has almost nothing near this category.
    fn is_foreign(&self, category: ProductCategory) -> bool {
        let one = self.told.by_path.iter().any(|(path, count)| {
            !path.contains(" > ")
                && u64::from(*count) * 100 >= u64::from(self.told.products) * u64::from(SHARE_OF_DEPARTMENT_MIN)
        });
        one && self.told.products >= OF_SHOP_MIN && self.is_odd(category)
    }

    fn usual(&self, reading: &Reading) -> Option<ProductCategory> {
        self.of_type(reading).or_else(|| {
            let enough = self.told.products >= OF_SHOP_MIN && self.told.is_sample(SHOP_PARTS_MAX);
            enough.then(|| self.told.shared(SHARE_OF_SHOP_MIN)).flatten()
        })
    }

    fn of_type(&self, reading: &Reading) -> Option<ProductCategory> {
        let counts = self.by_type.get(&reading.product_type?)?;
        let enough = counts.products >= OF_TYPE_MIN && counts.is_sample(TYPE_PARTS_MAX);
        enough.then(|| counts.shared(SHARE_OF_TYPE_MIN)).flatten()
    }
}

impl Setting {
    const fn is_of_shop(&self) -> bool {
        self.own >= OF_TYPE_MIN && self.own * 100 >= (self.own + self.others) * SHARE_OF_SETTING_MIN
    }
}

/// The group of kinds nearest to a category is the second level of its path.
pub(super) fn near(category: ProductCategory) -> &'static str {
    let path = category.name();
    ancestors(path).nth(LEVELS_MIN - 1).unwrap_or(path)
}

fn is_within(category: ProductCategory, above: ProductCategory) -> bool {
    super::is_below(category.name(), above.name())
}

/// Returns the paths of a category and its ancestors, starting with the department.
pub(super) fn ancestors(path: &'static str) -> impl Iterator<Item = &'static str> {
    let ends = path.match_indices(" > ").map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(move |end| path.get(..end))
}
