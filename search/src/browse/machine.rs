//! Values and names that stores write for software and not for people. They can be used as filters, but lists do not
//! offer them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Names of attributes that the market itself defines.
static OWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/reference/attributes.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.split_once('\t')?.1)).collect()
});

const CURRENCIES: [char; 5] = ['$', '€', '£', '₹', '¥'];

/// Returns true for a value meant for a theme, an app or an export, such as `badge_blackfriday`, `section:mens` or
/// `promo=12`.
pub(super) fn is_value(text: &str) -> bool {
    let is_key = |around: &[u8]| match around {
        // `16:9` is a ratio. A space after the colon, as in `Colour: `, means that people wrote the text.
        [before, b':', after] => !(after.is_ascii_whitespace() || before.is_ascii_digit() && after.is_ascii_digit()),
        _ => false,
    };
    text.contains(['_', '=']) || text.as_bytes().windows(3).any(is_key)
}

/// Returns true for an option name that is meant for software or describes an add-on, such as `support pack (2 pack) –
/// £54.99`.
pub(super) fn is_name(text: &str) -> bool {
    let mut behind = text.split(CURRENCIES).skip(1);
    let is_priced = behind.any(|text| text.trim_start().starts_with(|letter: char| letter.is_ascii_digit()));
    is_priced || is_value(text) && !OWN.contains(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_told_from_what_programs_read() {
        for machine in [
            "badge_blackfriday",
            "section:mens",
            "pfs:label-online exclusive",
            "badge_new arrival",
            "a=b",
        ] {
            assert!(is_value(machine) && is_name(machine), "{machine}");
        }
        for human in [
            "gifts for her",
            "usb-c",
            "16:9",
            "colour: red",
            "para panel isodec:",
            "50% off",
            "दाल",
            "a:",
        ] {
            assert!(!is_value(human) && !is_name(human), "{human}");
        }
        for own in ["age_group", "pack_size"] {
            assert!(!is_name(own), "{own}");
        }
        assert!(is_name("extra strength floor support pack (2 pack) – £54.99"));
        assert!(is_name("usb power output (+$ 90 for 65w)"));
        assert!(!is_name("amount ($)"));
    }
}
