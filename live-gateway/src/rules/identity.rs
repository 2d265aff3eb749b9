use data_model::{StoreHost, read_store_json};
use serde::Deserialize;

#[derive(Deserialize)]
struct Meta {
    myshopify_domain: Option<String>,
    domain: Option<String>,
}

/// True if a store's `/meta.json` states the permanent host of `store`, or its domain if no permanent host is stated.
pub(crate) fn is_store(meta: &[u8], store: &StoreHost) -> bool {
    let Ok(meta) = read_store_json::<Meta>(meta) else {
        return false;
    };
    let stated = meta.myshopify_domain.or(meta.domain);
    stated.is_some_and(|host| host.parse::<StoreHost>().is_ok_and(|host| host == *store))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_permanent_host() {
        let store = "tea.myshopify.com".parse().unwrap();
        for (meta, known) in [
            (
                r#"{"id": 1, "domain": "tea.example", "myshopify_domain": "Tea.myshopify.com"}"#,
                true,
            ),
            (
                r#"{"domain": "tea.example", "myshopify_domain": "mugs.myshopify.com"}"#,
                false,
            ),
            (r#"{"domain": "tea.myshopify.com"}"#, true),
            (r#"{"name": "Tea"}"#, false),
            ("<html>closed</html>", false),
        ] {
            assert_eq!(is_store(meta.as_bytes(), &store), known, "{meta}");
        }
    }
}
