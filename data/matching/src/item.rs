use data_model::Gtin;

/// Data of a product for the comparison, as its store states it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item<'a> {
    /// Display name of the brand whose store sells the product.
    pub brand: &'a str,
    /// Vendor, if stated. In a store that sells products of many makers, the vendor is the maker.
    pub vendor: Option<&'a str>,
    /// Title of the product.
    pub title: &'a str,
    /// The store's own product type.
    pub product_type: Option<&'a str>,
    /// Structured attributes and options, with their values.
    pub attributes: Vec<(&'a str, Vec<&'a str>)>,
    /// ISO 4217 code of the currency of the prices.
    pub currency: &'a str,
    /// Variants of the product.
    pub variants: Vec<ItemVariant<'a>>,
}

/// A variant of a product that is compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemVariant<'a> {
    /// The platform's id of the variant.
    pub id: u64,
    /// Value of the variant for each option.
    pub options: Vec<&'a str>,
    /// Stock keeping unit (SKU) of the variant.
    pub sku: Option<&'a str>,
    /// Barcode of the variant.
    pub barcode: Option<Gtin>,
    /// Price in minor units. 0 means that the variant has no price.
    pub price_minor: i64,
}
