use data_index::{Release, RowAddress};
use data_model::{CategoryId, CouponEffect, CouponKind, CouponVerdict, ProductId, ProductIdent, TestedCode};
use rustc_hash::FxHashSet;

use crate::schema::{Discount, DiscountBasis, DiscountCondition};

/// Maximum number of discount codes listed for a product.
const DISCOUNTS_MAX: usize = 10;

/// Product facts that affect discount codes.
struct Subject {
    id: ProductId,
    category: Option<CategoryId>,
}

/// Returns the codes that worked at the product's store. Codes tested closest to the product come first, then the
/// newest tests.
///
/// If a code has several tests, the closest one decides: a test on the product itself, else on its category, else on
/// the store. Of several equally close tests, the latest decides.
pub(crate) fn discounts<'a>(release: &Release, at: RowAddress, tests: &'a [TestedCode]) -> Vec<Discount<'a>> {
    let Some(cards) = release.part(at.part).map(|part| part.cards()) else {
        return Vec::new();
    };
    let product = Subject {
        id: cards.id(at.row),
        category: cards.category(at.row),
    };
    let currency = cards.currency(at.row);
    let near = tests.iter().map(|test| (basis(release, &product, test), test));
    let near: Vec<(DiscountBasis, &TestedCode)> = near.collect();
    let mut codes = FxHashSet::default();
    let each_once = tests.iter().filter(|test| codes.insert(test.code.as_str()));
    // Each code keeps only its closest test, and of equally close tests the latest.
    let deciding = each_once.filter_map(|one| {
        let of_code = near.iter().filter(|(_, test)| test.code == one.code);
        of_code.min_by_key(|(basis, test)| (*basis, std::cmp::Reverse(test.tested_at)))
    });
    let mut told: Vec<Discount<'a>> = deciding
        .filter_map(|(basis, test)| match &test.verdict {
            CouponVerdict::Applicable(effect) if effect.currency == currency => Some(discount(test, effect, *basis)),
            _ => None,
        })
        .collect();
    told.sort_by_key(|one| (one.basis, std::cmp::Reverse(one.tested_at)));
    told.truncate(DISCOUNTS_MAX);
    told
}

fn basis(release: &Release, product: &Subject, test: &TestedCode) -> DiscountBasis {
    if test.product == product.id {
        return DiscountBasis::ThisProduct;
    }
    let found = release.find(&ProductIdent::Id(test.product));
    let category = found.and_then(|at| release.part(at.part)?.cards().category(at.row));
    if category.is_some() && category == product.category {
        DiscountBasis::ThisCategory
    } else {
        DiscountBasis::ThisStore
    }
}

fn discount<'a>(test: &'a TestedCode, effect: &'a CouponEffect, basis: DiscountBasis) -> Discount<'a> {
    Discount {
        code: test.code.as_str().into(),
        applicable: true,
        kind: effect.kind,
        percent: effect.percent(),
        discount_minor: Some(effect.discount_minor).filter(|minor| effect.kind != CouponKind::Percentage && *minor > 0),
        currency: effect.currency.as_str().into(),
        condition: DiscountCondition {
            min_subtotal_minor: None,
            tested_subtotal_minor: effect.subtotal_minor,
        },
        basis,
        source: test.source,
        tested_at: test.tested_at,
    }
}
