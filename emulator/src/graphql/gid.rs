//! Global ids: `gid://shopify/ProductVariant/123`.

use apollo_compiler::resolvers::FieldError;

const PREFIX: &str = "gid://shopify/";

/// Returns the global id of an object.
pub(super) fn gid(kind: &str, id: u64) -> String {
    format!("{PREFIX}{kind}/{id}")
}

/// Returns the kind and number of a global id. The number is `None` for kinds with other ids. Anything after `?` is
/// ignored.
pub(super) fn parse(text: &str) -> Option<(&str, Option<u64>)> {
    let (kind, id) = text.strip_prefix(PREFIX)?.split_once('/')?;
    let id = id.split('?').next().unwrap_or_default();
    (!kind.is_empty() && !id.is_empty()).then(|| (kind, id.parse().ok()))
}

/// Parses a global id like [`parse`], with the platform's error for an invalid one.
pub(super) fn expect(text: &str) -> Result<(&str, Option<u64>), FieldError> {
    parse(text).ok_or_else(|| FieldError {
        message: format!("Invalid global id '{text}'"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_read_back_and_no_text_breaks_it(id in any::<u64>(), text in ".*") {
            let written = gid("Product", id);
            prop_assert_eq!(parse(&written), Some(("Product", Some(id))));
            parse(&text);
        }
    }

    #[test]
    fn ids_of_other_kinds_are_ids_too() {
        assert_eq!(parse("gid://shopify/Cart/abc?key=1"), Some(("Cart", None)));
        assert_eq!(parse("gid://shopify/Product/12?x=1"), Some(("Product", Some(12))));
        assert_eq!(
            (
                parse("123"),
                parse("gid://shopify/Product/"),
                parse("gid://other/Product/1")
            ),
            (None, None, None)
        );
    }
}
