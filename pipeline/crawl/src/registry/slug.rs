use data_model::{BrandSlug, slugify};

const BYTES_MAX: usize = 100;

/// The candidates are the name, then the name with the domain's first label, then the name with a number appended. If
/// the name has no letters, `store` is used instead.
///
/// `None` only if four billion numbers are taken.
pub(crate) fn give_slug(name: &str, domain: &str, taken: impl Fn(&BrandSlug) -> bool) -> Option<BrandSlug> {
    let label = first_label(domain);
    let plain = slugify(name).or_else(|| label.clone()).or_else(|| slugify("store"))?;
    let suffixed = label.and_then(|label| joined(&plain, label.as_str()));
    let base = suffixed.clone().unwrap_or_else(|| plain.clone());
    let numbered = (2..=u32::MAX).filter_map(|number| joined(&base, &number.to_string()));
    std::iter::once(plain)
        .chain(suffixed)
        .chain(numbered)
        .find(|slug| !taken(slug))
}

/// Returns `blue-tokai` for `www.blue-tokai.example:8080`.
fn first_label(domain: &str) -> Option<BrandSlug> {
    let host = domain.rsplit_once(':').map_or(domain, |(host, _)| host);
    let host = host.strip_prefix("www.").unwrap_or(host);
    host.split('.').next().and_then(slugify)
}

fn joined(slug: &BrandSlug, suffix: &str) -> Option<BrandSlug> {
    let room = BYTES_MAX.saturating_sub(suffix.len() + 1).min(slug.as_str().len());
    let cut = (0..=room).rev().find(|end| slug.as_str().is_char_boundary(*end))?;
    let base = slug.as_str().get(..cut)?.trim_end_matches('-');
    format!("{base}-{suffix}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_clash_takes_the_first_label_of_the_domain_and_then_a_number() {
        let mut taken = BTreeSet::new();
        let mut give = |name: &str, domain: &str| {
            let slug = give_slug(name, domain, |slug| taken.contains(slug)).unwrap();
            taken.insert(slug.clone());
            slug.to_string()
        };
        assert_eq!(give("Blue Tokai", "bluetokai.example"), "blue-tokai");
        assert_eq!(give("Blue Tokai", "www.coffee.example"), "blue-tokai-coffee");
        assert_eq!(give("blue tokai!", "coffee.other"), "blue-tokai-coffee-2");
        assert_eq!(give("Blue-Tokai", "coffee.third:8080"), "blue-tokai-coffee-3");
        assert_eq!(give("!!!", "tea.example"), "tea");
        assert_eq!(give("", "…"), "store");
    }

    #[test]
    fn a_long_name_leaves_room_for_its_suffix() {
        let name = "é".repeat(40);
        let first = give_slug(&name, "a-rather-long-label-for-a-domain.example", |_| false).unwrap();
        let second = give_slug(&name, "a-rather-long-label-for-a-domain.example", |slug| *slug == first).unwrap();
        assert_ne!(first, second);
        assert!(
            second.as_str().ends_with("-a-rather-long-label-for-a-domain"),
            "{second}"
        );
    }
}
