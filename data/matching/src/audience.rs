/// A set of groups for which a product is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AudienceSet(u16);

/// Words that name an audience, by sound, with their group in [`AudienceSet::APART`].
const WHOM: &[(&str, u16)] = &[
    ("men", 1),
    ("women", 1 << 1),
    ("unisex", 0b11),
    ("adult", 1 << 2),
    ("boy", 1 << 3),
    ("girl", 1 << 4),
    ("kid", 1 << 5),
    ("babi", 1 << 5),
    ("infant", 1 << 5),
    ("todler", 1 << 5),
    ("junior", 1 << 5),
    ("dog", 1 << 6),
    ("cat", 1 << 7),
    ("pupi", 1 << 8),
    ("kiten", 1 << 9),
];

impl AudienceSet {
    /// Pairs of groups that do not share products.
    const APART: &[(u16, u16)] = &[
        (1, 1 << 1),
        (1 << 3, 1 << 4),
        (0b111, 0b11_1000),
        (1 << 6, 1 << 7),
        (1 << 8, 1 << 9),
    ];

    pub(crate) fn of<'a>(sounds: impl Iterator<Item = &'a String>) -> Self {
        let known = |sound: &String| WHOM.iter().find(|(known, _)| sound == known);
        Self(sounds.filter_map(known).fold(0, |all, (_, of)| all | of))
    }

    pub(crate) fn is_other(self, other: Self) -> bool {
        Self::APART.iter().any(|(left, right)| {
            let (mine, theirs) = ((self.0 & left, self.0 & right), (other.0 & left, other.0 & right));
            matches!(
                (mine.0 != 0, mine.1 != 0, theirs.0 != 0, theirs.1 != 0),
                (true, false, false, true) | (false, true, true, false)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whom(words: &[&str]) -> AudienceSet {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        AudienceSet::of(words.iter())
    }

    #[test]
    fn goods_are_for_others_where_each_says_so() {
        for (one, other) in [
            ("men", "women"),
            ("boy", "girl"),
            ("kid", "women"),
            ("dog", "cat"),
            ("pupi", "kiten"),
        ] {
            assert!(
                whom(&[one]).is_other(whom(&[other])) && whom(&[other]).is_other(whom(&[one])),
                "{one} {other}"
            );
            assert!(!whom(&[one]).is_other(whom(&[one, other])), "{one} {other}");
            assert!(!whom(&[one]).is_other(whom(&[])), "{one}");
        }
        assert!(!whom(&["unisex"]).is_other(whom(&["men"])));
    }
}
