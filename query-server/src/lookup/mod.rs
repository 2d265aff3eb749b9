//! Products by what others call them: a SKU, a handle at a brand, the address of their page at a store.
//!
//! In: one such name. Out: the rows that have exactly it. Candidates come from the codes of the text index, which every
//! release has; their details show whether they have the name itself.

mod address;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use data_index::{Part, RowAddress};
use data_text::{code_of, segment};
use percent_encoding::percent_decode_str;
use search::coded;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use self::address::PageAddress;
use crate::served::ReleaseView;

/// Products that are looked at for one name; a SKU such as `1` has more.
const LOOKED_AT_MAX: usize = 2_000;
/// Products that are answered for one name.
const TOLD_MAX: usize = 20;
/// Forms of a product's page that stores answer besides the page.
const FORMS: [&str; 3] = [".js", ".json", ".oembed"];

/// A name by which a product is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LookupKey {
    /// The address of its page at its store.
    Url(String),
    /// The SKU of a variant.
    Sku(String),
    /// The product's name in the brand's addresses.
    Handle(String),
}

impl LookupKey {
    /// The names of the three, as requests and answers spell them.
    pub const NAMES: [&'static str; 3] = ["url", "sku", "handle"];

    /// The key's kind and text.
    pub(crate) fn told(&self) -> (&'static str, &str) {
        let [url, sku, handle] = Self::NAMES;
        match self {
            Self::Url(text) => (url, text),
            Self::Sku(text) => (sku, text),
            Self::Handle(text) => (handle, text),
        }
    }
}

/// The products that one name stands for.
#[derive(Debug, Default)]
pub(crate) struct Match {
    /// The most presentable first.
    pub(crate) rows: Vec<RowAddress>,
    /// True where there are, or may be, others.
    pub(crate) more: bool,
}

/// Looks for a product. A handle is looked for at `brand`, a position among the release's brands, and a SKU too where
/// one is given; an address has its brand itself.
pub(crate) fn look_up(served: &ReleaseView, key: &LookupKey, brand: Option<usize>) -> Match {
    match key {
        LookupKey::Sku(sku) => of_sku(served, sku, brand),
        LookupKey::Handle(handle) => match brand {
            Some(brand) => of_handle(served, handle, brand),
            None => Match::default(),
        },
        LookupKey::Url(url) => of_address(served, url),
    }
}

fn of_sku(served: &ReleaseView, sku: &str, brand: Option<usize>) -> Match {
    let has = |part: &Part, row| {
        let is_of_brand = brand.is_none_or(|brand| part.brand_index(row) == brand);
        is_of_brand
            && part
                .details()
                .row(row)
                .variants()
                .any(|variant| variant.sku == Some(sku))
    };
    gather(served, code_of(sku).into_iter().collect(), has)
}

fn of_address(served: &ReleaseView, url: &str) -> Match {
    let Some(address) = PageAddress::read(url) else {
        return Match::default();
    };
    let Some(brand) = served.brand_position(address.host) else {
        return Match::default();
    };
    let found = of_handle(served, &address.handle, brand);
    let bare = FORMS.iter().find_map(|form| address.handle.strip_suffix(form));
    match bare.filter(|_| found.rows.is_empty()) {
        Some(handle) => of_handle(served, handle, brand),
        None => found,
    }
}

/// Whoever writes a handle down writes its letters composed or not, escaped or not: all of these are one.
fn of_handle(served: &ReleaseView, handle: &str, brand: usize) -> Match {
    let wanted = composed(handle);
    let has = |part: &Part, row| part.brand_index(row) == brand && composed(part.details().row(row).handle()) == wanted;
    let decomposed: String = wanted.nfd().collect();
    let spelled = [
        code_of(&wanted),
        code_of(&segment(&wanted).to_string()),
        code_of(&segment(&decomposed).to_string()),
    ];
    let codes: BTreeSet<String> = spelled.into_iter().flatten().collect();
    if code_of(&wanted).is_some() {
        return gather(served, codes, has);
    }
    // A text of signs alone stands for no code.
    let mut found = Candidates::default();
    for (at, part) in (0..).zip(served.release.parts()) {
        for row in (0..part.rows()).filter(|row| !part.dead().contains(*row) && has(part, *row)) {
            found.rows.push(RowAddress { part: at, row });
        }
    }
    found.told(served)
}

/// A text without escapes, its letters composed (Unicode NFC).
fn composed(text: &str) -> String {
    let plain = percent_decode_str(text).decode_utf8();
    let plain = plain.as_deref().unwrap_or(text);
    if is_nfc(plain) {
        plain.to_owned()
    } else {
        plain.nfc().collect()
    }
}

#[derive(Default)]
struct Candidates {
    rows: Vec<RowAddress>,
    looked_at: usize,
}

impl Candidates {
    fn told(mut self, served: &ReleaseView) -> Match {
        let presentable = |at: &RowAddress| {
            let cards = served.release.part(at.part)?.cards();
            let quality = (cards.in_stock(at.row), cards.quality(at.row).to_bits());
            Some((std::cmp::Reverse(quality), cards.id(at.row)))
        };
        // The order is the same however a release is divided into parts.
        self.rows.sort_unstable_by_key(presentable);
        self.rows.dedup();
        let more = self.rows.len() > TOLD_MAX || self.looked_at > LOOKED_AT_MAX;
        self.rows.truncate(TOLD_MAX);
        Match { rows: self.rows, more }
    }
}

/// The live rows that have one of the codes, and what is looked for itself.
fn gather(served: &ReleaseView, codes: BTreeSet<String>, has: impl Fn(&Part, u32) -> bool) -> Match {
    let mut found = Candidates::default();
    for code in codes {
        coded(&served.release, &code, |at, row| {
            let Some(part) = served.release.part(at).filter(|part| !part.dead().contains(row)) else {
                return ControlFlow::Continue(());
            };
            found.looked_at += 1;
            if found.looked_at > LOOKED_AT_MAX {
                return ControlFlow::Break(());
            }
            if has(part, row) {
                found.rows.push(RowAddress { part: at, row });
            }
            ControlFlow::Continue(())
        });
    }
    found.told(served)
}
