use data_index::RowAddress;
use search::Fold;

use crate::delivery::Destination;
use crate::schema::{CardDelivery, ProductCard, Swatch};
use crate::served::ReleaseView;

const SWATCHES_MAX: usize = 24;

pub(crate) fn card(served: &ReleaseView, at: RowAddress) -> Option<ProductCard<'_>> {
    let part = served.release.part(at.part)?;
    let (cards, row) = (part.cards(), at.row);
    let brand = &served.release.brand_of(at).facts.brand;
    Some(ProductCard {
        id: cards.id(row),
        product_uid: cards.uid(row),
        title: cards.title(row).into(),
        brand: brand.name.as_str().into(),
        brand_slug: brand.slug.as_str().into(),
        price_min_minor: cards.price_min_minor(row),
        compare_at_minor: cards.compare_at_minor(row),
        discount_pct: cards.discount_pct(row),
        currency: cards.currency(row).as_str().into(),
        in_stock: cards.in_stock(row),
        variants_complete: cards.variants_complete(row),
        rating: part.rating(row).map(|rating| rating.average),
        image: cards.image(row).map(Into::into),
        delivery: None,
        swatches: None,
    })
}

pub(crate) fn cards<'a>(served: &'a ReleaseView, rows: &[RowAddress]) -> Vec<ProductCard<'a>> {
    rows.iter().filter_map(|at| card(served, *at)).collect()
}

/// Builds the card of a product in a list. The card has delivery facts if there is a destination, and the product's
/// siblings if the list is folded by colour.
pub(crate) fn listed<'a>(
    served: &'a ReleaseView,
    at: RowAddress,
    fold: Fold,
    to: Option<&Destination>,
) -> Option<ProductCard<'a>> {
    Some(ProductCard {
        delivery: to.map(|to| delivery(served, at, to)),
        swatches: (fold == Fold::Color).then(|| swatches(served, at)),
        ..card(served, at)?
    })
}

pub(super) fn delivery(served: &ReleaseView, at: RowAddress, to: &Destination) -> CardDelivery {
    let told = to.of_product(&served.release, at);
    CardDelivery {
        days_min: told.days.min,
        days_max: told.days.max,
        serviceable: told.serviceable,
        cod: told.cod,
        free_shipping: told.free_shipping,
    }
}

fn swatches(served: &ReleaseView, at: RowAddress) -> Vec<Swatch<'_>> {
    let family = served.search.browse.family(&served.release, at);
    let siblings = family
        .into_iter()
        .flat_map(|family| served.search.browse.siblings(family));
    let swatches = siblings.take(SWATCHES_MAX).filter_map(|(at, member)| {
        let (cards, row) = (served.release.part(at.part)?.cards(), at.row);
        Some(Swatch {
            id: cards.id(row),
            product_uid: cards.uid(row),
            color: member.color(cards.title(row)).into(),
            image: cards.image(row).map(Into::into),
            in_stock: cards.in_stock(row),
        })
    });
    swatches.collect()
}
