use data_understanding::intent::{self, Audience, Unwanted, colour_said};
use data_understanding::stems;

use super::Bounds;
use super::sizes::is_size;
use crate::catalogue::{Card, Detail, Variant};
use crate::intent::Constraints;

/// What a product does not keep to, in the order in which it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Missed {
    Brand,
    Unwanted,
    Audience,
    Color,
    Size,
    Price,
    Stock,
}

impl Missed {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("brand", Self::Brand),
        ("unwanted", Self::Unwanted),
        ("audience", Self::Audience),
        ("color", Self::Color),
        ("size", Self::Size),
        ("price", Self::Price),
        ("stock", Self::Stock),
    ];
}

/// What of a product keeps to everything that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    /// What is put into the cart.
    pub(crate) variant_id: String,
    /// What it costs, in minor units.
    pub(crate) amount_minor: i64,
    /// The wanted colour that it has.
    pub(crate) colour: Option<&'static str>,
    /// The wanted size that it has.
    pub(crate) size: Option<String>,
}

/// What is asked of products, and whose slugs brands have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) wanted: &'a Constraints,
    pub(crate) bounds: Bounds,
    /// Slugs of the brands that are not wanted.
    pub(crate) unwanted_brands: &'a [&'a str],
}

impl Asked<'_> {
    /// The variant of a product that keeps to everything, the cheapest of them.
    ///
    /// # Errors
    /// What the product misses first.
    pub(crate) fn fit(&self, card: &Card, detail: &Detail) -> Result<Fit, Missed> {
        if self.unwanted_brands.contains(&card.brand_slug.as_str()) {
            return Err(Missed::Brand);
        }
        let text = text_of(card, detail);
        if self.wanted.unwanted.iter().any(|unwanted| names(&text, unwanted)) {
            return Err(Missed::Unwanted);
        }
        if self
            .wanted
            .audience
            .is_some_and(|audience| is_for_others(audience, card, detail))
        {
            return Err(Missed::Audience);
        }
        if card.currency != self.bounds.currency.as_str()
            && (self.bounds.min_minor.is_some() || self.bounds.max_minor.is_some())
        {
            return Err(Missed::Price);
        }
        let mut missed = Missed::Color;
        let mut best: Option<Fit> = None;
        for variant in &detail.variants {
            match self.variant(variant, card, detail) {
                Ok(fit) => {
                    let is_less = best.as_ref().is_none_or(|best| fit.amount_minor < best.amount_minor);
                    best = if is_less { Some(fit) } else { best };
                }
                // The variant that came nearest tells.
                Err(why) => missed = missed.max(why),
            }
        }
        best.ok_or(if detail.variants.is_empty() {
            Missed::Stock
        } else {
            missed
        })
    }

    fn variant(&self, variant: &Variant, card: &Card, detail: &Detail) -> Result<Fit, Missed> {
        let colour = self.colour(variant, card, detail)?;
        let size = self.size(variant, card)?;
        let offer = detail
            .offers
            .iter()
            .find(|offer| offer.variant_id == variant.id)
            .ok_or(Missed::Stock)?;
        if !self.bounds.holds(offer.amount_minor) {
            return Err(Missed::Price);
        }
        if !offer.available {
            return Err(Missed::Stock);
        }
        Ok(Fit {
            variant_id: variant.id.clone(),
            amount_minor: offer.amount_minor,
            colour,
            size,
        })
    }

    /// The wanted colour of a variant: its own where it states one, else the product's.
    fn colour(&self, variant: &Variant, card: &Card, detail: &Detail) -> Result<Option<&'static str>, Missed> {
        let own: Vec<&str> = values(variant, &["color", "colour", "shade", "finish"]).collect();
        let is_unwanted = |said: &&str| {
            self.wanted
                .unwanted
                .iter()
                .any(|unwanted| names(&stems(said), unwanted))
        };
        if own.iter().any(is_unwanted) {
            return Err(Missed::Unwanted);
        }
        if self.wanted.colours.is_empty() {
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
                .chain([card.title.as_str()])
                .chain(variant.options.values().map(String::as_str))
                .collect()
        };
        // A name of the colour itself goes before a shade.
        let found = |colour: &&'static str| {
            let mut found: Vec<&'static str> = said.iter().filter_map(|said| colour_said(said, colour)).collect();
            found.sort_by_key(|found| found != colour);
            found.first().copied()
        };
        let found = self.wanted.colours.iter().find_map(found).ok_or(Missed::Color)?;
        Ok(Some(found))
    }

    fn size(&self, variant: &Variant, card: &Card) -> Result<Option<String>, Missed> {
        if self.wanted.sizes.is_empty() {
            return Ok(None);
        }
        let own: Vec<&str> = values(variant, &["size", "sizes", "waist", "title"]).collect();
        let said: Vec<&str> = if own.is_empty() {
            variant.options.values().map(String::as_str).collect()
        } else {
            own
        };
        // A title says `queen`, but an `M` in it may be anything.
        let of_title = |size: &str| size.len() > 3 && is_size(&card.title, size);
        let has = |size: &&String| said.iter().any(|said| is_size(said, size)) || of_title(size);
        let found = self.wanted.sizes.iter().find(has).ok_or(Missed::Size)?;
        Ok(Some(found.clone()))
    }
}

/// The values of a variant's options of which the name has one of these words.
fn values<'a>(variant: &'a Variant, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    variant.options.iter().filter_map(|(name, value)| {
        let name = name.to_lowercase();
        let is_named = name
            .split(|char: char| !char.is_alphanumeric())
            .any(|word| names.contains(&word));
        is_named.then_some(value.as_str())
    })
}

/// The words by which a product is told to have something: its title, its kind and what it is made of.
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

/// Whether words name something, other than to say that it is lacking.
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

/// Whether a product says that it is for others, and not for these.
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
