use super::stable_hash;

/// Fields and prominence with which a product contains a term, packed in 16 bits. A greater value is better in every
/// field except the form, so that the field-wise maximum of several payloads is an upper bound on each.
///
/// | bits | field |
/// |---|---|
/// | 0–2 | title: 0 if absent, else a level from frequency and title length |
/// | 3–4 | head: 2 if the term is the title's head noun, 1 if it is right before it |
/// | 5 | brand name or vendor |
/// | 6 | category path or product type |
/// | 7 | option, attribute or tag |
/// | 8–10 | description: 0 if absent, else a level from frequency and description length |
/// | 11–15 | form: the title's word among those that share the stem |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostingPayload(pub u16);

/// BM25 parameters `k1` and `b`: the saturation of term frequency, and the weight of text length.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Length of a typical title and of a typical description, in words. Constants give all parts of a release the same
/// weights.
const TITLE_WORDS: f32 = 10.0;
const DESCRIPTION_WORDS: f32 = 80.0;

impl PostingPayload {
    /// Payload with every field at its maximum.
    pub const MOST: Self = Self(0x07ff | 0xf800);
    /// Number of distinct payloads without the form.
    pub const KINDS: usize = 1 << 11;

    pub(crate) fn title(times: u32, words: usize) -> Self {
        let level = (frequency(times, words, TITLE_WORDS) * 5.0 - 1.0)
            .round()
            .clamp(1.0, 7.0);
        Self(level as u16)
    }

    pub(crate) const fn head(level: u16) -> Self {
        Self((level & 3) << 3)
    }

    pub(crate) const BRAND: Self = Self(1 << 5);
    pub(crate) const CATEGORY: Self = Self(1 << 6);
    pub(crate) const OPTION: Self = Self(1 << 7);

    pub(crate) fn description(times: u32, words: usize) -> Self {
        let level = (frequency(times, words, DESCRIPTION_WORDS) * 4.0)
            .round()
            .clamp(1.0, 7.0);
        Self((level as u16) << 8)
    }

    pub(crate) fn form(plain: &str) -> Self {
        Self(u16::from(form_of(plain)) << 11)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the field-wise maximum of two payloads, without the form.
    pub(crate) fn max(self, other: Self) -> Self {
        let part = |mask: u16| (self.0 & mask).max(other.0 & mask);
        Self(part(0x0007) | part(0x0018) | part(0x0020) | part(0x0040) | part(0x0080) | part(0x0700))
    }

    /// Returns all fields except the form, as a number below [`PostingPayload::KINDS`].
    #[must_use]
    pub const fn kind(self) -> usize {
        (self.0 & 0x07ff) as usize
    }

    /// Returns true if the title contains the term.
    #[must_use]
    pub const fn in_title(self) -> bool {
        self.0 & 7 != 0
    }

    /// Returns the stored title level, from 0 (absent) to 7.
    #[must_use]
    pub const fn title_level(self) -> u16 {
        self.0 & 7
    }

    /// Returns the lowest title level of a term that occurs in a title of this many words.
    #[must_use]
    pub fn title_level_of(words: usize) -> u16 {
        Self::title(1, words).title_level()
    }

    /// Returns the weight that [`PostingPayload::title`] computed from frequency and length. It is 1 for one occurrence
    /// in a typical title.
    #[must_use]
    pub fn title_weight(self) -> f32 {
        match self.0 & 7 {
            0 => 0.0,
            level => (f32::from(level) + 1.0) / 5.0,
        }
    }

    /// Returns 2 for the head noun of the title, 1 for the word right before it, and 0 otherwise.
    #[must_use]
    pub const fn head_level(self) -> u16 {
        (self.0 >> 3) & 3
    }

    /// Returns true if the brand name or vendor contains the term.
    #[must_use]
    pub const fn in_brand(self) -> bool {
        self.0 & (1 << 5) != 0
    }

    /// Returns true if the category path or product type contains the term.
    #[must_use]
    pub const fn in_category(self) -> bool {
        self.0 & (1 << 6) != 0
    }

    /// Returns true if an option, an attribute or a tag contains the term.
    #[must_use]
    pub const fn in_option(self) -> bool {
        self.0 & (1 << 7) != 0
    }

    /// Returns the weight of the description, which is 1 for one occurrence in a typical description.
    #[must_use]
    pub fn description_weight(self) -> f32 {
        f32::from((self.0 >> 8) & 7) / 4.0
    }

    /// Returns the form code of the title's word. Compare it with [`form_of`](PostingPayload::form_code).
    #[must_use]
    pub const fn form_part(self) -> u8 {
        (self.0 >> 11) as u8
    }

    /// Returns the code of a word's form. Few words with the same stem share a code.
    #[must_use]
    pub fn form_code(plain: &str) -> u8 {
        form_of(plain)
    }
}

fn form_of(plain: &str) -> u8 {
    (stable_hash(plain.as_bytes()) % 31) as u8 + 1
}

fn frequency(times: u32, words: usize, usual: f32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "lengths of texts")]
    let (times, words) = (times as f32, words as f32);
    times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * words / usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_often_in_a_shorter_text_is_greater() {
        let weight = |times, words| PostingPayload::title(times, words).title_weight();
        assert!((weight(1, 10) - 1.0).abs() < 1e-6);
        assert!(weight(2, 10) > weight(1, 10) && weight(1, 4) > weight(1, 10) && weight(1, 10) > weight(1, 30));
        assert!(weight(1, 10_000) > 0.0);
        let weight = |times, words| PostingPayload::description(times, words).description_weight();
        assert!((weight(1, 80) - 1.0).abs() < 1e-6);
        assert!(weight(9, 80) > weight(1, 80) && weight(1, 5_000) > 0.0);
    }

    #[test]
    fn the_greatest_of_two_bounds_both_part_by_part() {
        let one = PostingPayload::title(1, 4)
            .and(PostingPayload::head(2))
            .and(PostingPayload::form("shoes"));
        let other = PostingPayload::title(1, 30)
            .and(PostingPayload::description(3, 20))
            .and(PostingPayload::BRAND);
        let most = one.max(other);
        assert_eq!(most.title_weight(), one.title_weight());
        assert_eq!(most.head_level(), 2);
        assert!(most.in_brand() && !most.in_category() && !most.in_option());
        assert_eq!(most.description_weight(), other.description_weight());
        assert_eq!(one.form_part(), PostingPayload::form_code("shoes"));
        assert_ne!(PostingPayload::form_code("shoe"), PostingPayload::form_code("shoes"));
    }
}
