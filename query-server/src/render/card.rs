use data_index::RowAddress;

use super::delivery::delivery;
use super::json::{ObjectWriter, object};
use crate::delivery::Destination;
use crate::operations::Fold;
use crate::served::Served;

/// Most siblings that are told with a card.
const SWATCHES_MAX: usize = 24;

/// Writes a product card.
pub(crate) fn card(out: &mut Vec<u8>, served: &Served, at: RowAddress) {
    object(out, |object| members(object, served, at));
}

/// Writes the card of a product in a list, with its delivery where that is asked for. The list may be folded: then with its
/// siblings.
pub(crate) fn listed(out: &mut Vec<u8>, served: &Served, at: RowAddress, (fold, to): (Fold, Option<&Destination>)) {
    object(out, |object| {
        members(object, served, at);
        delivered(object, served, at, to);
        if fold == Fold::Color {
            swatches(object, served, at);
        }
    });
}

/// Writes what is known of a product's delivery, where that is asked for.
pub(super) fn delivered(object: &mut ObjectWriter<'_>, served: &Served, at: RowAddress, to: Option<&Destination>) {
    if let Some(to) = to {
        delivery(object, &to.of_product(&served.release, at));
    }
}

fn swatches(object: &mut ObjectWriter<'_>, served: &Served, at: RowAddress) {
    let family = served.browse.family(&served.release, at);
    let siblings = family.into_iter().flat_map(|family| served.browse.siblings(family));
    object.array("swatches", siblings.take(SWATCHES_MAX), |out, (at, member)| {
        let Some(part) = served.release.part(at.part) else {
            return super::json::object(out, |_| {});
        };
        let (cards, row) = (part.cards(), at.row);
        super::json::object(out, |object| {
            object.id("id", cards.id(row));
            object.id("product_uid", cards.uid(row));
            object.text("color", member.color(cards.title(row)));
            object.text_or_null("image", cards.image(row));
            object.flag("in_stock", cards.in_stock(row));
        });
    });
}

/// Writes the members of a card into an object that has more.
pub(crate) fn members(object: &mut ObjectWriter<'_>, served: &Served, at: RowAddress) {
    let Some(part) = served.release.part(at.part) else {
        return;
    };
    let (cards, row) = (part.cards(), at.row);
    object.id("id", cards.id(row));
    object.id("product_uid", cards.uid(row));
    object.text("title", cards.title(row));
    object.prepared(served.brand_members(part.brand_index(row)));
    object.integer("price_min_minor", cards.price_min_minor(row));
    object.integer_or_null("compare_at_minor", cards.compare_at_minor(row));
    object.integer_or_null("discount_pct", cards.discount_pct(row));
    object.text("currency", cards.currency(row).as_str());
    object.flag("in_stock", cards.in_stock(row));
    object.flag("variants_complete", cards.variants_complete(row));
    object.number_or_null("rating", part.rating(row).map(|rating| rating.average));
    object.text_or_null("image", cards.image(row));
}
