use super::body::push_body;
use super::dice::Dice;
use super::moment::{EPOCH_ZERO_S, epoch_s, push_moment};
use super::sketch::Sketch;
use crate::json::{push_amount, push_bool, push_inner, push_number, push_optional, push_text};

/// Text buffers that are reused for each product of a page.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    title: String,
    handle: String,
    body: String,
    offset_text: &'static str,
}

/// Form of a product's list price (`compare_at_price`), at the rates of recorded stores.
#[derive(Debug, Clone, Copy)]
enum Compare {
    Null,
    Zero,
    /// The list price is at most the price, so there is no markdown.
    NotAbove,
    /// The list price is this percentage above the price.
    Above(u64),
}

struct Dates {
    created_s: u64,
    updated_s: u64,
}

/// Appends the product's record in the format of `/products.json`.
pub(crate) fn push_record(sketch: &Sketch<'_>, base_url_escaped: &str, scratch: &mut Scratch, out: &mut Vec<u8>) {
    scratch.title.clear();
    scratch.handle.clear();
    scratch.body.clear();
    scratch.offset_text = sketch.persona.coin.offset;
    sketch.push_title(&mut scratch.title);
    sketch.push_handle(&scratch.title, &mut scratch.handle);
    let id = sketch.ordinal.product_id();
    let dates = dates(sketch);
    raw(out, "{\"id\":");
    push_number(out, id);
    raw(out, ",\"title\":");
    push_text(out, &scratch.title);
    raw(out, ",\"handle\":");
    push_text(out, &scratch.handle);
    raw(out, ",\"body_html\":");
    let body = push_body(sketch, &scratch.title, &mut scratch.body);
    push_optional(out, body.map(|()| scratch.body.as_str()));
    moment(out, ",\"published_at\":\"", dates.created_s + 311, scratch);
    moment(out, ",\"created_at\":\"", dates.created_s, scratch);
    moment(out, ",\"updated_at\":\"", dates.updated_s, scratch);
    raw(out, ",\"vendor\":");
    push_text(out, &sketch.maker().name);
    raw(out, ",\"product_type\":");
    let blank = sketch.persona.blank_types || sketch.dice(0x5459).chance(150);
    push_text(out, if blank { "" } else { sketch.kind.product_type });
    raw(out, ",\"tags\":[");
    push_tags(sketch, out);
    raw(out, "],\"variants\":[");
    push_variants(sketch, base_url_escaped, id, &dates, scratch, out);
    raw(out, "],\"images\":[");
    for nth in 0..sketch.picture_count() {
        if nth > 0 {
            out.push(b',');
        }
        push_image(sketch, base_url_escaped, id, nth, &dates, scratch, false, out);
    }
    raw(out, "],\"options\":[");
    push_options(sketch, out);
    raw(out, "]}");
}

fn dates(sketch: &Sketch<'_>) -> Dates {
    let mut dice = sketch.dice(0x4441);
    let second = dice.below(86_400);
    let created_s = if sketch.born > 0 {
        epoch_s(sketch.born, second)
    } else {
        EPOCH_ZERO_S - dice.between(3 * 86_400, 1_200 * 86_400)
    };
    let updated_s = if sketch.since > 0 {
        epoch_s(sketch.since, second)
    } else {
        EPOCH_ZERO_S - dice.below(2 * 86_400)
    };
    Dates {
        created_s,
        updated_s: updated_s.max(created_s),
    }
}

fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn moment(out: &mut Vec<u8>, key: &str, local_s: u64, scratch: &Scratch) {
    raw(out, key);
    push_moment(out, local_s, scratch.offset_text);
    out.push(b'"');
}

fn push_tags(sketch: &Sketch<'_>, out: &mut Vec<u8>) {
    let mut dice = sketch.dice(0x5441);
    if dice.chance(100) {
        return;
    }
    push_text(out, sketch.kind.product_type);
    out.push(b',');
    push_text(out, sketch.form());
    if sketch.maker().trade.coloured {
        raw(out, ",\"color:");
        push_inner(out, sketch.colour().name.as_bytes());
        out.push(b'"');
    }
    const TAGS: &[&str] = &[
        "new-arrivals",
        "bestseller",
        "TAX_5",
        "not_express",
        "Collection_Summer",
        "_badge_New",
        "gifting",
        "under-999",
        "sustainable",
        "handmade",
        "festive edit",
        "Diwali 2026",
        "wh_BLR",
        "no-returns",
    ];
    let (count, start) = (dice.below(5), dice.below(TAGS.len() as u64));
    for nth in 0..count {
        out.push(b',');
        push_text(out, TAGS[((start + nth * 3) % TAGS.len() as u64) as usize]);
    }
}

fn compare(sketch: &Sketch<'_>) -> Compare {
    let mut dice = Dice::of(&[sketch.identity, 0x434f, sketch.price_step]);
    match dice.below(100) {
        0..=3 => Compare::Zero,
        4..=11 => Compare::NotAbove,
        12..=22 => Compare::Above(dice.between(6, 90)),
        _ => Compare::Null,
    }
}

fn push_variants(sketch: &Sketch<'_>, base: &str, id: u64, dates: &Dates, scratch: &Scratch, out: &mut Vec<u8>) {
    let mut dice = sketch.dice(0x5641);
    let mut stock = Dice::of(&[sketch.identity, 0x5354, sketch.stock_step]);
    let (first_minor, compare) = (sketch.price_minor(), compare(sketch));
    let sold_out = stock.chance(110);
    let sku = dice.below(100);
    let grams = if dice.chance(100) { 0 } else { dice.between(1, 40) * 50 };
    let taxable = !dice.chance(30);
    for nth in 0..sketch.variant_count() {
        if nth > 0 {
            out.push(b',');
        }
        let values = values(sketch, nth);
        raw(out, "{\"id\":");
        push_number(out, sketch.ordinal.variant_id(nth));
        raw(out, ",\"title\":");
        push_variant_title(&values, out);
        for (key, value) in [",\"option1\":", ",\"option2\":", ",\"option3\":"].iter().zip(values) {
            raw(out, key);
            push_optional(out, value);
        }
        raw(out, ",\"sku\":");
        push_sku(sketch, sku, nth, out);
        raw(out, ",\"requires_shipping\":true,\"taxable\":");
        push_bool(out, taxable);
        raw(out, ",\"featured_image\":");
        push_featured(sketch, base, id, nth, dates, scratch, out);
        raw(out, ",\"available\":");
        push_bool(out, !sold_out && !stock.chance(80));
        push_prices(sketch, price_of(sketch, first_minor, nth), compare, grams, out);
        raw(out, ",\"position\":");
        push_number(out, nth as u64 + 1);
        raw(out, ",\"product_id\":");
        push_number(out, id);
        moment(out, ",\"created_at\":\"", dates.created_s, scratch);
        moment(out, ",\"updated_at\":\"", dates.updated_s, scratch);
        out.push(b'}');
    }
}

/// Returns the option values of the `nth` variant. The last option varies fastest.
fn values(sketch: &Sketch<'_>, nth: usize) -> [Option<&'static str>; 3] {
    match sketch.axes.as_slice() {
        [] => [Some("Default Title"), None, None],
        [one] => [one.values.get(nth).copied(), None, None],
        [one, two, ..] => {
            let width = two.values.len().max(1);
            [
                one.values.get(nth / width).copied(),
                two.values.get(nth % width).copied(),
                None,
            ]
        }
    }
}

fn push_variant_title(values: &[Option<&'static str>; 3], out: &mut Vec<u8>) {
    out.push(b'"');
    for (nth, value) in values.iter().flatten().enumerate() {
        if nth > 0 {
            raw(out, " \\/ ");
        }
        push_inner(out, value.as_bytes());
    }
    out.push(b'"');
}

/// Returns the price of the `nth` variant. Larger packs cost more.
fn price_of(sketch: &Sketch<'_>, first_minor: u64, nth: usize) -> u64 {
    let Some(axis) = sketch.axes.first() else {
        return first_minor;
    };
    let width = sketch.axes.get(1).map_or(1, |second| second.values.len().max(1));
    let step = (nth / width) as u64;
    if axis.rise_pct == 0 || step == 0 || first_minor == 0 {
        return first_minor;
    }
    let unit = if sketch.persona.coin.decimals == 0 { 10 } else { 100 };
    (first_minor * (100 + axis.rise_pct * step) / 100).div_ceil(unit) * unit
}

fn push_prices(sketch: &Sketch<'_>, price_minor: u64, compare: Compare, grams: u64, out: &mut Vec<u8>) {
    let decimals = sketch.persona.coin.decimals;
    raw(out, ",\"price\":\"");
    push_amount(out, price_minor, decimals);
    raw(out, "\",\"grams\":");
    push_number(out, grams);
    raw(out, ",\"compare_at_price\":");
    let unit = 10_u64.pow(decimals);
    let minor = match compare {
        Compare::Null => None,
        Compare::Zero => Some(0),
        Compare::NotAbove => Some(if price_minor.is_multiple_of(3) {
            price_minor
        } else {
            price_minor / 2
        }),
        Compare::Above(pct) => Some((price_minor * (100 + pct) / 100).div_ceil(unit) * unit + unit),
    };
    match minor {
        None => raw(out, "null"),
        Some(minor) => {
            out.push(b'"');
            push_amount(out, minor, decimals);
            out.push(b'"');
        }
    }
}

fn push_sku(sketch: &Sketch<'_>, roll: u64, nth: usize, out: &mut Vec<u8>) {
    match roll {
        0..=17 => raw(out, "null"),
        18..=21 => raw(out, "\"\""),
        _ => {
            out.push(b'"');
            let letters = sketch.persona.slug.bytes().filter(u8::is_ascii_alphabetic).take(3);
            out.extend(letters.map(|letter| letter.to_ascii_uppercase()));
            out.push(b'-');
            push_number(out, sketch.ordinal.product_id() % 10_000_000);
            out.push(b'-');
            push_number(out, nth as u64 + 1);
            out.push(b'"');
        }
    }
}

/// Returns the index of the colour option whose values have pictures of their own.
fn pictured_by_colour(sketch: &Sketch<'_>) -> Option<usize> {
    let axis = sketch.axes.iter().position(super::options::Axis::is_colour)?;
    (sketch.picture_count() > 0).then_some(axis)
}

fn picture_of(sketch: &Sketch<'_>, nth: usize) -> Option<usize> {
    let axis = pictured_by_colour(sketch)?;
    let width = if axis == 0 {
        sketch.axes.get(1).map_or(1, |second| second.values.len())
    } else {
        1
    };
    Some((nth / width.max(1)) % sketch.axes[axis].values.len().max(1) % sketch.picture_count().max(1))
}

fn push_featured(
    sketch: &Sketch<'_>,
    base: &str,
    id: u64,
    nth: usize,
    dates: &Dates,
    scratch: &Scratch,
    out: &mut Vec<u8>,
) {
    match picture_of(sketch, nth) {
        Some(picture) => push_image(sketch, base, id, picture, dates, scratch, true, out),
        None => raw(out, "null"),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the image stands in two places of one record, with the same facts"
)]
fn push_image(
    sketch: &Sketch<'_>,
    base: &str,
    id: u64,
    nth: usize,
    dates: &Dates,
    scratch: &Scratch,
    featured: bool,
    out: &mut Vec<u8>,
) {
    raw(out, "{\"id\":");
    push_number(out, sketch.ordinal.image_id(nth));
    moment(out, ",\"created_at\":\"", dates.created_s + 60, scratch);
    raw(out, ",\"position\":");
    push_number(out, nth as u64 + 1);
    moment(out, ",\"updated_at\":\"", dates.created_s + 62, scratch);
    raw(out, ",\"product_id\":");
    push_number(out, id);
    raw(out, ",\"variant_ids\":[");
    let mut first = true;
    if pictured_by_colour(sketch).is_some() {
        for variant in (0..sketch.variant_count()).filter(|variant| picture_of(sketch, *variant) == Some(nth)) {
            if !first {
                out.push(b',');
            }
            first = false;
            push_number(out, sketch.ordinal.variant_id(variant));
        }
    }
    raw(out, "],\"src\":\"");
    raw(out, base);
    raw(out, "\\/cdn\\/shop\\/files\\/");
    raw(out, &scratch.handle);
    out.push(b'_');
    push_number(out, nth as u64 + 1);
    raw(out, ".svg?v=");
    push_number(out, dates.created_s + 60);
    raw(out, "\",\"width\":1200,\"height\":1200");
    if featured {
        raw(out, ",\"alt\":");
        push_optional(out, sketch.identity.is_multiple_of(3).then_some(scratch.title.as_str()));
    }
    out.push(b'}');
}

fn push_options(sketch: &Sketch<'_>, out: &mut Vec<u8>) {
    if sketch.axes.is_empty() {
        raw(
            out,
            "{\"name\":\"Title\",\"position\":1,\"values\":[\"Default Title\"]}",
        );
        return;
    }
    for (nth, axis) in sketch.axes.iter().enumerate() {
        raw(out, if nth > 0 { ",{\"name\":" } else { "{\"name\":" });
        push_text(out, axis.name);
        raw(out, ",\"position\":");
        push_number(out, nth as u64 + 1);
        raw(out, ",\"values\":[");
        for (nth, value) in axis.values.iter().enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            push_text(out, value);
        }
        raw(out, "]}");
    }
}
