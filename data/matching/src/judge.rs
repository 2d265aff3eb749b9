use data_model::Gtin;
use rustc_hash::FxHashSet;

use crate::amounts::Amounts;
use crate::item::Item;
use crate::judgement::{Basis, CONFIDENCE_MIN, Judgement, Reason, Veto};
use crate::reading::Reading;
use crate::variants::{self, Needs, Places};
use crate::wording::Wording;

/// Maximum ratio of the prices of two matching products of one maker.
const PRICE_RATIO_MAX: f64 = 2.0;
/// Maximum price ratio for products with little data, or if only one has a property that could distinguish them. Such a
/// pair also needs two known prices.
const PRICE_RATIO_UNSURE: f64 = 1.25;
/// Maximum price ratio if an amount, such as a strength, could distinguish the products but only one product has it.
const PRICE_RATIO_AMOUNT: f64 = 1.15;

/// Compares two products of different stores. `similarity` is the cosine of their vectors, if they have any.
///
/// # Errors
/// The reason why the products do not match.
pub fn judge(one: &Item<'_>, other: &Item<'_>, similarity: Option<f32>) -> Result<Judgement, Veto> {
    compare(&Reading::of(one), &Reading::of(other), similarity)
}

/// The products were parsed before.
pub(crate) fn compare(one: &Reading, other: &Reading, similarity: Option<f32>) -> Result<Judgement, Veto> {
    if one.pack != other.pack || !variants::share_pack(one, other) {
        return Err(Veto::Pack);
    }
    let amounts = Amounts::of(one, other)?;
    let maker = maker(one, other);
    if let Some((places, number)) = variants::by_barcode(one, other) {
        return by_barcode(one, other, places, number, &amounts, maker);
    }
    let maker = maker.ok_or(Veto::Maker)?;
    if has_other_barcode(one, other) {
        return Err(Veto::Barcode);
    }
    if amounts.is_strength_unknown {
        return Err(Veto::Quantity);
    }
    if traits_differ(one, other) || one.whom.is_other(other.whom) {
        return Err(Veto::Trait);
    }
    let words = Wording::of(one, other);
    let model = variants::by_model(one, other);
    let share = words.share_with(usize::from(amounts.are_same));
    // A style has the same stock keeping unit in all colours.
    if let Some((places, sku)) = model
        && share >= 0.6
        && !words.versions_differ()
        && !words.clash()
    {
        return by_model(one, other, places, sku, maker, &words);
    }
    by_title(one, other, maker, &words, &amounts, similarity)
}

fn by_barcode(
    one: &Reading,
    other: &Reading,
    places: Option<Places>,
    number: Gtin,
    amounts: &Amounts,
    maker: Option<CommonMaker>,
) -> Result<Judgement, Veto> {
    let words = Wording::of(one, other);
    // Barcodes are sometimes mistyped or invented, so that something else must agree.
    if (words.same == 0 && maker.is_none()) || words.numbers_clash() {
        return Err(Veto::Words);
    }
    // A listing copied from another product may still have that product's barcode.
    if one.whom.is_other(other.whom) {
        return Err(Veto::Trait);
    }
    let mut reasons = vec![Reason::Barcode(number)];
    reasons.extend(maker.map(|made| Reason::Brand(made.name)));
    reasons.extend(amounts.are_same.then_some(Reason::Quantity));
    Ok(Judgement {
        confidence: if words.share() >= 0.5 { 0.99 } else { 0.95 },
        basis: Basis::Barcode,
        reasons,
        variants: ids(one, other, places),
    })
}

fn by_model(
    one: &Reading,
    other: &Reading,
    places: Places,
    sku: &str,
    maker: CommonMaker,
    words: &Wording<'_>,
) -> Result<Judgement, Veto> {
    let ratio = price_ratio(one, other, Some(places));
    if ratio.is_some_and(|ratio| ratio > PRICE_RATIO_MAX) {
        return Err(Veto::Price);
    }
    let mut reasons = vec![Reason::Model(sku.to_owned()), Reason::Brand(maker.name)];
    reasons.push(words.reason());
    Ok(Judgement {
        confidence: 0.95,
        basis: Basis::Model,
        reasons,
        variants: ids(one, other, Some(places)),
    })
}

fn by_title(
    one: &Reading,
    other: &Reading,
    maker: CommonMaker,
    words: &Wording<'_>,
    amounts: &Amounts,
    similarity: Option<f32>,
) -> Result<Judgement, Veto> {
    let doubts = words.doubts().ok_or(Veto::Words)?;
    let told = words.same + usize::from(amounts.are_same);
    // A maker's name that was found only at the start of one title may be another word, so that more evidence is
    // required.
    if told < if maker.is_stated { 2 } else { 3 } {
        return Err(Veto::Thin);
    }
    // `Velvet Rose`, for example, is a lipstick and a candle.
    if told <= 3 && one.is_of_other_kind(other) {
        return Err(Veto::Trait);
    }
    let needs = (words.needs(0), words.needs(1));
    let needs = Needs {
        one: &needs.0,
        other: &needs.1,
    };
    if !variants::are_offered(one, other, needs) {
        return Err(Veto::Trait);
    }
    let places = variants::alike(one, other, needs);
    if places.is_some_and(|places| barcodes_differ(one, other, places)) {
        return Err(Veto::Barcode);
    }
    let ratio = price_ratio(one, other, places);
    let is_unsure = words.has_purpose() || words.has_container() || told == 2 || !maker.is_stated;
    let most = match (amounts.unknown > 0, is_unsure) {
        (true, _) => PRICE_RATIO_AMOUNT,
        (false, true) => PRICE_RATIO_UNSURE,
        (false, false) => PRICE_RATIO_MAX,
    };
    // Without comparable prices, an unsure pair remains unsure.
    if ratio.map_or(most < PRICE_RATIO_MAX, |ratio| ratio > most) {
        return Err(Veto::Price);
    }
    let mut confidence = 0.95 - doubts;
    confidence -= 0.06 * amounts.unknown as f32;
    confidence -= if maker.is_stated { 0.0 } else { 0.04 };
    confidence -= if told == 2 { 0.03 } else { 0.0 };
    let is_same_price = ratio.is_some_and(|ratio| ratio <= 1.1);
    confidence += match ratio {
        Some(ratio) if ratio > 1.6 => -0.08,
        Some(_) if is_same_price => 0.02,
        _ => 0.0,
    };
    confidence += match similarity {
        Some(cosine) if cosine < 0.5 => -0.1,
        Some(cosine) if cosine >= 0.9 => 0.01,
        _ => 0.0,
    };
    if confidence < CONFIDENCE_MIN {
        return Err(Veto::Doubt);
    }
    let mut reasons = vec![Reason::Brand(maker.name), words.reason()];
    reasons.extend(words.spelt().map(|word| Reason::Spelling(word.to_owned())));
    reasons.extend(words.stated().map(|word| Reason::Attribute(word.to_owned())));
    reasons.extend(amounts.are_same.then_some(Reason::Quantity));
    reasons.extend(is_same_price.then_some(Reason::Price));
    reasons.extend(similarity.filter(|cosine| *cosine >= 0.8).map(Reason::Meaning));
    Ok(Judgement {
        confidence,
        basis: Basis::Title,
        reasons,
        variants: ids(one, other, places),
    })
}

fn ids(one: &Reading, other: &Reading, places: Option<Places>) -> Option<(u64, u64)> {
    let (mine, theirs) = places?;
    Some((one.variants.get(mine)?.id, other.variants.get(theirs)?.id))
}

/// Returns the higher price divided by the lower, or `None` if the prices cannot be compared.
fn price_ratio(one: &Reading, other: &Reading, places: Option<Places>) -> Option<f64> {
    if one.currency != other.currency {
        return None;
    }
    let of = |reading: &Reading, place: Option<usize>| match place {
        Some(place) => reading.variants.get(place)?.price_minor,
        None => reading.price_minor,
    };
    let mine = of(one, places.map(|places| places.0))? as f64;
    let theirs = of(other, places.map(|places| places.1))? as f64;
    Some(mine.max(theirs) / mine.min(theirs))
}

/// Returns `true` if both products have a single variant with a barcode and the barcodes differ.
fn has_other_barcode(one: &Reading, other: &Reading) -> bool {
    let ([mine], [theirs]) = (one.variants.as_slice(), other.variants.as_slice()) else {
        return false;
    };
    matches!((mine.barcode, theirs.barcode), (Some(mine), Some(theirs)) if mine != theirs)
}

/// Returns `true` if equivalent variants have different barcodes.
fn barcodes_differ(one: &Reading, other: &Reading, (mine, theirs): Places) -> bool {
    let barcode = |reading: &Reading, at: usize| reading.variants.get(at)?.barcode;
    matches!((barcode(one, mine), barcode(other, theirs)), (Some(mine), Some(theirs)) if mine != theirs)
}

/// Returns `true` if both products state a colour, flavour, size or other trait and no value agrees. Words of a title
/// need not occur in the other product's value.
fn traits_differ(one: &Reading, other: &Reading) -> bool {
    let rest_is_said = |value: &FxHashSet<String>, than: &FxHashSet<String>| {
        value.difference(than).all(|word| one.has(word) || other.has(word))
    };
    one.traits.iter().any(|(kind, mine)| {
        let Some((_, theirs)) = other.traits.iter().find(|(other, _)| other == kind) else {
            return false;
        };
        let is_one = |mine: &FxHashSet<String>, theirs: &FxHashSet<String>| {
            !mine.is_disjoint(theirs)
                && (!kind.is_whole() || (rest_is_said(mine, theirs) && rest_is_said(theirs, mine)))
        };
        !mine.iter().any(|mine| theirs.iter().any(|theirs| is_one(mine, theirs)))
    })
}

#[derive(Debug)]
struct CommonMaker {
    name: String,
    /// `true` if both stores state the maker, and `false` if it comes from the start of one title.
    is_stated: bool,
}

fn maker(one: &Reading, other: &Reading) -> Option<CommonMaker> {
    let stated = one
        .makers
        .iter()
        .find(|mine| other.makers.iter().any(|theirs| mine.is_same(theirs)));
    if let Some(maker) = stated {
        return Some(CommonMaker {
            name: maker.short.clone(),
            is_stated: true,
        });
    }
    begins(one, other)
        .or_else(|| begins(other, one))
        .map(|name| CommonMaker { name, is_stated: false })
}

/// Returns the maker of `one` if the title of `other` begins with the maker's name and the store of `other` names no
/// different maker.
fn begins(one: &Reading, other: &Reading) -> Option<String> {
    let is_named = |name: &String| other.beginnings.contains(name);
    let found = one
        .makers
        .iter()
        .find(|maker| is_named(&maker.full) || is_named(&maker.short));
    found.filter(|_| other.names_itself).map(|maker| maker.short.clone())
}
