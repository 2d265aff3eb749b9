use data_model::VariantId;

/// The one of a store's interfaces that said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The Storefront GraphQL API, `nodes`.
    Graphql,
    /// The product's `.js` view.
    Js,
}

impl Source {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Graphql => "graphql",
            Self::Js => "js",
        }
    }
}

/// One variant as the store answers it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantReply {
    pub(crate) id: VariantId,
    /// Its title, where stated; empty for the one default variant.
    pub(crate) title: String,
    pub(crate) sku: Option<String>,
    pub(crate) price_minor: i64,
    /// Only where above the price.
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) available: bool,
}

/// One product as the store answers it now: all that was asked for was answered and understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProductReply {
    pub(crate) source: Source,
    /// The variants that it has; empty when the product is gone.
    pub(crate) variants: Vec<VariantReply>,
    /// Variants that were asked for and are not there any more.
    pub(crate) gone: Vec<VariantId>,
}

impl ProductReply {
    /// True where nothing is left of the product.
    pub(crate) fn is_gone(&self) -> bool {
        self.variants.is_empty()
    }
}

/// The title of the one variant of a product without options, which is no title.
const DEFAULT_TITLE: &str = "Default Title";

/// A variant's title as answers show it.
pub(super) fn title(stated: Option<String>) -> String {
    stated.filter(|title| title != DEFAULT_TITLE).unwrap_or_default()
}

/// A text that is stated and not blank.
pub(super) fn filled(stated: Option<String>) -> Option<String> {
    stated
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}
