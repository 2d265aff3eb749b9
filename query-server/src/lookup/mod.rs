//! Exact lookup of products by external names: a SKU, a brand's handle, or the URL of the product page at its store.
//!
//! Input: one URL, SKU or handle. Output: the rows that have exactly this name. The text index, which every release
//! has, returns candidates by their codes. The details of a candidate show if the product has this name.

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

/// Maximum number of candidates to check for one name. A SKU such as `1` has more candidates.
const LOOKED_AT_MAX: usize = 2_000;
/// Maximum number of products returned for one name.
const TOLD_MAX: usize = 20;
/// Suffixes of a product page in other formats.
const FORMS: [&str; 3] = [".js", ".json", ".oembed"];

/// Name by which a product is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LookupKey {
    /// URL of the product's page at its store.
    Url(String),
    /// SKU of a variant.
    Sku(String),
    /// Handle of the product in the brand's URLs.
    Handle(String),
}

impl LookupKey {
    /// Names of the three kinds of keys in requests and answers.
    pub const NAMES: [&'static str; 3] = ["url", "sku", "handle"];

    pub(crate) fn told(&self) -> (&'static str, &str) {
        let [url, sku, handle] = Self::NAMES;
        match self {
            Self::Url(text) => (url, text),
            Self::Sku(text) => (sku, text),
            Self::Handle(text) => (handle, text),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Match {
    /// Rows that match, the most presentable first.
    pub(crate) rows: Vec<RowAddress>,
    /// True if there are or may be more matching products.
    pub(crate) more: bool,
}

/// Looks up a product. A handle is searched at `brand`, a position among the release's brands. With `brand`, a SKU is
/// searched only at this brand. A URL names its brand itself.
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

/// Looks up a handle. Composed, decomposed, escaped and unescaped spellings are equal.
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
    // A text without letters and digits has no code in the index.
    let mut found = Candidates::default();
    for (at, part) in (0..).zip(served.release.parts()) {
        for row in (0..part.rows()).filter(|row| !part.dead().contains(*row) && has(part, *row)) {
            found.rows.push(RowAddress { part: at, row });
        }
    }
    found.told(served)
}

/// Returns a text without escapes, in the composed form of Unicode (NFC).
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
        // The order does not depend on how the release is divided into parts.
        self.rows.sort_unstable_by_key(presentable);
        self.rows.dedup();
        let more = self.rows.len() > TOLD_MAX || self.looked_at > LOOKED_AT_MAX;
        self.rows.truncate(TOLD_MAX);
        Match { rows: self.rows, more }
    }
}

/// Adds the live rows that have one of the codes and pass the exact check `has`.
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
