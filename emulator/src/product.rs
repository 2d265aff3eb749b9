use serde::Deserialize;
use serde_json::Value;

use crate::barcode::barcode;
use crate::catalogue::Catalogue;
use crate::generated::Scratch;

/// Product, parsed from its record in the listing. The product's own pages are written from it, so that all views
/// agree.
#[derive(Debug, Deserialize)]
pub(crate) struct Product {
    pub(crate) id: u64,
    pub(crate) title: String,
    pub(crate) handle: String,
    #[serde(default)]
    pub(crate) body_html: Option<String>,
    #[serde(default)]
    pub(crate) published_at: Option<String>,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    #[serde(default)]
    pub(crate) updated_at: Option<String>,
    #[serde(default)]
    pub(crate) vendor: Option<String>,
    #[serde(default)]
    pub(crate) product_type: Option<String>,
    #[serde(default)]
    tags: Value,
    #[serde(default)]
    pub(crate) variants: Vec<Variant>,
    #[serde(default)]
    pub(crate) images: Vec<Image>,
    #[serde(default)]
    pub(crate) options: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Variant {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) option1: Option<String>,
    #[serde(default)]
    pub(crate) option2: Option<String>,
    #[serde(default)]
    pub(crate) option3: Option<String>,
    #[serde(default)]
    pub(crate) sku: Option<String>,
    /// Barcode of the variant, which the listing's record lacks.
    #[serde(skip)]
    pub(crate) barcode: Option<String>,
    #[serde(default)]
    pub(crate) requires_shipping: bool,
    #[serde(default)]
    pub(crate) taxable: bool,
    #[serde(default)]
    pub(crate) featured_image: Option<Image>,
    #[serde(default)]
    pub(crate) available: bool,
    pub(crate) price: String,
    #[serde(default)]
    pub(crate) grams: u64,
    #[serde(default)]
    pub(crate) compare_at_price: Option<String>,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    #[serde(default)]
    pub(crate) updated_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Image {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) created_at: Option<String>,
    #[serde(default)]
    pub(crate) updated_at: Option<String>,
    #[serde(default)]
    pub(crate) variant_ids: Vec<u64>,
    pub(crate) src: String,
    #[serde(default)]
    pub(crate) width: Option<u64>,
    #[serde(default)]
    pub(crate) height: Option<u64>,
}

#[derive(Debug, Deserialize, serde::Serialize)]
pub(crate) struct Choice {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) position: u64,
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

impl Product {
    /// Reads the product at a place. Returns `None` for a recorded product that lacks a field that every view needs.
    pub(crate) fn read(catalogue: &Catalogue, place: u64, epoch: u64) -> Option<Self> {
        let mut record = Vec::new();
        catalogue.push_record(place, epoch, &mut Scratch::default(), &mut record);
        let mut product: Self = serde_json::from_slice(&record).ok()?;
        if catalogue.is_generated() {
            let persona = catalogue.persona();
            // The maker is removed from the name, because a product has the same barcode in every store.
            let maker = product.vendor.as_deref().filter(|maker| !maker.is_empty());
            let name = product.title.replace(&persona.name, " ");
            let name = maker.map_or_else(|| name.clone(), |maker| name.replace(maker, " "));
            for variant in &mut product.variants {
                variant.barcode = barcode(persona.shop_id(), &name, &variant.title);
            }
        }
        Some(product)
    }

    pub(crate) fn tags(&self) -> Vec<&str> {
        match &self.tags {
            Value::Array(tags) => tags.iter().filter_map(Value::as_str).collect(),
            Value::String(tags) => tags.split(", ").filter(|tag| !tag.is_empty()).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn available(&self) -> bool {
        self.variants.iter().any(|variant| variant.available)
    }
}

impl Variant {
    pub(crate) fn options(&self) -> Vec<&str> {
        [&self.option1, &self.option2, &self.option3]
            .into_iter()
            .filter_map(|value| value.as_deref())
            .collect()
    }

    /// True for the only variant of a product without options.
    pub(crate) fn is_default(&self) -> bool {
        self.title == "Default Title"
    }
}

/// Converts a price text to hundredths of the currency's unit, which the Ajax API uses for every currency.
pub(crate) fn hundredths(price: &str) -> Option<u64> {
    let (whole, fraction) = price.split_once('.').unwrap_or((price, ""));
    let cents: u64 = format!("{fraction:0<2}").get(..2)?.parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(cents)
}

/// Returns an image URL without its scheme: `//cdn…`.
pub(crate) fn schemeless(src: &str) -> &str {
    src.strip_prefix("https:")
        .or_else(|| src.strip_prefix("http:"))
        .unwrap_or(src)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ajax_api_counts_in_hundredths_of_any_currency() {
        assert_eq!(hundredths("499.00"), Some(49_900));
        assert_eq!(hundredths("1200"), Some(120_000));
        assert_eq!(hundredths("12.500"), Some(1_250));
        assert_eq!(hundredths("7.5"), Some(750));
        assert_eq!(hundredths("free"), None);
        assert_eq!(hundredths("99999999999999999999.00"), None);
    }
}
