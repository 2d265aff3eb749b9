//! Builds the caller's view of a cart.

use std::collections::{BTreeMap, HashMap};

use data_model::{ErrorCode, Money, StoreHost, Timestamp, delivery_days};

use super::ids::{CartId, line_id, product_id};
use super::own::CartComparison;
use super::places::has_postcodes;
use super::record::{CartRecord, Group};
use super::refusal::refusal;
use crate::rules::store_cart::{CartAddress, StoreCart, StoreDelivery, StoreLine, StoreOption, StoreWarning};
use crate::schema::carts::{
    Cart, CartCode, CartDelivery, CartDiscount, CartGroup, CartLine, CartPriceChange, CartProblem, CartTotal,
    CartWarning, MergedItem,
};

/// Warning that this service adds to a group. The store did not state the warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Rebuilt,
    MadeTwice,
    SignedOut,
    /// The quantity of a variant was changed at the store.
    QuantityChanged {
        variant: u64,
        was: u32,
        now: u32,
    },
    /// The list of codes was changed at the store.
    CodesChanged,
    /// The delivery address was changed at the store.
    AddressChanged,
    /// Another delivery option was selected at the store.
    DeliveryChanged,
}

impl Note {
    fn warning(self, id: &CartId, group: &Group) -> CartWarning {
        const AT_STORE: &str = "changed_at_store";
        let (code, detail) = match self {
            Self::QuantityChanged { variant, was, now } => {
                let line = ids(id, group).find(|(_, line)| line.variant.0 == variant);
                return CartWarning {
                    code: AT_STORE.to_owned(),
                    detail: format!("The quantity was changed at the store's own page, from {was} to {now}."),
                    line_id: line.map(|(line_id, _)| line_id),
                };
            }
            Self::CodesChanged => (AT_STORE, "The discount codes were changed at the store's own page."),
            Self::AddressChanged => (
                AT_STORE,
                "The delivery address was changed at the store's own page. The store keeps it; the cart's address is \
                 unchanged.",
            ),
            Self::DeliveryChanged => (
                AT_STORE,
                "Another delivery option was selected at the store's own page.",
            ),
            Self::Rebuilt => (
                "cart_rebuilt",
                "The store no longer had its cart; the cart was rebuilt.",
            ),
            Self::MadeTwice => (
                "cart_made_twice",
                "The store did not confirm that it created a cart. A second cart was created; the first one is not \
                 used.",
            ),
            Self::SignedOut => (
                "signed_out",
                "The store no longer accepts the customer's sign-in: sign in again.",
            ),
        };
        CartWarning {
            code: code.to_owned(),
            detail: detail.to_owned(),
            line_id: None,
        }
    }
}

/// Parts of a response that the cart's record does not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct CartReport {
    /// Stores whose groups are from a response to this request.
    pub(crate) verified: Vec<StoreHost>,
    pub(crate) notes: HashMap<String, Vec<Note>>,
    pub(crate) problems: Vec<CartProblem>,
}

pub(crate) fn cart(
    id: &CartId,
    created_at: Timestamp,
    expires_at: Timestamp,
    record: &CartRecord,
    told: CartReport,
) -> Cart {
    let no_notes = Vec::new();
    let groups: Vec<CartGroup> = record
        .groups
        .iter()
        .map(|one| {
            let store = &one.brand.store;
            let notes = told.notes.get(store.as_str()).unwrap_or(&no_notes);
            group(id, one, told.verified.contains(store), notes)
        })
        .collect();
    let totals = totals(&groups);
    Cart {
        cart_id: id.to_string(),
        created_at,
        expires_at,
        combined_total_minor: match totals.as_slice() {
            [] => Some(0),
            [one] => Some(one.total_minor),
            _ => None,
        },
        totals,
        groups,
        problems: told.problems.into_iter().chain(postcodes_wanted(record)).collect(),
    }
}

/// Returns a problem for each brand whose delivery needs a postal code that is not known.
fn postcodes_wanted(record: &CartRecord) -> impl Iterator<Item = CartProblem> + '_ {
    let address = record.address.as_ref();
    let lacking = address.filter(|address| address.zip.is_none() && has_postcodes(&address.country));
    let of_brand = |address: &CartAddress, group: &Group| {
        let detail = format!("Delivery to {} needs a postal code (`zip`).", address.country);
        CartProblem::new(Some(&group.brand), None, ErrorCode::Validation, detail)
    };
    lacking
        .into_iter()
        .flat_map(move |address| record.groups.iter().map(move |group| of_brand(address, group)))
}

/// Returns the totals by currency, in the order of currency codes.
fn totals(groups: &[CartGroup]) -> Vec<CartTotal> {
    let mut sums: BTreeMap<&str, CartTotal> = BTreeMap::new();
    for group in groups {
        let sum = sums.entry(&group.currency).or_insert_with(|| CartTotal {
            currency: group.currency.clone(),
            subtotal_minor: 0,
            discount_minor: 0,
            delivery_minor: 0,
            other_minor: 0,
            total_minor: 0,
        });
        sum.subtotal_minor += group.subtotal_minor;
        sum.discount_minor += group.discount_minor;
        sum.delivery_minor += group.delivery_minor;
        sum.other_minor += group.other_minor;
        sum.total_minor += group.total_minor;
    }
    sums.into_values().collect()
}

fn group(id: &CartId, group: &Group, verified: bool, notes: &[Note]) -> CartGroup {
    let (brand, seen) = (&group.brand, &group.seen);
    CartGroup {
        brand: brand.name.clone(),
        brand_slug: brand.slug.to_string(),
        currency: seen.currency.to_string(),
        as_of: group.seen_at,
        verified,
        snapshot_at: (!verified).then_some(group.seen_at),
        lines: lines(id, group).collect(),
        subtotal_minor: seen.subtotal_minor,
        discount_minor: seen.discounts.total_minor(),
        delivery_discount_minor: seen.discounts.shipping_minor,
        delivery_minor: seen.delivery_minor,
        other_minor: seen.other_minor,
        total_minor: seen.total_minor,
        discount_codes: seen
            .codes
            .iter()
            .map(|code| CartCode {
                code: code.code.clone(),
                applicable: code.applicable,
                discount_minor: code.discount_minor,
                refusal: refusal(seen, &code.code),
            })
            .collect(),
        automatic_discounts: seen
            .automatic
            .iter()
            .map(|discount| CartDiscount {
                title: discount.title.clone(),
                discount_minor: discount.discount_minor,
            })
            .collect(),
        delivery_options: options(seen),
        checkout_url: seen.checkout_url.expose().to_owned(),
        warnings: warnings(id, group, notes),
    }
}

fn lines<'a>(id: &'a CartId, group: &'a Group) -> impl Iterator<Item = CartLine> + 'a {
    ids(id, group).map(|(line_id, line)| {
        let holding = group.holding();
        let requested_qty = holding.asked(line);
        let change = price_change(group, line).filter(|_| requested_qty > 0);
        // Amounts in different currencies are never equal.
        let is_held = |change: &CartPriceChange| {
            change.shown_minor == change.now_minor && change.shown_currency == group.seen.currency.as_str()
        };
        CartLine {
            line_id,
            product_id: product_id(&group.brand, line.product),
            variant_id: line.variant.to_string(),
            title: line.title.clone(),
            variant_title: Some(line.variant_title.clone()).filter(|title| !title.is_empty()),
            image: line.image.clone(),
            qty: line.quantity,
            requested_qty,
            added_by_store: unasked(holding, line) == Some(Unasked::Added),
            merged: merged(group, line),
            unit_price_minor: line.unit_price_minor,
            price_held: change.as_ref().map(is_held),
            price_changed: change.filter(|change| !is_held(change)),
            line_total_minor: line.subtotal_minor,
            discount_minor: line.discount_minor,
            available: line.available && line.quantity > 0 && line.quantity >= requested_qty,
        }
    })
}

/// Returns the unit price that was shown to the buyer for a line, and the line's price now.
fn price_change(group: &Group, line: &StoreLine) -> Option<CartPriceChange> {
    let shown = group.shown.get(&line.variant.0)?;
    Some(CartPriceChange {
        shown_minor: shown.minor,
        shown_currency: shown.currency?.to_string(),
        now_minor: line.unit_price_minor,
    })
}

pub(crate) fn ids<'a>(id: &'a CartId, group: &'a Group) -> impl Iterator<Item = (String, &'a StoreLine)> + 'a {
    let lines = &group.seen.lines;
    lines.iter().enumerate().map(move |(at, line)| {
        let nth = lines[..at]
            .iter()
            .filter(|before| before.variant == line.variant)
            .count();
        (line_id(id, &group.brand.store, line.variant, nth), line)
    })
}

fn options(seen: &StoreCart) -> Vec<CartDelivery> {
    let of_group = |group: &StoreDelivery| {
        let selected = group.selected.clone();
        let option = |option: &StoreOption| {
            let stated = delivery_days(&option.title)
                .or_else(|| delivery_days(option.description.as_deref().unwrap_or_default()));
            CartDelivery {
                handle: option.handle.clone(),
                title: option.title.clone(),
                amount_minor: option.amount_minor,
                days_min: stated.map(|(fewest, _)| u32::from(fewest)),
                days_max: stated.map(|(_, most)| u32::from(most)),
                selected: selected.as_ref() == Some(&option.handle),
            }
        };
        group.options.iter().map(option).collect::<Vec<_>>()
    };
    seen.deliveries.iter().flat_map(of_group).collect()
}

/// Origin of a line that the buyer did not request here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unasked {
    /// The store may have formed the line from requested lines.
    Merged,
    Added,
}

fn unasked(holding: CartComparison<'_>, line: &StoreLine) -> Option<Unasked> {
    let own = holding.own(line.variant.0);
    if holding.wanted(line.variant.0) > 0 && own.iter().any(|one| one.id == line.id) {
        return None;
    }
    let is_bundle = holding.merged().next().is_some() && holding.bundles().any(|bundle| bundle.id == line.id);
    Some(if is_bundle { Unasked::Merged } else { Unasked::Added })
}

fn merged(group: &Group, line: &StoreLine) -> Vec<MergedItem> {
    let holding = group.holding();
    let mut bundles = holding.bundles();
    let is_the_one = bundles.next().is_some_and(|bundle| bundle.id == line.id) && bundles.next().is_none();
    let merged = holding.merged().filter(|_| is_the_one);
    let item = |variant: u64| MergedItem {
        variant_id: variant.to_string(),
        product_id: group.products.get(&variant).cloned(),
        qty: holding.wanted(variant),
    };
    merged.map(item).collect()
}

fn unasked_warning(group: &Group, line_id: String, line: &StoreLine) -> Option<CartWarning> {
    let (code, detail) = match unasked(group.holding(), line)? {
        Unasked::Merged => (
            "lines_merged",
            "The store combines several lines of this cart into this line.",
        ),
        Unasked::Added => (
            "added_by_store",
            "This line was not requested here: the store or a person at the store's own page added it.",
        ),
    };
    Some(CartWarning {
        code: code.to_owned(),
        detail: detail.to_owned(),
        line_id: Some(line_id),
    })
}

/// Returns the warning about a line whose price at the store has changed since it was added.
fn price_changed(group: &Group, line_id: String, line: &StoreLine) -> Option<CartWarning> {
    let (added, currency) = *group.added_price_minor.get(&line.variant.0)?;
    let lines = group.seen.lines.iter().filter(|other| other.variant == line.variant);
    // Prices are not comparable if their currencies differ or if the store has split the line.
    if added == line.unit_price_minor || currency != group.seen.currency || lines.count() > 1 {
        return None;
    }
    let amount = |minor| Money::from_minor(minor, currency).ok();
    let (added, now) = (amount(added)?, amount(line.unit_price_minor)?);
    Some(CartWarning {
        code: "price_changed".to_owned(),
        detail: format!(
            "{} cost {added} when it was added; its store now asks {now}.",
            line.title
        ),
        line_id: Some(line_id),
    })
}

/// Returns the warning about a line whose total is not its unit price times its quantity. Stores may round the price of
/// each piece.
fn line_differs(line_id: String, line: &StoreLine) -> Option<CartWarning> {
    let quantity = i64::from(line.quantity);
    let difference_minor = line.subtotal_minor - line.unit_price_minor * quantity;
    (difference_minor.abs() > quantity).then(|| CartWarning {
        code: "amounts_differ".to_owned(),
        detail: format!(
            "The store's total of {} is not its unit price times its quantity.",
            line.title
        ),
        line_id: Some(line_id),
    })
}

/// Returns the warning about an expired quote. The quote's price is still compared with the store's price, because it
/// was shown to the buyer.
fn quote_expired(group: &Group, line_id: String, line: &StoreLine) -> Option<CartWarning> {
    let shown = group.shown.get(&line.variant.0)?;
    shown.is_quote_over.then(|| CartWarning {
        code: "quote_expired".to_owned(),
        detail: format!("The quote for {} had expired when the item was added.", line.title),
        line_id: Some(line_id),
    })
}

/// Returns the warning about a store that has no delivery option for the address. Stores do not report this themselves.
fn no_delivery(group: &Group) -> Option<CartWarning> {
    let mut options = group.seen.deliveries.iter().flat_map(|delivery| &delivery.options);
    let address = group.address.as_ref().filter(|_| options.next().is_none())?;
    if address.zip.is_none() && has_postcodes(&address.country) {
        return None;
    }
    let place = [
        address.zip.as_deref(),
        address.city.as_deref(),
        Some(address.country.as_str()),
    ];
    let place: Vec<&str> = place.into_iter().flatten().collect();
    Some(CartWarning {
        code: "no_delivery_options".to_owned(),
        detail: format!(
            "The store lists no delivery option for {}. Its checkout shows whether it delivers there.",
            place.join(", ")
        ),
        line_id: None,
    })
}

fn warnings(id: &CartId, group: &Group, notes: &[Note]) -> Vec<CartWarning> {
    let of_store = |warning: &StoreWarning| CartWarning {
        code: warning.code.to_lowercase(),
        detail: warning.message.clone(),
        line_id: warning
            .variant
            .and_then(|variant| ids(id, group).find(|(_, line)| line.variant == variant))
            .map(|(line_id, _)| line_id),
    };
    let differ = (group.seen.other_minor != 0).then(|| CartWarning {
        code: "amounts_differ".to_owned(),
        detail: "The store's total is not the sum of the amounts that it lists; `other_minor` is the difference."
            .to_owned(),
        line_id: None,
    });
    let currency = (group.seen.currency != group.brand.currency).then(|| CartWarning {
        code: "currency_changed".to_owned(),
        detail: format!(
            "The store now states amounts in {}, but its catalogue was last read in {}.",
            group.seen.currency, group.brand.currency
        ),
        line_id: None,
    });
    let told = group.seen.warnings.iter().map(of_store);
    let others = ids(id, group).filter_map(|(line_id, line)| unasked_warning(group, line_id, line));
    let prices = ids(id, group).filter_map(|(line_id, line)| price_changed(group, line_id, line));
    let amounts = ids(id, group).filter_map(|(line_id, line)| line_differs(line_id, line));
    let quotes = ids(id, group).filter_map(|(line_id, line)| quote_expired(group, line_id, line));
    let mut all: Vec<CartWarning> = Vec::new();
    for warning in notes
        .iter()
        .map(|note| note.warning(id, group))
        .chain(told)
        .chain(differ)
        .chain(amounts)
        .chain(currency)
        .chain(no_delivery(group))
        .chain(others)
        .chain(prices)
        .chain(quotes)
    {
        // Stores repeat the same warnings in every response.
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    all
}
