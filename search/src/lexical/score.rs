use std::sync::LazyLock;

use data_index::Release;
use data_index::terms::PostingPayload;

/// The worth of each part of a posting's payload, times the weight of the term. Chosen on judged queries, where
/// neighbours score alike (docs/benchmarks.md).
const TITLE: f32 = 4.0;
const HEAD: f32 = 2.0;
const BESIDE_HEAD: f32 = 1.0;
const BRAND: f32 = 2.0;
const CATEGORY: f32 = 2.0;
const OPTION: f32 = 0.5;
const DESCRIPTION: f32 = 0.5;
/// The title has the very word, not another one of the same stem.
const FORM: f32 = 2.5;

/// The weight of a product's quality in its score: it decides between products that fit alike.
pub(super) const QUALITY_BONUS: f32 = 1.0;

pub(super) fn quality_bonus(release: &Release, part: u32, row: u32) -> f32 {
    release
        .part(part)
        .map_or(0.0, |part| QUALITY_BONUS * part.cards().quality(row))
}

/// Added when the title holds every term.
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

/// The worth of payloads; looked up once a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth(&'static [f32; PostingPayload::KINDS]);

impl Worth {
    pub(super) fn table() -> Self {
        Self(&WORTH)
    }

    /// The worth of a payload to a query that has the term in this form.
    #[inline]
    pub(super) fn of(self, held: PostingPayload, form: u8) -> f32 {
        // Without a branch: which form a title has is not to be foretold.
        let is_form = held.in_title() & (held.form_part() == form);
        self.0[held.kind()] + FORM * f32::from(u8::from(is_form))
    }

    /// A bound on the worth of payloads whose greatest, part by part, is `most`.
    pub(super) fn bound(self, most: PostingPayload) -> f32 {
        self.0[most.kind()] + FORM
    }
}

#[expect(clippy::cast_precision_loss, reason = "a statistic is as good as its first 24 bits")]
pub(crate) const fn as_float(count: u64) -> f32 {
    count as f32
}

/// The least weight of a term. One that every product holds tells nothing by being held, but the field that holds it
/// still tells what the product is.
const IDF_MIN: f32 = 1.0;

/// The weight of a term that `holding` of `docs` products hold.
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
            // Every part at its own greatest: the table grows with each of them.
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
