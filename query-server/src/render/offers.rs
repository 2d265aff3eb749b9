use std::collections::HashSet;

use data_index::RowAddress;
use data_index::columns::{MatchRef, Matches};
use data_model::{ProductId, ProductIdent, StoreHost, VariantId};
use data_text::segment;

use super::{TIER, card};
use crate::delivery::Destination;
use crate::schema::{BrandOffer, MatchReason, OffersAnswer, OffersProvenance};
use crate::served::ReleaseView;

/// Maximum number of counterparts of a product to examine.
const COUNTERPARTS_MAX: usize = 500;

/// Offer of one brand for the requested product.
struct Offer<'a> {
    at: RowAddress,
    /// Variant that equals the requested product, if known.
    variant: Option<VariantId>,
    price_minor: i64,
    compare_at_minor: Option<i64>,
    available: bool,
    /// Evidence that the products are equal; `None` for the requested product itself.
    found: Option<Counterpart<'a>>,
}

/// Equal product of another brand, with the evidence.
#[derive(Clone, Copy)]
struct Counterpart<'a> {
    found: MatchRef<'a>,
    /// Matching variants of the requested product and of this one, if known.
    variants: Option<(VariantId, VariantId)>,
    /// Confidence of the match: the lowest over all steps of the chain.
    confidence: f32,
}

/// Kind of matches that form chains: if A matches B and B matches C, then A matches C.
const BARCODE: &str = "barcode";

/// Returns the counterparts of a product, and counterparts of these if a bar code connects them. Chains are needed
/// because a release compares each product of a popular item with only a few others.
fn counterparts(matches: &Matches, id: ProductId) -> Vec<Counterpart<'_>> {
    let mut seen = HashSet::from([id]);
    let direct = matches.of_product(id).map(|found| Counterpart {
        found,
        variants: found.variants(),
        confidence: found.confidence(),
    });
    let mut all: Vec<_> = direct.filter(|one| seen.insert(one.found.other_id())).collect();
    let mut at = 0;
    while let Some(through) = all.get(at).copied().filter(|_| all.len() < COUNTERPARTS_MAX) {
        at += 1;
        if through.found.basis() != BARCODE {
            continue;
        }
        for found in matches.of_product(through.found.other_id()) {
            let variants = match (through.variants, found.variants()) {
                (Some((own, middle)), Some((same, other))) if middle == same => Some((own, other)),
                (None, None) => None,
                _ => continue,
            };
            if found.basis() == BARCODE && seen.insert(found.other_id()) {
                let confidence = through.confidence.min(found.confidence());
                all.push(Counterpart {
                    found,
                    variants,
                    confidence,
                });
            }
        }
    }
    all.truncate(COUNTERPARTS_MAX);
    all
}

/// Returns at most `limit` offers of all brands for the product at `at`, including its own.
pub(crate) fn list<'a>(
    served: &'a ReleaseView,
    at: RowAddress,
    limit: usize,
    to: Option<&Destination>,
) -> OffersAnswer<'a> {
    let release = &served.release;
    let own_currency = release.part(at.part).map(|part| part.cards().currency(at.row));
    let id = release.part(at.part).map(|part| part.cards().id(at.row));
    let found = release.matches().zip(id);
    let found = found.map_or_else(Vec::new, |(matches, id)| counterparts(matches, id));
    let own_variant = same_variant(&found);
    // Each store gets one offer, from its closest counterpart.
    let mut stores = HashSet::from([store_of(served, at)]);
    let others = found.into_iter().filter_map(|one| {
        let at = release.find(&ProductIdent::Id(one.found.other_id()))?;
        if !stores.insert(store_of(served, at)) {
            return None;
        }
        let variant = one.variants.map(|(_, other)| other).filter(|_| own_variant.is_some());
        Offer::of(served, at, variant, Some(one))
    });
    let own = Offer::of(served, at, own_variant, None);
    let mut offers: Vec<Offer<'_>> = own.into_iter().chain(others).collect();
    offers.sort_by_cached_key(|offer| {
        let currency = release
            .part(offer.at.part)
            .map(|part| part.cards().currency(offer.at.row));
        let is_foreign = currency != own_currency;
        let code = currency.map(|currency| currency.as_str());
        let has_no_price = offer.price_minor <= 0;
        let slug = release.brand_of(offer.at).facts.brand.slug.to_string();
        // Prices in different currencies are not compared, because a release has no exchange rates.
        (
            !offer.available,
            is_foreign,
            code,
            has_no_price,
            offer.price_minor,
            slug,
        )
    });
    // The product's own offer is always included, even if many offers are cheaper.
    if let Some(own) = offers
        .iter()
        .position(|offer| offer.found.is_none())
        .filter(|own| *own >= limit)
    {
        let own = offers.remove(own);
        offers.truncate(limit.saturating_sub(1));
        offers.push(own);
    }
    offers.truncate(limit);
    let unknown_reason = release.matches().is_none().then_some("release_without_matches");
    OffersAnswer {
        data: offers.iter().filter_map(|offer| offer.told(served, to)).collect(),
        provenance: OffersProvenance {
            release: served.id_text().into(),
            unknown_reason: unknown_reason.map(Into::into),
            ignored: None,
        },
        tier: TIER,
    }
}

fn store_of(served: &ReleaseView, at: RowAddress) -> &StoreHost {
    &served.release.brand_of(at).facts.brand.store
}

/// Returns the product's own variant if the same variant is known at every brand. Without it, all offers are for whole
/// products, so that they are comparable.
fn same_variant(found: &[Counterpart<'_>]) -> Option<VariantId> {
    let mut own = found.iter().map(|found| found.variants.map(|(own, _)| own));
    let first = own.next()??;
    own.all(|variant| variant == Some(first)).then_some(first)
}

impl<'a> Offer<'a> {
    /// Returns the price of the variant or, if unknown, the product's lowest price.
    fn of(
        served: &ReleaseView,
        at: RowAddress,
        variant: Option<VariantId>,
        found: Option<Counterpart<'a>>,
    ) -> Option<Self> {
        let part = served.release.part(at.part)?;
        let (cards, row) = (part.cards(), at.row);
        let variant = variant.and_then(|id| part.details().row(row).variants().find(|variant| variant.id == id));
        Some(match variant {
            Some(variant) => Self {
                at,
                variant: Some(variant.id),
                price_minor: variant.price_minor,
                compare_at_minor: variant.compare_at_minor,
                available: variant.available,
                found,
            },
            None => Self {
                at,
                variant: None,
                price_minor: cards.price_min_minor(row),
                compare_at_minor: cards.compare_at_minor(row),
                available: cards.in_stock(row),
                found,
            },
        })
    }

    fn told(&self, served: &'a ReleaseView, to: Option<&Destination>) -> Option<BrandOffer<'a>> {
        let part = served.release.part(self.at.part)?;
        let (cards, row) = (part.cards(), self.at.row);
        let brand = &served.release.brand_of(self.at).facts.brand;
        let handle = segment(part.details().row(row).handle());
        let reasons = self.found.into_iter().flat_map(|one| one.found.reasons());
        let reasons = reasons.map(|reason| {
            let (code, value) = match reason.split_once(':') {
                Some((code, value)) => (code, Some(value)),
                None => (reason, None),
            };
            MatchReason {
                code: code.into(),
                value: value.map(Into::into),
            }
        });
        Some(BrandOffer {
            id: cards.id(row),
            product_uid: cards.uid(row),
            title: cards.title(row).into(),
            brand: brand.name.as_str().into(),
            brand_slug: brand.slug.as_str().into(),
            url: format!("{}/products/{handle}", brand.base_url).into(),
            variant_id: self.variant.map(|variant| variant.to_string().into()),
            price_minor: self.price_minor,
            compare_at_minor: self.compare_at_minor,
            currency: cards.currency(row).as_str().into(),
            available: self.available,
            image: cards.image(row).map(Into::into),
            delivery: to.map(|to| card::delivery(served, self.at, to)),
            is_this_product: self.found.is_none(),
            confidence: self.found.map_or(1.0, |one| one.confidence),
            basis: self.found.map(|one| one.found.basis().into()),
            reasons: reasons.collect(),
        })
    }
}
