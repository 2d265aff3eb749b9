use data_model::StatedBarcode;
use serde_json::{Map, Value};

use crate::nodes::one_or_many;

/// Maximum number of barcodes on one page. Shopify shows as many variants on one page.
const BARCODES_MAX: usize = 250;
const BARCODE_BYTES_MAX: usize = 64;
const SKU_BYTES_MAX: usize = 255;

/// JSON-LD keys for a barcode, each with the number of digits to which a numeric value is padded. 0 means no padding.
const NAMES: [(&str, usize); 5] = [
    ("gtin13", 13),
    ("gtin12", 12),
    ("gtin14", 14),
    ("gtin8", 8),
    ("gtin", 0),
];

/// Adds the barcodes of a product on the page: its own and those of its offers.
pub(crate) fn add(product: &Map<String, Value>, found: &mut Vec<StatedBarcode>) {
    let offers = || {
        let offers = product.get("offers").into_iter().flat_map(one_or_many);
        // An aggregate offer contains its single offers.
        offers.flat_map(|offer| std::iter::once(offer).chain(offer.get("offers").into_iter().flat_map(one_or_many)))
    };
    if let Some(barcode) = barcode(product) {
        let mut variants = offers().filter_map(Value::as_object).filter_map(variant);
        let alone = variants.next().filter(|_| variants.next().is_none());
        push(found, variant(product).or(alone), sku(product), barcode);
    }
    for offer in offers().filter_map(Value::as_object) {
        if let Some(barcode) = barcode(offer) {
            push(found, variant(offer).or_else(|| variant(product)), sku(offer), barcode);
        }
    }
}

fn push(found: &mut Vec<StatedBarcode>, variant: Option<u64>, sku: Option<String>, barcode: String) {
    let one = StatedBarcode { variant, sku, barcode };
    if found.len() < BARCODES_MAX && !found.contains(&one) {
        found.push(one);
    }
}

fn barcode(node: &Map<String, Value>) -> Option<String> {
    NAMES.into_iter().find_map(|(name, digits)| {
        let stated = match node.get(name)? {
            Value::String(text) => text.trim().to_owned(),
            // A JSON number has lost its leading zeros.
            Value::Number(number) => format!("{:0digits$}", number.as_u64()?),
            _ => return None,
        };
        let is_plain = stated.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        (is_plain && !stated.is_empty() && stated.len() <= BARCODE_BYTES_MAX).then_some(stated)
    })
}

fn sku(node: &Map<String, Value>) -> Option<String> {
    let sku = node.get("sku")?.as_str()?;
    (!sku.trim().is_empty() && sku.len() <= SKU_BYTES_MAX).then(|| sku.to_owned())
}

/// Returns the variant id in a node's URL, such as `/products/tea?variant=123#offer`.
fn variant(node: &Map<String, Value>) -> Option<u64> {
    ["@id", "url"].into_iter().find_map(|name| {
        let (_, behind) = node.get(name)?.as_str()?.split_once('?')?;
        let query = behind.split('#').next()?;
        let value = query.split('&').find_map(|pair| pair.strip_prefix("variant="))?;
        value.parse().ok()
    })
}
