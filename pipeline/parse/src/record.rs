//! Parses the fields of a record.
//!
//! A record is rejected if a required field (id, title or the list of variants) has the wrong type. A variant without
//! an id, or with a price of the wrong type, is skipped alone. Any other field of the wrong type counts as missing.

use std::borrow::Cow;

use crate::cursor::{Cursor, CursorResult, Fault};
use crate::raw::{
    BAD_VARIANTS_MAX, BARCODES_MAX, BadVariant, IMAGES_MAX, OPTION_VALUES_MAX, OPTIONS_MAX, RawImage, RawOption,
    RawProduct, RawVariant, TAGS_MAX, VARIANTS_MAX, split_tags,
};

pub(crate) fn product<'a>(cursor: &mut Cursor<'a>) -> CursorResult<RawProduct<'a>> {
    let mut product = RawProduct::default();
    let mut id = None;
    cursor.weigh_anew();
    cursor.members(|cursor, name| {
        match name {
            "id" => id = Some(cursor.id()?),
            "title" => product.title = cursor.text_or_number()?,
            "handle" => product.handle = or_none(cursor, Cursor::text_or_number)?,
            "body_html" => product.body_html = or_none(cursor, Cursor::text)?,
            "vendor" => product.vendor = or_none(cursor, Cursor::text)?,
            "product_type" => product.product_type = or_none(cursor, Cursor::text)?,
            "tags" => product.tags = or_none(cursor, tags)?,
            // Options are matched by position, so that skipping one would assign its neighbours' values to the wrong
            // options.
            "options" => product.options = or_none(cursor, |cursor| list(cursor, OPTIONS_MAX, option))?.0,
            "variants" => variants(cursor, &mut product)?,
            "images" => product.images = or_none(cursor, |cursor| good_ones(cursor, IMAGES_MAX, image))?,
            "created_at" => product.created_at = or_none(cursor, Cursor::text)?,
            "published_at" => product.published_at = or_none(cursor, Cursor::text)?,
            "updated_at" => product.updated_at = or_none(cursor, Cursor::text)?,
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    })?;
    product.id = id.ok_or_else(|| Fault::new("missing").under("id"))?;
    // A list of the wrong type counts as missing, but lists that are too long make the whole record bad.
    cursor.weigh(0)?;
    Ok(product)
}

/// Returns the id of a product or variant record, even if the record is otherwise bad.
pub(crate) fn product_id(record: &str) -> Option<u64> {
    let mut id = None;
    // A later fault does not discard the id.
    Cursor::new(record)
        .members(|cursor, name| {
            if name == "id" {
                id = cursor.clone().id().ok();
            }
            cursor.skip().map(|_| ())
        })
        .ok();
    id
}

/// An unreadable variant is skipped and listed.
fn variants<'a>(cursor: &mut Cursor<'a>, product: &mut RawProduct<'a>) -> CursorResult<()> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let stated = cursor.items(|cursor, index| {
        if index >= VARIANTS_MAX {
            return cursor.skip().map(|_| ());
        }
        cursor.weigh(size_of::<RawVariant<'_>>())?;
        let mut behind = cursor.clone();
        if let Err(fault) = variant(cursor, &mut good) {
            let text = behind.skip()?;
            cursor.go_to(&behind);
            if bad.len() < BAD_VARIANTS_MAX {
                bad.push(BadVariant {
                    id: product_id(text),
                    position: index + 1,
                    reason: fault.to_string(),
                });
            }
        }
        Ok(())
    })?;
    (product.variants, product.variants_stated, product.bad_variants) = (good, stated, bad);
    Ok(())
}

fn variant<'a>(cursor: &mut Cursor<'a>, variants: &mut Vec<RawVariant<'a>>) -> CursorResult<()> {
    let mut variant = RawVariant::default();
    let mut id = None;
    let mut barcodes = Vec::new();
    cursor.members(|cursor, name| {
        match name {
            "id" => id = Some(cursor.id()?),
            "title" => variant.title = or_none(cursor, Cursor::text_or_number)?,
            "option1" => variant.options[0] = or_none(cursor, Cursor::text_or_number)?,
            "option2" => variant.options[1] = or_none(cursor, Cursor::text_or_number)?,
            "option3" => variant.options[2] = or_none(cursor, Cursor::text_or_number)?,
            "sku" => variant.sku = or_none(cursor, Cursor::text_or_number)?,
            "barcode" => variant.barcode = or_none(cursor, Cursor::text_or_number)?,
            "barcodes" => barcodes = or_none(cursor, |cursor| good_ones(cursor, BARCODES_MAX, text_or_number))?,
            "price" => variant.price = cursor.text_or_number()?,
            "compare_at_price" => variant.compare_at_price = or_none(cursor, Cursor::text_or_number)?,
            "available" => variant.available = or_none(cursor, Cursor::flag)?,
            "grams" => variant.grams = or_none(cursor, Cursor::count)?,
            "position" => variant.position = or_none(cursor, Cursor::count)?,
            "featured_image" => variant.featured_image = or_none(cursor, featured_image)?.map(Box::new),
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    })?;
    variant.id = id.ok_or_else(|| Fault::new("missing").under("id"))?;
    // A variant has one barcode. If the store lists several, the first non-empty one is used.
    let stated = variant.barcode.take().into_iter().chain(barcodes);
    variant.barcode = stated.into_iter().find(|barcode| !barcode.trim().is_empty());
    variants.push(variant);
    Ok(())
}

fn image<'a>(cursor: &mut Cursor<'a>, images: &mut Vec<RawImage<'a>>) -> CursorResult<()> {
    images.extend(one_image(cursor, true)?);
    Ok(())
}

/// Parses a variant's own image without its variants, because the product's images list them.
fn featured_image<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Option<RawImage<'a>>> {
    cursor.weigh(size_of::<RawImage<'_>>())?;
    one_image(cursor, false)
}

/// An image is an object, or only its URL. Returns `None` for null.
fn one_image<'a>(cursor: &mut Cursor<'a>, with_variants: bool) -> CursorResult<Option<RawImage<'a>>> {
    let mut image = RawImage::default();
    match cursor.peek() {
        Some(b'"') => image.src = cursor.text()?,
        _ if cursor.null() => return Ok(None),
        _ => cursor.members(|cursor, name| {
            match name {
                "src" => image.src = cursor.text()?,
                "alt" => image.alt = or_none(cursor, Cursor::text)?,
                "position" => image.position = or_none(cursor, Cursor::count)?,
                "width" => image.width = or_none(cursor, Cursor::count)?,
                "height" => image.height = or_none(cursor, Cursor::count)?,
                "variant_ids" if with_variants => {
                    image.variant_ids = or_none(cursor, |cursor| good_ones(cursor, VARIANTS_MAX, id))?
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Ok(())
        })?,
    }
    Ok(Some(image))
}

/// An option is an object, or only its name.
fn option<'a>(cursor: &mut Cursor<'a>, options: &mut Vec<RawOption<'a>>) -> CursorResult<()> {
    let mut option = RawOption::default();
    if cursor.peek() == Some(b'"') {
        option.name = cursor.text()?;
    } else {
        cursor.members(|cursor, name| {
            match name {
                "name" => option.name = cursor.text_or_number()?,
                "position" => option.position = or_none(cursor, Cursor::count)?,
                "values" => option.values = good_ones(cursor, OPTION_VALUES_MAX, text_or_number)?,
                _ => {
                    cursor.skip()?;
                }
            }
            Ok(())
        })?;
    }
    options.push(option);
    Ok(())
}

/// Tags are a list of texts, or one text with commas.
fn tags<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Vec<Cow<'a, str>>> {
    if cursor.peek() != Some(b'"') {
        return good_ones(cursor, TAGS_MAX, text_or_number);
    }
    Ok(match cursor.text()?.unwrap_or_default() {
        Cow::Borrowed(joined) => split_tags(joined).map(Cow::Borrowed).collect(),
        Cow::Owned(joined) => split_tags(&joined).map(|tag| Cow::Owned(tag.to_owned())).collect(),
    })
}

fn text_or_number<'a>(cursor: &mut Cursor<'a>, texts: &mut Vec<Cow<'a, str>>) -> CursorResult<()> {
    texts.extend(cursor.text_or_number()?);
    Ok(())
}

fn id(cursor: &mut Cursor<'_>, ids: &mut Vec<u64>) -> CursorResult<()> {
    ids.push(cursor.id()?);
    Ok(())
}

/// Parses the value at the cursor with `read`. A value of another type is skipped and gives the default.
fn or_none<'a, T: Default>(
    cursor: &mut Cursor<'a>,
    read: impl FnOnce(&mut Cursor<'a>) -> CursorResult<T>,
) -> CursorResult<T> {
    let mut behind = cursor.clone();
    let Ok(value) = read(cursor) else {
        behind.skip()?;
        cursor.go_to(&behind);
        return Ok(T::default());
    };
    Ok(value)
}

/// Returns the items of the right type among the first `limit` items of a list.
fn good_ones<'a, T>(
    cursor: &mut Cursor<'a>,
    limit: usize,
    read: impl Fn(&mut Cursor<'a>, &mut Vec<T>) -> CursorResult<()>,
) -> CursorResult<Vec<T>> {
    list(cursor, limit, |cursor, good| {
        or_none(cursor, |cursor| read(cursor, good))
    })
    .map(|(good, _)| good)
}

/// Returns the first `limit` items of a list, and the number of all items.
fn list<'a, T>(
    cursor: &mut Cursor<'a>,
    limit: usize,
    read: impl Fn(&mut Cursor<'a>, &mut Vec<T>) -> CursorResult<()>,
) -> CursorResult<(Vec<T>, usize)> {
    let mut list = Vec::new();
    let stated = cursor.items(|cursor, index| {
        if index < limit {
            cursor.weigh(size_of::<T>())?;
            read(cursor, &mut list)
        } else {
            cursor.skip().map(|_| ())
        }
    })?;
    Ok((list, stated))
}
