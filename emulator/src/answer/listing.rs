use crate::ask::Ask;
use crate::catalogue::{Places, Shelf};
use crate::edit::cut_variants;
use crate::fault::{Fault, Lie, Mischief, push_mischief};
use crate::generated::Scratch;
use crate::generated::dice::{fold, fold_bytes};
use crate::json::{push_number, push_text};
use crate::reply::{Reply, etag};
use crate::shop::Shop;

/// Maximum number of products that the platform pages through.
const CAP: u64 = 25_000;

/// Changes of a fault to the content of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Twist {
    endless: bool,
    shift: i64,
    keep: Option<u64>,
    pub(crate) mischief: Option<Mischief>,
    pub(crate) lie: Lie,
}

impl Twist {
    /// Returns the changes of a request's fault.
    pub(crate) fn of(fault: Option<&Fault>, shop: &Shop) -> Self {
        let mut twist = Self {
            mischief: fault.and_then(Mischief::of),
            lie: Lie::of(fault),
            ..Self::default()
        };
        match fault {
            Some(Fault::EndlessPages) => twist.endless = true,
            Some(Fault::ShiftingPages { by }) => twist.shift = shop.shift(*by),
            Some(Fault::Collapsed { keep }) => twist.keep = Some(*keep),
            _ => {}
        }
        twist
    }

    /// Returns the currency that a store states for its prices.
    pub(super) fn currency<'a>(&'a self, shop: &'a Shop) -> &'a str {
        self.lie.currency(&shop.address.currency)
    }
}

enum Item {
    Listed(u64),
    Invented(u64),
}

/// First number of the invented products on endless pages. Shifting pages use lower numbers.
const ENDLESS_FROM: u64 = 1 << 18;

fn item(places: &Places, twist: &Twist, nth: u64) -> Option<Item> {
    let nth = if twist.shift > 0 && nth < twist.shift.unsigned_abs() {
        return Some(Item::Invented(twist.shift.unsigned_abs() - 1 - nth));
    } else {
        nth.checked_add_signed(-twist.shift)?
    };
    let end = places.len().min(twist.keep.unwrap_or(u64::MAX));
    if nth < end {
        return places.get(nth).map(Item::Listed);
    }
    twist.endless.then(|| Item::Invented(ENDLESS_FROM + nth - end))
}

/// Returns one page of a listing in the format of the platform's `products.json`.
pub(crate) fn products(shop: &Shop, ask: &Ask, places: &Places, twist: &Twist) -> Reply {
    let (limit, page) = (ask.limit(), u64::from(ask.page()));
    if page * limit > CAP && !twist.endless {
        return past_the_cap();
    }
    let epoch = shop.epoch();
    let first = (page - 1) * limit;
    let items: Vec<Item> = (first..first + limit)
        .map_while(|nth| item(places, twist, nth))
        .collect();
    let prints = items.iter().map(|item| match item {
        Item::Listed(place) => shop.catalogue.fingerprint(*place, epoch),
        Item::Invented(number) => fold(&[*number]),
    });
    let prints: Vec<u64> = [page, limit].into_iter().chain(prints).collect();
    let etag = etag(fold(&[
        fold(&prints),
        shop.catalogue.persona().shop_id(),
        twist.mischief.map_or(0, Mischief::tag) ^ twist.lie.fingerprint(),
    ]));
    if ask.has(&etag) {
        return Reply::not_modified(etag);
    }
    let mut body = Vec::with_capacity(items.len() * 4096 + 64);
    let mut scratch = Scratch::default();
    body.extend_from_slice(b"{\"products\":[");
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            body.push(b',');
        }
        match item {
            Item::Listed(place) => {
                let start = body.len();
                shop.catalogue.push_record(*place, epoch, &mut scratch, &mut body);
                cut_variants(start, &mut body);
                twist.lie.tell_record(start, &mut body);
            }
            Item::Invented(number) => shop.catalogue.push_invented(*number, &mut scratch, &mut body),
        }
        if let Some(mischief) = twist.mischief {
            push_mischief(mischief, &shop.catalogue, nth as u64, items.len() as u64, &mut body);
        }
    }
    body.extend_from_slice(b"]}");
    Reply {
        etag: Some(etag),
        ..Reply::json(body)
    }
}

fn past_the_cap() -> Reply {
    Reply::text(400, "Page * Limit exceeds the 25000 limit.")
}

/// Handles `/collections.json`.
pub(crate) fn collections(shop: &Shop, ask: &Ask) -> Reply {
    let (limit, page) = (ask.limit(), u64::from(ask.page()));
    if page * limit > CAP {
        return past_the_cap();
    }
    let shelves = shop.catalogue.shelves(shop.epoch());
    let first = usize::try_from((page - 1) * limit).unwrap_or(usize::MAX);
    let mut body = b"{\"collections\":[".to_vec();
    for (nth, shelf) in shelves.iter().skip(first).take(limit as usize).enumerate() {
        if nth > 0 {
            body.push(b',');
        }
        push_collection(shop, shelf, &mut body);
    }
    body.extend_from_slice(b"]}");
    Reply::json(body).validated()
}

pub(crate) fn collection(shop: &Shop, handle: &str) -> Option<Reply> {
    let shelves = shop.catalogue.shelves(shop.epoch());
    let shelf = shelves.iter().find(|shelf| shelf.handle == handle)?;
    let mut body = b"{\"collection\":".to_vec();
    push_collection(shop, shelf, &mut body);
    body.push(b'}');
    Some(Reply::json(body).validated())
}

pub(crate) fn collection_id(shop: &Shop, shelf: &Shelf) -> u64 {
    let id = 300_000_000_000 + fold(&[shop.catalogue.persona().shop_id(), shelf.title.len() as u64]) % 100_000_000_000;
    id ^ (fold_bytes(shelf.handle.as_bytes()) % 1_000_000_000)
}

/// Returns the time of the last change of all collections, by the shop's own clock.
pub(crate) fn collection_updated_at(shop: &Shop) -> String {
    format!("2026-08-30T10:20:30{}", shop.catalogue.persona().coin.offset)
}

fn push_collection(shop: &Shop, shelf: &Shelf, body: &mut Vec<u8>) {
    let offset = shop.catalogue.persona().coin.offset;
    body.extend_from_slice(b"{\"id\":");
    push_number(body, collection_id(shop, shelf));
    body.extend_from_slice(b",\"title\":");
    push_text(body, &shelf.title);
    body.extend_from_slice(b",\"handle\":");
    push_text(body, &shelf.handle);
    body.extend_from_slice(b",\"description\":\"\",\"published_at\":");
    push_text(body, &format!("2025-03-04T10:20:30{offset}"));
    body.extend_from_slice(b",\"updated_at\":");
    push_text(body, &collection_updated_at(shop));
    body.extend_from_slice(b",\"image\":null,\"products_count\":");
    push_number(body, shelf.products);
    body.push(b'}');
}
