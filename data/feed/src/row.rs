use data_model::{Brand, Gtin, MediaKind, Money, Product, ShippingPolicy, Variant, VariantId};
use serde::Serialize;

use crate::attributes::{AttributeBounds, OptionName, age_group, gender, option_names, several, size};
use crate::shipping::Terms;
use crate::text::{cut, line, page, short, web};

/// Maximum number of characters of a text. Longer texts are truncated.
const TITLE_CHARS_MAX: usize = 150;
const DESCRIPTION_CHARS_MAX: usize = 5000;
const PRODUCT_TYPE_CHARS_MAX: usize = 750;
/// Maximum number of characters of a name or number. Longer values are left out, because a part would be another value.
const NAME_CHARS_MAX: usize = 70;
const IMAGES_MAX: usize = 10;

/// Seller of a product.
#[derive(Debug, Clone, Copy)]
pub struct Seller<'a> {
    /// Brand of the seller.
    pub brand: &'a Brand,
    /// Shipping terms of the store, if known.
    pub shipping: Option<&'a ShippingPolicy>,
}

/// Facts that the operator knows and stores do not state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeedOptions {
    /// `true` if SKUs are the makers' own part numbers.
    pub sku_as_mpn: bool,
}

data_model::named! {
    /// Availability of a variant.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Availability {
        /// The variant can be bought.
        InStock = "in_stock",
        /// The variant cannot be bought at present.
        OutOfStock = "out_of_stock",
    }
}

/// A variant with the attributes of the specification. Unknown values are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The product's id without hyphens, a hyphen, and the variant's id. At most 50 characters.
    pub id: String,
    /// Title of the product, with the variant's title if there are several variants.
    pub title: Option<String>,
    /// Description of the product on one line.
    pub description: Option<String>,
    /// URL of the variant's page in its store.
    pub link: Option<String>,
    /// URL of the variant's image.
    pub image_link: Option<String>,
    /// URLs of other images of the product.
    pub additional_image_link: Vec<String>,
    /// Availability of the variant.
    pub availability: Availability,
    /// Price before a markdown, such as `499.00 INR`.
    pub price: Option<String>,
    /// Price after a markdown, if there is one.
    pub sale_price: Option<String>,
    /// Vendor if the store states one, or else the store's brand.
    pub brand: Option<String>,
    /// Global trade item number, if the store states a valid one.
    pub gtin: Option<String>,
    /// The maker's part number: see [`FeedOptions::sku_as_mpn`].
    pub mpn: Option<String>,
    /// `no` if the product is known to have no such number. Stores do not state this.
    pub identifier_exists: Option<&'static str>,
    /// Id of the product, if it has several variants.
    pub item_group_id: Option<String>,
    /// Colours, as stated.
    pub color: Option<String>,
    /// Size, as stated.
    pub size: Option<String>,
    /// Gender: `male`, `female` or `unisex`.
    pub gender: Option<&'static str>,
    /// Age group: `newborn`, `infant`, `toddler`, `kids` or `adult`.
    pub age_group: Option<&'static str>,
    /// Materials, as stated.
    pub material: Option<String>,
    /// Pattern, as stated.
    pub pattern: Option<String>,
    /// Number of the category in Google's taxonomy.
    pub google_product_category: Option<u32>,
    /// The store's own product type.
    pub product_type: Option<String>,
    /// Shipping cost for an order of only this item.
    pub shipping: Option<String>,
    /// Weight for shipping.
    pub shipping_weight: Option<String>,
    /// Order value above which shipping is free.
    pub free_shipping_threshold: Option<String>,
    /// Slug of the brand. This field and the next three are haat's own and appear only in JSON.
    pub brand_slug: String,
    /// Id of the product.
    pub product_id: String,
    /// Id of the variant.
    pub variant_id: u64,
    /// The store's stock keeping unit (SKU) of the variant.
    pub sku: Option<String>,
}

impl Row {
    /// Returns the required attributes that this row lacks.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        let wanted = [
            ("title", self.title.is_none()),
            ("description", self.description.is_none()),
            ("link", self.link.is_none()),
            ("image_link", self.image_link.is_none()),
            ("price", self.price.is_none()),
        ];
        wanted
            .into_iter()
            .filter_map(|(name, is_missing)| is_missing.then_some(name))
    }
}

/// Returns the rows of a product, in the order of its variants.
pub fn rows<'a>(product: &'a Product, seller: Seller<'a>, options: FeedOptions) -> impl Iterator<Item = Row> + 'a {
    let shared = CommonValues::new(product, seller);
    product.variants.iter().map(move |variant| shared.row(variant, options))
}

struct CommonValues<'a> {
    product: &'a Product,
    brand: &'a Brand,
    terms: Option<Terms<'a>>,
    option_names: Vec<OptionName<'a>>,
    product_id: String,
    title: Option<String>,
    description: Option<String>,
    vendor: Option<String>,
    product_type: Option<String>,
    images: Vec<String>,
}

impl<'a> CommonValues<'a> {
    fn new(product: &'a Product, seller: Seller<'a>) -> Self {
        let vendor = product
            .vendor
            .as_deref()
            .and_then(|vendor| short(vendor, NAME_CHARS_MAX));
        let pictures = product.media.iter().filter(|media| media.kind == MediaKind::Image);
        Self {
            product,
            brand: seller.brand,
            terms: Terms::of(seller.brand, seller.shipping),
            option_names: option_names(product),
            product_id: product.key.id().to_string(),
            title: line(&product.title),
            description: line(&product.description).map(|line| cut(line, DESCRIPTION_CHARS_MAX)),
            vendor: vendor.or_else(|| short(&seller.brand.name, NAME_CHARS_MAX)),
            product_type: product
                .product_type
                .as_deref()
                .and_then(line)
                .map(|line| cut(line, PRODUCT_TYPE_CHARS_MAX)),
            images: pictures.filter_map(|media| web(&media.url)).collect(),
        }
    }

    fn row(&self, variant: &Variant, options: FeedOptions) -> Row {
        let product = self.product;
        let is_one_of_several = product.variants.len() > 1;
        let image = variant
            .image
            .as_deref()
            .and_then(web)
            .or_else(|| self.images.first().cloned());
        let (price, sale_price) = prices(product, variant);
        let paid = sale_price.or(price);
        let names = self.option_names.as_slice();
        let several = |name, each_chars_max, all_chars_max| {
            let bounds = AttributeBounds {
                each_chars_max,
                all_chars_max,
            };
            several(product, variant, names, name, bounds)
        };
        let sku = variant.sku.as_deref().and_then(|sku| short(sku, NAME_CHARS_MAX));
        Row {
            id: item_id(&self.product_id, variant.id),
            title: self.title(variant),
            description: self.description.clone(),
            link: page(
                &self.brand.base_url,
                &product.handle,
                is_one_of_several.then_some(variant.id.0),
            ),
            additional_image_link: self.other_images(image.as_deref()),
            image_link: image,
            availability: if variant.available {
                Availability::InStock
            } else {
                Availability::OutOfStock
            },
            price: price.map(|price| price.to_string()),
            sale_price: sale_price.map(|price| price.to_string()),
            brand: self.vendor.clone(),
            gtin: variant
                .barcode
                .as_deref()
                .and_then(Gtin::read)
                .map(|gtin| gtin.to_string()),
            mpn: sku.clone().filter(|_| options.sku_as_mpn),
            identifier_exists: None,
            item_group_id: is_one_of_several.then(|| self.product_id.clone()),
            color: several("color", 40, 100),
            size: size(product, variant, names),
            gender: gender(product),
            age_group: age_group(product),
            material: several("material", 200, 200),
            pattern: several("pattern", 100, 100),
            google_product_category: product.category.map(|category| category.0),
            product_type: self.product_type.clone(),
            shipping: self.terms.zip(paid).and_then(|(terms, paid)| terms.shipping(paid)),
            shipping_weight: variant.grams.map(|grams| format!("{grams} g")),
            free_shipping_threshold: self
                .terms
                .zip(paid)
                .and_then(|(terms, paid)| terms.free_shipping_threshold(paid)),
            brand_slug: self.brand.slug.to_string(),
            product_id: self.product_id.clone(),
            variant_id: variant.id.0,
            sku,
        }
    }

    fn title(&self, variant: &Variant) -> Option<String> {
        let own = line(&variant.title).filter(|_| self.product.variants.len() > 1);
        let title = match (&self.title, own) {
            (Some(title), Some(own)) => format!("{title} - {own}"),
            (Some(title), None) => title.clone(),
            (None, own) => own?,
        };
        Some(cut(title, TITLE_CHARS_MAX))
    }

    /// Returns all images except the row's first one, without duplicates.
    fn other_images(&self, first: Option<&str>) -> Vec<String> {
        let mut others: Vec<String> = Vec::new();
        for image in &self.images {
            if others.len() < IMAGES_MAX && Some(image.as_str()) != first && !others.contains(image) {
                others.push(image.clone());
            }
        }
        others
    }
}

/// Returns the price before and after a markdown. Free products have no price.
pub(crate) fn prices(product: &Product, variant: &Variant) -> (Option<Money>, Option<Money>) {
    let money = |minor| {
        Money::from_minor(minor, product.currency)
            .ok()
            .filter(|money| money.minor() > 0)
    };
    let now = money(variant.price_minor);
    let list = variant.compare_at_minor.filter(|list| *list > variant.price_minor);
    match (now, list.and_then(money)) {
        (Some(now), Some(list)) => (Some(list), Some(now)),
        (now, _) => (now, None),
    }
}

/// Returns the item id, which never exceeds 50 characters. Variant ids currently have 14 digits. Ids with more than 17
/// digits become `x` and hexadecimal digits.
fn item_id(product_id: &str, variant: VariantId) -> String {
    let product = product_id.replace('-', "");
    match variant.0 {
        id @ 0..=99_999_999_999_999_999 => format!("{product}-{id}"),
        id => format!("{product}-x{id:016x}"),
    }
}
