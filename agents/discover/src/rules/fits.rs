use data_text::{runs, stems};
use data_understanding::intent::{self, Audience, Unwanted, colour_said};

use super::criteria::{Brand, ProductCriteria};
use super::sizes::is_size;
use super::titles::without_names;
use crate::catalogue::{Card, Detail, Variant};

/// Constraint that a product violates. Later variants are more serious.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Mismatch {
    Color,
    Size,
    Price,
    Brand,
    Audience,
    Stock,
    Unwanted,
}

impl Mismatch {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Size => "size",
            Self::Price => "price",
            Self::Brand => "brand",
            Self::Audience => "audience",
            Self::Stock => "stock",
            Self::Unwanted => "unwanted",
        }
    }
}

/// Distance of a product from the constraints, compared by the number of violations, then by their kinds, then by the
/// price difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Distance {
    count: usize,
    /// Violated constraints, the most serious first.
    misses: Vec<Mismatch>,
    price_gap_minor: i64,
}

impl Distance {
    /// Creates the distance from the violated constraints, and from the difference between the price and its limits.
    fn of(mut misses: Vec<Mismatch>, price_gap_minor: i64) -> Self {
        misses.extend((price_gap_minor > 0).then_some(Mismatch::Price));
        misses.sort_unstable_by(|one, other| other.cmp(one));
        misses.dedup();
        Self {
            count: misses.len(),
            misses,
            price_gap_minor,
        }
    }

    pub(crate) fn has(&self, missed: Mismatch) -> bool {
        self.misses.contains(&missed)
    }

    pub(crate) fn furthest(&self) -> Option<Mismatch> {
        self.misses.first().copied()
    }

    /// Returns the names of the violated constraints, the least serious first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.misses.iter().rev().map(|missed| missed.as_str())
    }
}

/// Variant of a product that best satisfies the constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) variant_id: String,
    pub(crate) amount_minor: i64,
    /// Wanted colour, if the variant has it.
    pub(crate) colour: Option<&'static str>,
    /// Wanted size, if the variant has it.
    pub(crate) size: Option<String>,
    /// Product title without the names of brand and vendor.
    pub(crate) title: String,
    /// Distance of the variant from the constraints.
    pub(crate) distance: Distance,
}

/// Constraints on products, with the slugs of unwanted brands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitCriteria<'a> {
    pub(crate) sought: &'a ProductCriteria,
    pub(crate) unwanted_brands: &'a [&'a str],
}

impl FitCriteria<'_> {
    /// Returns the variant that best satisfies the constraints, and of equal variants the cheapest. Returns `None` if
    /// the product has no offers.
    pub(crate) fn fit(&self, card: &Card, detail: &Detail) -> Option<Fit> {
        let missed = self.missed_by_product(card, detail);
        let vendor = detail.attributes.vendor.as_deref().unwrap_or_default();
        let title = without_names(&card.title, &[card.brand.as_str(), vendor]);
        let variants = detail.variants.iter();
        let fits = variants.filter_map(|variant| self.variant(variant, missed.clone(), card, detail, &title));
        // A price of 0 means no price. A free gift, for example, must not count as the cheapest variant.
        let price = |fit: &Fit| (fit.amount_minor <= 0, fit.amount_minor);
        fits.min_by(|one, other| {
            let by_distance = one.distance.cmp(&other.distance);
            by_distance.then_with(|| price(one).cmp(&price(other)))
        })
    }

    /// Returns the constraints that all variants of a product violate.
    fn missed_by_product(&self, card: &Card, detail: &Detail) -> Vec<Mismatch> {
        let is_of_brand = match &self.sought.brand {
            Brand::Any => true,
            Brand::Known(slug) => slug.as_str() == card.brand_slug,
            Brand::Nothing => false,
        };
        let is_of_brand = is_of_brand && !self.unwanted_brands.contains(&card.brand_slug.as_str());
        let text = text_of(card, detail);
        let is_refused = self
            .sought
            .wanted
            .unwanted
            .iter()
            .any(|unwanted| names(&text, unwanted));
        let audience = self.sought.wanted.audience;
        let is_for_others = audience.is_some_and(|audience| is_for_others(audience, card, detail));
        let missed = [
            (!is_of_brand, Mismatch::Brand),
            (is_refused, Mismatch::Unwanted),
            (is_for_others, Mismatch::Audience),
        ];
        let missed = missed.into_iter().filter(|(is_missed, _)| *is_missed);
        missed.map(|(_, missed)| missed).collect()
    }

    fn variant(
        &self,
        variant: &Variant,
        mut missed: Vec<Mismatch>,
        card: &Card,
        detail: &Detail,
        title: &str,
    ) -> Option<Fit> {
        let mut offers = detail.offers.iter();
        let offer = offers.find(|offer| offer.variant_id == variant.id)?;
        let colour = self.colour(variant, title, detail).unwrap_or_else(|why| {
            missed.push(why);
            None
        });
        let size = self.size(variant, title).unwrap_or_else(|why| {
            missed.push(why);
            None
        });
        missed.extend((!offer.available).then_some(Mismatch::Stock));
        // Prices in different currencies are never compared.
        let is_comparable = card.currency == self.sought.bounds.currency.as_str();
        let gap = if is_comparable || self.sought.bounds.is_open() {
            self.sought.bounds.gap_minor(offer.amount_minor)
        } else {
            i64::MAX
        };
        Some(Fit {
            variant_id: variant.id.clone(),
            amount_minor: offer.amount_minor,
            colour,
            size,
            title: title.to_owned(),
            distance: Distance::of(missed, gap),
        })
    }

    /// Returns the wanted colour of a variant: its own colour if stated, else the product's.
    fn colour(&self, variant: &Variant, title: &str, detail: &Detail) -> Result<Option<&'static str>, Mismatch> {
        let own: Vec<&str> = values(variant, &["color", "colour", "shade", "finish"]).collect();
        let is_unwanted = |said: &&str| {
            self.sought
                .wanted
                .unwanted
                .iter()
                .any(|unwanted| names(&stems(said), unwanted))
        };
        if own.iter().any(is_unwanted) {
            return Err(Mismatch::Unwanted);
        }
        if self.sought.wanted.colours.is_empty() {
            return Ok(None);
        }
        let stated = own.iter().any(|said| !intent::colours_named(said).is_empty());
        let of_product = detail
            .attributes
            .attributes
            .get("color")
            .into_iter()
            .flatten()
            .map(String::as_str);
        let said: Vec<&str> = if stated {
            own
        } else {
            of_product
                .chain([title])
                .chain(variant.options.values().map(String::as_str))
                .collect()
        };
        // An exact colour name has priority over a shade.
        let found = |colour: &&'static str| {
            let mut found: Vec<&'static str> = said.iter().filter_map(|said| colour_said(said, colour)).collect();
            found.sort_by_key(|found| found != colour);
            found.first().copied()
        };
        let found = self
            .sought
            .wanted
            .colours
            .iter()
            .find_map(found)
            .ok_or(Mismatch::Color)?;
        Ok(Some(found))
    }

    fn size(&self, variant: &Variant, title: &str) -> Result<Option<String>, Mismatch> {
        if self.sought.wanted.sizes.is_empty() {
            return Ok(None);
        }
        let own: Vec<&str> = values(variant, &["size", "sizes", "waist", "title"]).collect();
        let said: Vec<&str> = if own.is_empty() {
            variant.options.values().map(String::as_str).collect()
        } else {
            own
        };
        // A title may state the size `queen`, but an `M` in a title can have any meaning.
        let of_title = |size: &str| size.len() > 3 && is_size(title, size);
        let has = |size: &&String| said.iter().any(|said| is_size(said, size)) || of_title(size);
        let found = self.sought.wanted.sizes.iter().find(has).ok_or(Mismatch::Size)?;
        Ok(Some(found.clone()))
    }
}

/// Returns the values of those options of a variant whose names contain one of these words.
fn values<'a>(variant: &'a Variant, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    variant.options.iter().filter_map(|(name, value)| {
        let name = name.to_lowercase();
        let is_named = runs(&name).any(|word| names.contains(&word));
        is_named.then_some(value.as_str())
    })
}

/// Returns the words of title, product type and material, which show a product's properties.
fn text_of(card: &Card, detail: &Detail) -> Vec<String> {
    let mut text = stems(&card.title);
    text.extend(detail.attributes.product_type.iter().flat_map(|kind| stems(kind)));
    let materials = ["material", "pattern", "style", "flavour"];
    let stated = materials
        .iter()
        .filter_map(|name| detail.attributes.attributes.get(*name));
    text.extend(stated.flatten().flat_map(|value| stems(value)));
    text
}

/// True if the words mention something, unless they state its absence.
fn names(text: &[String], unwanted: &Unwanted) -> bool {
    let what = stems(&unwanted.what);
    if what.is_empty() {
        return false;
    }
    let stands = |at: usize, phrase: &[String]| text.get(at..at + phrase.len()) == Some(phrase);
    let ways: Vec<Vec<String>> = unwanted.lacking.iter().map(|way| stems(way)).collect();
    let is_lacking = |at: usize| {
        ways.iter().any(|way| {
            let from = at.saturating_sub(way.len());
            (from..=at).any(|start| stands(start, way) && start + way.len() > at)
        })
    };
    (0..text.len()).any(|at| stands(at, &what) && !is_lacking(at))
}

/// True if a product states audiences, and `audience` is none of them.
fn is_for_others(audience: Audience, card: &Card, detail: &Detail) -> bool {
    let said = [
        Some(card.title.as_str()),
        detail.attributes.product_type.as_deref(),
        detail
            .attributes
            .category
            .as_ref()
            .map(|category| category.path.as_str()),
    ];
    let stated = ["gender", "age_group"]
        .iter()
        .filter_map(|name| detail.attributes.attributes.get(*name));
    let said = said.into_iter().flatten().chain(stated.flatten().map(String::as_str));
    let named: Vec<Audience> = said.flat_map(intent::audiences_named).collect();
    let takes = |named: &Audience| match audience {
        Audience::Unisex => true,
        Audience::Kids => matches!(
            named,
            Audience::Kids | Audience::Boys | Audience::Girls | Audience::Baby | Audience::Unisex
        ),
        Audience::Boys | Audience::Girls | Audience::Baby => {
            *named == audience || matches!(named, Audience::Kids | Audience::Unisex | Audience::Baby)
        }
        Audience::Men | Audience::Women => *named == audience || *named == Audience::Unisex,
    };
    !named.is_empty() && !named.iter().any(takes)
}
