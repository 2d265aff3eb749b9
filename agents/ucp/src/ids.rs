use std::fmt;
use std::str::FromStr;

/// Maximum length of an identifier in characters.
const CHARS_MAX: usize = 200;

/// Product, or one of its variants, as named by the protocol's identifiers.
///
/// A product identifier is the product's id. A variant identifier is the product's id, a colon, and the platform's id
/// of the variant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ident {
    /// Product identifier for the REST API.
    pub(crate) product: String,
    pub(crate) variant: Option<String>,
}

/// Error for an identifier that is not valid for a product or variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id of a product or variant")]
pub(crate) struct NoIdent;

impl Ident {
    pub(crate) fn variant(product: &str, variant: &str) -> Self {
        Self {
            product: product.to_owned(),
            variant: Some(variant.to_owned()),
        }
    }
}

impl FromStr for Ident {
    type Err = NoIdent;

    fn from_str(text: &str) -> Result<Self, NoIdent> {
        if text.len() > CHARS_MAX {
            return Err(NoIdent);
        }
        // The colon in the prefix `sha:` of a product id is no separator.
        let (name, rest) = match text.strip_prefix("sha:") {
            Some(rest) => ("sha:", rest),
            None => ("", text),
        };
        let (product, variant) = match rest.split_once(':') {
            Some((product, variant)) => (product, Some(variant)),
            None => (rest, None),
        };
        let is_product = !product.is_empty() && product.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let is_variant = |id: &str| (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
        if !is_product || !variant.is_none_or(is_variant) {
            return Err(NoIdent);
        }
        Ok(Self {
            product: format!("{name}{product}"),
            variant: variant.map(ToOwned::to_owned),
        })
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(f, "{}:{variant}", self.product),
            None => f.write_str(&self.product),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_named_by_its_product_and_its_own_id() {
        for (text, product, variant) in [
            (
                "0190b6a2-93f4-5a3c-8b1e-2f0c1d9e7a55",
                "0190b6a2-93f4-5a3c-8b1e-2f0c1d9e7a55",
                None,
            ),
            ("0190b6a2:44712", "0190b6a2", Some("44712")),
            ("sha:00ff", "sha:00ff", None),
            ("sha:00ff:7", "sha:00ff", Some("7")),
        ] {
            let ident: Ident = text.parse().unwrap();
            assert_eq!((ident.product.as_str(), ident.variant.as_deref()), (product, variant));
            assert_eq!(ident.to_string(), text);
        }
        for text in ["", ":", "a:", ":7", "kurta", "0190:x", "0190:7:8", &"a".repeat(201)] {
            assert_eq!(text.parse::<Ident>(), Err(NoIdent), "{text}");
        }
    }
}
