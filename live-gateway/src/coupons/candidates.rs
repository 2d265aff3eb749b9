//! Selects the codes that are worth testing at a brand's store, the most likely first. The module is pure (no I/O, no
//! clock).

use std::collections::HashMap;

use data_model::{CodePlace, CouponSource, StatedCode, StoredBrand};
use pipeline_parse::FoundCode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The code in uppercase, because the platform ignores case.
    pub(crate) code: String,
    pub(crate) source: CouponSource,
}

/// Codes that many stores have, from `common.tsv`.
const COMMON: &str = include_str!("common.tsv");
/// Suffixes that form codes after a brand's name.
const SUFFIXES: [&str; 10] = ["10", "15", "20", "5", "25", "50", "100", "30", "FIRST", "200"];
/// Words that codes do not take from a brand's name.
const NO_STEMS: [&str; 12] = [
    "THE", "AND", "SHOP", "STORE", "STUDIO", "HOUSE", "INDIA", "WWW", "LTD", "PVT", "INC", "COM",
];
/// Maximum length in characters of the brand's name in a code.
const STEM_CHARS_MAX: usize = 14;

fn common() -> impl Iterator<Item = &'static str> {
    let codes = COMMON.lines().filter_map(|line| line.split('\t').next());
    codes.filter(|code| is_code(code))
}

/// Returns at most `most` distinct codes. Codes that worked before come first. Codes that the store or the requested
/// product's description (`described`) states come next, the plainest statement first. Common codes and codes formed
/// from the brand's name alternate at the end.
pub(crate) fn candidates(
    brand: &StoredBrand,
    stated: &[StatedCode],
    described: &[FoundCode],
    worked: &[String],
    most: usize,
) -> Vec<Candidate> {
    let mut scored: Vec<(u32, String, CouponSource)> = Vec::new();
    let mut add = |score: u32, code: &str, source| scored.push((score, code.to_ascii_uppercase(), source));
    for (before, code) in (0..).zip(worked.iter().take(100)) {
        add(1_000 - before, code, CouponSource::WorkedBefore);
    }
    let plain = |plainness: u8| 700 + 50 * u32::from(plainness.min(3));
    for described in described {
        add(plain(described.plainness) + 10, &described.code, CouponSource::Product);
    }
    for stated in stated {
        let plain = plain(stated.plainness);
        match stated.place {
            CodePlace::FrontPage => add(plain, &stated.code, CouponSource::Announcement),
            CodePlace::Policy => add(plain - 20, &stated.code, CouponSource::Policy),
        }
    }
    for (before, code) in (0..).zip(common()) {
        add(500 - before * 3, code, CouponSource::Common);
    }
    for (before, code) in (0..).zip(patterns(brand)) {
        add(499 - before * 9, &code, CouponSource::BrandPattern);
    }
    // The sort is stable, so codes with equal scores keep their order.
    scored.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut chosen: Vec<Candidate> = Vec::new();
    for (_, code, source) in scored {
        match at.get(&code) {
            // The page that states a code describes its source better than `WorkedBefore`.
            Some(at) => {
                if let Some(known) = chosen.get_mut(*at)
                    && known.source == CouponSource::WorkedBefore
                {
                    known.source = source;
                }
            }
            None if chosen.len() < most && is_code(&code) => {
                at.insert(code.clone(), chosen.len());
                chosen.push(Candidate { code, source });
            }
            None => {}
        }
    }
    chosen
}

/// True for a code that anyone could guess: a common code, or a code formed from the brand's name. Other codes may be
/// personal.
pub(crate) fn is_public(brand: &StoredBrand, code: &str) -> bool {
    let code = code.to_ascii_uppercase();
    common().any(|common| common == code) || patterns(brand).contains(&code)
}

/// Returns codes formed from the brand's name and domain, grouped by suffix.
fn patterns(brand: &StoredBrand) -> Vec<String> {
    let stems = stems(brand);
    let of_suffix = |suffix: &'static str| stems.iter().map(move |stem| format!("{stem}{suffix}"));
    SUFFIXES.into_iter().flat_map(of_suffix).collect()
}

fn stems(brand: &StoredBrand) -> Vec<String> {
    let letters = |text: &str| -> String {
        let kept = text.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|char| char.to_ascii_uppercase()).collect()
    };
    let words: Vec<String> = brand
        .name
        .split(|char: char| char.is_whitespace() || matches!(char, '-' | '&' | '/' | '|'))
        .map(letters)
        .filter(|word| !word.is_empty() && !NO_STEMS.contains(&word.as_str()))
        .collect();
    let label = brand.domain.trim_start_matches("www.").split(['.', ':']).next();
    let mut stems: Vec<String> = Vec::new();
    let first = words.first().cloned();
    let both = (words.len() > 1).then(|| words[..2].concat());
    for stem in [first, both, label.map(letters)].into_iter().flatten() {
        let fits = (2..=STEM_CHARS_MAX).contains(&stem.len()) && stem.bytes().any(|byte| byte.is_ascii_alphabetic());
        if fits && !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// True if a text can be a code: 3 to 32 ASCII letters, digits, hyphens and underscores.
pub(crate) fn is_code(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (3..=32).contains(&text.len()) && text.bytes().all(allowed) && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn brand(name: &str, domain: &str) -> StoredBrand {
        StoredBrand {
            store: "tea.myshopify.example".parse().unwrap(),
            slug: "tea".parse().unwrap(),
            name: name.to_owned(),
            domain: domain.to_owned(),
            base_url: format!("https://{domain}"),
            currency: "INR".parse().unwrap(),
            crawl_country: None,
            refreshed_at: "2026-11-21T12:00:00Z".parse().unwrap(),
        }
    }

    fn stated(code: &str, place: CodePlace, plainness: u8) -> StatedCode {
        StatedCode {
            code: code.to_owned(),
            place,
            plainness,
        }
    }

    #[test]
    fn what_worked_comes_first_then_what_the_store_states_then_what_may_be() {
        let tokai = brand("Blue Tokai Coffee & Co.", "www.bluetokai.example");
        let stated = [
            stated("ROAST15", CodePlace::Policy, 3),
            stated("BREW10", CodePlace::FrontPage, 1),
            stated("welcome10", CodePlace::FrontPage, 3),
            stated("x", CodePlace::FrontPage, 3),
        ];
        let worked = ["MORNING20".to_owned(), "brew10".to_owned()];
        let told: Vec<String> = candidates(&tokai, &stated, &[], &worked, 12)
            .iter()
            .map(|one| format!("{} {:?}", one.code, one.source))
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        MORNING20 WorkedBefore
        BREW10 Announcement
        WELCOME10 Announcement
        ROAST15 Policy
        BLUE10 BrandPattern
        FIRST10 Common
        SAVE10 Common
        WELCOME5 Common
        BLUETOKAI10 BrandPattern
        WELCOME15 Common
        FREESHIP Common
        NEW10 Common
        "#);
        assert!(is_public(&tokai, "bluetokai10") && is_public(&tokai, "SAVE10") && !is_public(&tokai, "MORNING20"));
    }

    #[test]
    fn the_shipped_list_holds_codes_each_once() {
        let all: Vec<_> = common().collect();
        let lines = COMMON.lines().filter(|line| !line.starts_with('#')).count();
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (lines, lines));
        assert!(
            all.iter()
                .all(|code| code.bytes().all(|byte| !byte.is_ascii_lowercase()))
        );
    }

    proptest! {
        #[test]
        fn whatever_a_brand_is_called_candidates_are_codes_each_once(
            name in ".{0,60}", domain in "[a-z0-9.:-]{0,40}", most in 0_usize..120,
        ) {
            let told = candidates(&brand(&name, &domain), &[], &[], &[], most);
            prop_assert!(told.len() <= most);
            let distinct: std::collections::HashSet<_> = told.iter().map(|one| &one.code).collect();
            prop_assert_eq!(distinct.len(), told.len());
            prop_assert!(told.iter().all(|one| is_code(&one.code) && one.code == one.code.to_ascii_uppercase()));
        }
    }
}
