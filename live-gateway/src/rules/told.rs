use data_model::VariantId;

/// Store interface that responded.
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

/// Variant as the store returns it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantReply {
    pub(crate) id: VariantId,
    /// Title of the variant; empty for a product's only default variant.
    pub(crate) title: String,
    pub(crate) sku: Option<String>,
    pub(crate) price_minor: i64,
    /// List price, only if it is above the price.
    pub(crate) compare_at_minor: Option<i64>,
    pub(crate) available: bool,
}

/// Product as the store returns it now. The response contained all requested data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProductReply {
    pub(crate) source: Source,
    /// Variants that the store still has; empty if the product is gone.
    pub(crate) variants: Vec<VariantReply>,
    /// Requested variants that no longer exist.
    pub(crate) gone: Vec<VariantId>,
}

impl ProductReply {
    pub(crate) fn is_gone(&self) -> bool {
        self.variants.is_empty()
    }
}

/// Placeholder that the platform uses as the title of the only variant of a product without options.
const DEFAULT_TITLE: &str = "Default Title";

/// Returns a variant's title as shown in responses.
pub(super) fn title(stated: Option<String>) -> String {
    stated.filter(|title| title != DEFAULT_TITLE).unwrap_or_default()
}

/// Returns a text unless it is blank.
pub(super) fn filled(stated: Option<String>) -> Option<String> {
    stated
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}
