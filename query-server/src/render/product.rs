use data_index::columns::{Cards, DetailsRow, NamedValues};
use data_index::{DeliveryMatrix, RowAddress, taxonomy};

use super::json::{ObjectWriter, array, object, string};
use super::{Written, card, envelope, review};
use crate::delivery::Destination;
use crate::lookup::segment;
use crate::operations::Include;
use crate::served::Served;

/// Reviews that come with the detail; the others are listed by the reviews operation.
const REVIEWS_MAX: usize = 20;

/// Writes the detail of a product, with its delivery where that is asked for.
pub(crate) fn detail(served: &Served, at: RowAddress, (include, to): (Include, Option<&Destination>)) -> Written {
    let brand = served.release.brand_of(at);
    let write = |out: &mut Vec<u8>| {
        object(out, |object| {
            card::members(object, served, at);
            let Some(part) = served.release.part(at.part) else {
                return;
            };
            let (cards, details) = (part.cards(), part.details().row(at.row));
            object.integer("price_max_minor", cards.price_max_minor(at.row));
            object.integer("rating_count", part.rating(at.row).map_or(0, |rating| rating.count));
            let source = part.rating(at.row).map(|_| part.review_source(at.row));
            object.text_or_null("rating_source", source);
            let matrix = served.release.brand_index(&brand.facts.brand.store);
            let matrix = matrix.and_then(|brand| served.release.delivery(brand));
            object.flag_or_null("delivers_to_india", matrix.and_then(DeliveryMatrix::serves));
            card::delivered(object, served, at, to);
            if include.media {
                object.array("media", details.media(), |out, media| {
                    super::json::object(out, |object| {
                        object.text("url", media.url);
                        object.text("kind", media.kind.as_str());
                        object.text_or_null("alt", media.alt);
                        object.integer_or_null("width", media.width);
                        object.integer_or_null("height", media.height);
                    });
                });
            }
            if include.variants {
                variants(object, &details);
            }
            if include.offers {
                offers(object, cards, at.row, &details);
            }
            if include.attributes {
                object.object("attributes", |object| {
                    attributes(object, cards, at.row, &details, &brand.facts.brand.base_url);
                });
            }
            if include.reviews {
                object.array("reviews", part.reviews(at.row).take(REVIEWS_MAX), |out, one| {
                    review::review(out, &one)
                });
            }
        });
    };
    envelope(4096, served.id_text(), write, |provenance| {
        provenance.id("refreshed_at", brand.facts.refreshed_at);
    })
}

fn variants(object: &mut ObjectWriter<'_>, details: &DetailsRow<'_>) {
    object.array("variants", details.variants(), |out, variant| {
        super::json::object(out, |object| {
            object.id("id", variant.id);
            object.text_or_null("sku", variant.sku);
            object.text("title", variant.title);
            object.object("options", |options| {
                for (name, value) in variant.options() {
                    string(options.free(name), value);
                }
            });
            object.text_or_null("image", variant.image);
        });
    });
}

fn offers(object: &mut ObjectWriter<'_>, cards: &Cards, row: u32, details: &DetailsRow<'_>) {
    let currency = cards.currency(row).as_str();
    object.array("offers", details.variants(), |out, variant| {
        super::json::object(out, |object| {
            object.id("variant_id", variant.id);
            object.integer("amount_minor", variant.price_minor);
            object.integer_or_null("compare_at_minor", variant.compare_at_minor);
            object.text("currency", currency);
            object.flag("available", variant.available);
        });
    });
}

fn attributes(object: &mut ObjectWriter<'_>, cards: &Cards, row: u32, details: &DetailsRow<'_>, base_url: &str) {
    object.text("description", details.description());
    object.text_or_null("vendor", details.vendor());
    object.text_or_null("product_type", details.product_type());
    object.array("tags", details.tags(), string);
    match cards.category(row).and_then(taxonomy::by_id) {
        Some(category) => object.object("category", |object| {
            object.integer("id", category.id.0);
            object.text("slug", &category.slug);
            object.text("name", category.name);
            object.text("path", category.path);
        }),
        None => object.null("category"),
    }
    object.text("url", &format!("{base_url}/products/{}", segment(details.handle())));
    object.object("options", |object| named_values(object, details.options()));
    object.object("attributes", |object| named_values(object, details.attributes()));
    object.moment_or_null("created_at", details.created_at());
    object.moment_or_null("published_at", details.published_at());
    object.moment_or_null("updated_at", details.updated_at());
}

fn named_values<'a>(object: &mut ObjectWriter<'_>, named: impl Iterator<Item = NamedValues<'a>>) {
    for one in named {
        array(object.free(one.name), one.values(), string);
    }
}
