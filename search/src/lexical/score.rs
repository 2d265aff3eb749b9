use std::sync::LazyLock;

use data_index::Release;
use data_index::terms::PostingPayload;

/// Value of each field of a payload, multiplied by the weight of the term. On judged queries, nearby values score alike
/// (docs/benchmarks.md).
const TITLE: f32 = 4.0;
const HEAD: f32 = 2.0;
const BESIDE_HEAD: f32 = 1.0;
const BRAND: f32 = 2.0;
const CATEGORY: f32 = 2.0;
const OPTION: f32 = 0.5;
const DESCRIPTION: f32 = 0.5;
/// Bonus if the title contains the exact word and not only another word with the same stem.
const FORM: f32 = 2.5;

/// Weight of a product's quality in its score. The quality decides between products that match the query equally well.
pub(super) const QUALITY_BONUS: f32 = 1.0;

pub(super) fn quality_bonus(release: &Release, part: u32, row: u32) -> f32 {
    release
        .part(part)
        .map_or(0.0, |part| QUALITY_BONUS * part.cards().quality(row))
}

/// Bonus if the title contains every term.
pub(super) const TITLE_BONUS: f32 = 8.0;

static WORTH: LazyLock<[f32; PostingPayload::KINDS]> = LazyLock::new(|| {
    let mut worth = [0.0; PostingPayload::KINDS];
    for (kind, worth) in (0_u16..).zip(&mut worth) {
        let held = PostingPayload(kind);
        let part = |has: bool, weight: f32| if has { weight } else { 0.0 };
        *worth = TITLE * held.title_weight()
            + part(held.head_level() >= 2, HEAD)
            + part(held.head_level() == 1, BESIDE_HEAD)
            + part(held.in_brand(), BRAND)
            + part(held.in_category(), CATEGORY)
            + part(held.in_option(), OPTION)
            + DESCRIPTION * held.description_weight();
    }
    worth
});

/// Table of the values of all payloads, so that each needs only a lookup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth(&'static [f32; PostingPayload::KINDS]);

impl Worth {
    pub(super) fn table() -> Self {
        Self(&WORTH)
    }

    /// Returns the value of a payload for a query with the term in this form.
    #[inline]
    pub(super) fn of(self, held: PostingPayload, form: u8) -> f32 {
        // This is branch-free because the form in the title is unpredictable.
        let is_form = held.in_title() & (held.form_part() == form);
        self.0[held.kind()] + FORM * f32::from(u8::from(is_form))
    }

    /// Returns an upper bound on the values of payloads whose field-wise maximum is `most`.
    pub(super) fn bound(self, most: PostingPayload) -> f32 {
        self.0[most.kind()] + FORM
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the first 24 bits of a statistic are precise enough"
)]
pub(crate) const fn as_float(count: u64) -> f32 {
    count as f32
}

/// The presence of a term that every product contains is not informative, but its field still is.
const IDF_MIN: f32 = 1.0;

/// Returns the weight of a term that `holding` of `docs` products contain.
pub(super) fn idf(docs: f32, holding: u32) -> f32 {
    let holding = as_float(u64::from(holding));
    let rare = (1.0 + (docs - holding + 0.5).max(0.0) / (holding + 0.5)).ln();
    rare.max(IDF_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_two_holdings_is_below_neither() {
        let worth = Worth::table();
        for one in 0..PostingPayload::KINDS as u16 {
            // The value must not decrease when one field increases.
            for part in [0x0001_u16, 0x0008, 0x0020, 0x0040, 0x0080, 0x0100] {
                let more = one.wrapping_add(part);
                let (one, more) = (PostingPayload(one), PostingPayload(more & 0x07ff));
                let grown = more.title_weight() >= one.title_weight()
                    && more.head_level() >= one.head_level()
                    && more.in_brand() >= one.in_brand()
                    && more.in_category() >= one.in_category()
                    && more.in_option() >= one.in_option()
                    && more.description_weight() >= one.description_weight();
                if grown && more.head_level() < 3 {
                    assert!(
                        worth.bound(more) >= worth.of(one, PostingPayload::form_code("shoe")),
                        "{one:?} {more:?}"
                    );
                }
            }
        }
    }
}
