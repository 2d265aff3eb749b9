use data_text::{runs, stems};
use data_understanding::intent::{self, Audience, Unwanted, colour_said};

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
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Brand => "brand",
            Self::Unwanted => "unwanted",
            Self::Audience => "audience",
            Self::Color => "color",
            Self::Size => "size",
            Self::Price => "price",
            Self::Stock => "stock",
        }
    }
}

/// The part of a product that keeps to what was asked for.
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
    /// The names of what it lacks of what a search takes as words and not as filters.
    pub(crate) misses: Vec<&'static str>,
}

/// The reason that nothing of a product keeps to everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// What the variant that came nearest misses first.
    pub(crate) missed: Missed,
    /// What keeps to all that a search filters by.
    pub(crate) relaxed: Option<Fit>,
}

impl From<Missed> for Misfit {
    fn from(missed: Missed) -> Self {
        Self { missed, relaxed: None }
    }
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
    /// What the product misses first, and the variant that misses least of its colour and size alone.
    pub(crate) fn fit(&self, card: &Card, detail: &Detail) -> Result<Fit, Misfit> {
        if self.unwanted_brands.contains(&card.brand_slug.as_str()) {
            return Err(Missed::Brand.into());
        }
        let text = text_of(card, detail);
        if self.wanted.unwanted.iter().any(|unwanted| names(&text, unwanted)) {
            return Err(Missed::Unwanted.into());
        }
        if self
            .wanted
            .audience
            .is_some_and(|audience| is_for_others(audience, card, detail))
        {
            return Err(Missed::Audience.into());
        }
        if card.currency != self.bounds.currency.as_str()
            && (self.bounds.min_minor.is_some() || self.bounds.max_minor.is_some())
        {
            return Err(Missed::Price.into());
        }
        let misfits = detail
            .variants
            .iter()
            .map(|variant| self.variant(variant, card, detail));
        let (fits, misfits): (Vec<_>, Vec<_>) = misfits.partition(Result::is_ok);
        let cheapest = fits.into_iter().flatten().min_by_key(|fit| fit.amount_minor);
        if let Some(fit) = cheapest {
            return Ok(fit);
        }
        let misfits: Vec<Misfit> = misfits.into_iter().filter_map(Result::err).collect();
        // The variant that came nearest tells.
        let missed = misfits.iter().map(|misfit| misfit.missed).max();
        let relaxed = misfits.into_iter().filter_map(|misfit| misfit.relaxed);
        Err(Misfit {
            missed: missed.unwrap_or(Missed::Stock),
            relaxed: relaxed.min_by_key(|fit| (fit.misses.len(), fit.amount_minor)),
        })
    }

    fn variant(&self, variant: &Variant, card: &Card, detail: &Detail) -> Result<Fit, Misfit> {
        let mut misses = Vec::new();
        let colour = self.colour(variant, card, detail);
        if colour == Err(Missed::Unwanted) {
            return Err(Missed::Unwanted.into());
        }
        let colour = colour.unwrap_or_else(|missed| {
            misses.push(missed);
            None
        });
        let size = self.size(variant, card).unwrap_or_else(|missed| {
            misses.push(missed);
            None
        });
        let fit = self.offered(variant, detail).map(|amount_minor| Fit {
            variant_id: variant.id.clone(),
            amount_minor,
            colour,
            size,
            misses: misses.iter().map(|missed| missed.as_str()).collect(),
        });
        match misses.first() {
            None => fit.map_err(Misfit::from),
            Some(missed) => Err(Misfit {
                missed: *missed,
                relaxed: fit.ok(),
            }),
        }
    }

    /// The price of a variant that can be bought for what it may cost.
    fn offered(&self, variant: &Variant, detail: &Detail) -> Result<i64, Missed> {
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
        Ok(offer.amount_minor)
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
        let is_named = runs(&name).any(|word| names.contains(&word));
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
