use async_recursion::async_recursion as boxed;
use data_model::{CouponEffect, CouponKind, CouponVerdict, StoreHost, Timestamp, VariantId};

use crate::database::{State, WriteTransaction, values};
use crate::error::StateError;

/// A store's verdict on a discount code, tested on a cart with one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponOutcome {
    /// The code, in uppercase.
    pub code: String,
    /// The tested item. `None` if the store reports that the code does not exist.
    pub variant: Option<VariantId>,
    /// The verdict of the store.
    pub verdict: CouponVerdict,
    /// Time immediately before the request to the store.
    pub tested_at: Timestamp,
}

/// Limits on the stored outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CouponBounds {
    /// Outcomes before this time are deleted for all stores.
    pub oldest: Timestamp,
    /// Maximum number of outcomes per store. The oldest are deleted.
    pub per_store_max: u32,
}

/// Item id of an outcome for another cart than one with a single tested item.
const OTHER_CART: i64 = -1;

type OutcomeRow = (
    i64,
    String,
    String,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    i64,
);

impl State {
    /// Stores the verdicts of a store. Of two outcomes for a code and item, the later one is kept, in any order of
    /// calls. A code that does not exist at the store is unknown for every item until it works again.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn note_coupons(
        &self,
        store: &StoreHost,
        outcomes: &[CouponOutcome],
        bounds: CouponBounds,
    ) -> Result<(), StateError> {
        // A fixed order prevents deadlocks between two servers.
        let mut outcomes: Vec<&CouponOutcome> = outcomes.iter().collect();
        outcomes.sort_by(|one, other| one.code.cmp(&other.code));
        let mut writing = self.begin().await?;
        for outcome in outcomes {
            let variant = outcome.variant.map_or(Ok(0), number)?;
            note(&mut writing, store, outcome, variant).await?;
        }
        let forgotten = values![bounds.oldest];
        writing
            .execute("DELETE FROM coupon_outcomes WHERE tested_at < $1", forgotten)
            .await?;
        let sql = "DELETE FROM coupon_outcomes WHERE store = $1 AND tested_at <= (SELECT tested_at FROM coupon_outcomes \
                   WHERE store = $1 ORDER BY tested_at DESC, code LIMIT 1 OFFSET $2)";
        let values = values![store.as_str(), bounds.per_store_max];
        writing.execute(sql, values).await?;
        writing.commit().await
    }

    /// Stores codes that applied to a cart with other contents than one item. Such a discount does not predict that of
    /// another cart, but the codes are worth another test.
    ///
    /// # Errors
    /// [`StateError`]. The call may be repeated.
    #[boxed]
    pub async fn note_worked(&self, store: &StoreHost, codes: &[String], at: Timestamp) -> Result<(), StateError> {
        let mut codes: Vec<&String> = codes.iter().collect();
        codes.sort();
        let mut writing = self.begin().await?;
        for code in codes {
            forget_contrary(&mut writing, store, code, at, OTHER_CART).await?;
            let sql = "INSERT INTO coupon_outcomes (store, variant, code, verdict, tested_at, worked_at) \
                       VALUES ($1, $2, $3, 'applicable', $4, $4) ON CONFLICT (store, variant, code) \
                       DO UPDATE SET tested_at = excluded.tested_at, worked_at = excluded.worked_at \
                       WHERE excluded.tested_at >= coupon_outcomes.tested_at";
            let values = values![store.as_str(), OTHER_CART, code, at];
            writing.execute(sql, values).await?;
        }
        writing.commit().await
    }

    /// Returns a store's verdicts since a time on codes for this item, and the codes that do not exist at the store.
    /// The latest verdict is first.
    #[boxed]
    pub async fn coupons(
        &self,
        store: &StoreHost,
        variant: VariantId,
        since: Timestamp,
    ) -> Result<Vec<CouponOutcome>, StateError> {
        let sql = "SELECT variant, code, verdict, kind, discount_minor, subtotal_minor, total_minor, currency, tested_at \
                   FROM coupon_outcomes WHERE store = $1 AND variant IN (0, $2) AND tested_at >= $3 \
                   ORDER BY tested_at DESC, code";
        let values = values![store.as_str(), number(variant)?, since];
        let rows: Vec<OutcomeRow> = self.rows(sql, values).await?;
        rows.into_iter().map(outcome).collect()
    }

    /// Returns the codes that applied to any item of a store since a time, most recent first, up to a limit.
    #[boxed]
    pub async fn coupons_that_worked(
        &self,
        store: &StoreHost,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<String>, StateError> {
        let sql = "SELECT code, MAX(worked_at) FROM coupon_outcomes WHERE store = $1 AND worked_at >= $2 \
                   GROUP BY code ORDER BY MAX(worked_at) DESC, code LIMIT $3";
        let values = values![store.as_str(), since, most];
        let rows: Vec<(String, i64)> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(|(code, _)| code).collect())
    }
}

/// Deletes contradicted outcomes. A code with an outcome for an item exists. A code that does not exist has no outcomes
/// for items.
async fn forget_contrary(
    writing: &mut WriteTransaction,
    store: &StoreHost,
    code: &str,
    at: Timestamp,
    variant: i64,
) -> Result<(), StateError> {
    let sql = "DELETE FROM coupon_outcomes WHERE store = $1 AND code = $2 AND tested_at <= $3 \
               AND ((variant = 0) <> ($4 = 0))";
    let values = values![store.as_str(), code, at, variant];
    writing.execute(sql, values).await.map(|_| ())
}

async fn note(
    writing: &mut WriteTransaction,
    store: &StoreHost,
    outcome: &CouponOutcome,
    variant: i64,
) -> Result<(), StateError> {
    let CouponOutcome {
        code,
        verdict,
        tested_at,
        ..
    } = outcome;
    forget_contrary(writing, store, code, *tested_at, variant).await?;
    let (word, effect) = match verdict {
        CouponVerdict::Applicable(effect) => ("applicable", Some(effect)),
        CouponVerdict::NotApplicable => ("not_applicable", None),
        CouponVerdict::UnknownCode => ("unknown_code", None),
    };
    let sql = "INSERT INTO coupon_outcomes (store, variant, code, verdict, kind, discount_minor, subtotal_minor, \
               total_minor, currency, tested_at, worked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
               ON CONFLICT (store, variant, code) DO UPDATE SET verdict = excluded.verdict, kind = excluded.kind, \
               discount_minor = excluded.discount_minor, subtotal_minor = excluded.subtotal_minor, \
               total_minor = excluded.total_minor, currency = excluded.currency, tested_at = excluded.tested_at, \
               worked_at = COALESCE(excluded.worked_at, coupon_outcomes.worked_at) \
               WHERE excluded.tested_at >= coupon_outcomes.tested_at";
    let values = values![
        store.as_str(),
        variant,
        code,
        word,
        effect.map(|effect| effect.kind.as_str()),
        effect.map(|effect| effect.discount_minor),
        effect.map(|effect| effect.subtotal_minor),
        effect.map(|effect| effect.total_minor),
        effect.map(|effect| effect.currency.to_string()),
        *tested_at,
        effect.map(|_| *tested_at),
    ];
    writing.execute(sql, values).await.map(|_| ())
}

fn number(variant: VariantId) -> Result<i64, StateError> {
    i64::try_from(variant.0).map_err(|_| StateError::Damaged { what: "variant id" })
}

fn outcome(row: OutcomeRow) -> Result<CouponOutcome, StateError> {
    let (variant, code, verdict, kind, discount_minor, subtotal_minor, total_minor, currency, tested_at) = row;
    let damaged = || StateError::Damaged { what: "coupon" };
    let verdict = match verdict.as_str() {
        "applicable" => CouponVerdict::Applicable(CouponEffect {
            kind: kind.as_deref().and_then(CouponKind::named).ok_or_else(damaged)?,
            discount_minor: discount_minor.ok_or_else(damaged)?,
            subtotal_minor: subtotal_minor.ok_or_else(damaged)?,
            total_minor: total_minor.ok_or_else(damaged)?,
            currency: currency.and_then(|code| code.parse().ok()).ok_or_else(damaged)?,
        }),
        "not_applicable" => CouponVerdict::NotApplicable,
        "unknown_code" => CouponVerdict::UnknownCode,
        _ => return Err(damaged()),
    };
    Ok(CouponOutcome {
        code,
        variant: u64::try_from(variant)
            .ok()
            .filter(|variant| *variant > 0)
            .map(VariantId),
        verdict,
        tested_at: Timestamp::from_micros(tested_at),
    })
}
