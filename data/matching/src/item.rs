use data_model::Gtin;

/// A product as it is compared: what its store states of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item<'a> {
    /// Display name of the brand whose store sells it.
    pub brand: &'a str,
    /// Vendor, where stated: the maker, in a store that sells goods of many.
    pub vendor: Option<&'a str>,
    /// Title.
    pub title: &'a str,
    /// The store's own product type.
    pub product_type: Option<&'a str>,
    /// Structured attributes and options with their values.
    pub attributes: Vec<(&'a str, Vec<&'a str>)>,
    /// ISO 4217 code of its prices.
    pub currency: &'a str,
    /// Its variants.
    pub variants: Vec<ItemVariant<'a>>,
}

/// A variant of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemVariant<'a> {
    /// The platform's id.
    pub id: u64,
    /// Its value of each option.
    pub options: Vec<&'a str>,
    /// Stock keeping unit.
    pub sku: Option<&'a str>,
    /// The number below its bar code.
    pub barcode: Option<Gtin>,
    /// Price in minor units; 0 is none.
    pub price_minor: i64,
}
