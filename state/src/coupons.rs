use async_recursion::async_recursion as boxed;
use data_model::{CouponEffect, CouponKind, CouponVerdict, StoreHost, Timestamp, VariantId};

use crate::database::{State, Value, WriteTransaction};
use crate::error::StateError;

/// A store's word on a code on a cart of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouponOutcome {
    /// The code, in capital letters.
    pub code: String,
    /// The item that the store was asked with; `None` where it says that it has no such code, whatever the cart.
    pub variant: Option<VariantId>,
    /// Its word.
    pub verdict: CouponVerdict,
    /// The moment at which it was about to be asked.
    pub tested_at: Timestamp,
}

/// Bounds of the outcomes that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CouponBounds {
    /// Outcomes that are older are forgotten, of all stores.
    pub oldest: Timestamp,
    /// Most outcomes of one store; beyond, the oldest go.
    pub per_store_max: u32,
}

/// Stands for the item of an outcome on a cart of other things.
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
    /// Remembers what a store said. Of two outcomes of a code on the same item the later one stays, in whatever order they
    /// come. A code that the store has not at all is that for every item, until one applies.
    ///
    /// # Errors
    /// [`StateError`]; the same call may be made again.
    #[boxed]
    pub async fn note_coupons(
        &self,
        store: &StoreHost,
        outcomes: &[CouponOutcome],
        bounds: CouponBounds,
    ) -> Result<(), StateError> {
        // Always in one order, so that two servers never wait for each other in a ring.
        let mut outcomes: Vec<&CouponOutcome> = outcomes.iter().collect();
        outcomes.sort_by(|one, other| one.code.cmp(&other.code));
        let mut writing = self.begin().await?;
        for outcome in outcomes {
            let variant = outcome.variant.map_or(Ok(0), number)?;
            note(&mut writing, store, outcome, variant).await?;
        }
        let forgotten = vec![Value::integer(bounds.oldest.micros())];
        writing
            .execute("DELETE FROM coupon_outcomes WHERE tested_at < $1", forgotten)
            .await?;
        let sql = "DELETE FROM coupon_outcomes WHERE store = $1 AND tested_at <= (SELECT tested_at FROM coupon_outcomes \
                   WHERE store = $1 ORDER BY tested_at DESC, code LIMIT 1 OFFSET $2)";
        let values = vec![
            Value::text(store.as_str()),
            Value::integer(i64::from(bounds.per_store_max)),
        ];
        writing.execute(sql, values).await?;
        writing.commit().await
    }

    /// Remembers codes that applied to a cart of other things than one item: what they took off there says nothing of
    /// another cart, but they are worth trying again.
    ///
    /// # Errors
    /// [`StateError`]; the same call may be made again.
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
            let values = vec![
                Value::text(store.as_str()),
                Value::integer(OTHER_CART),
                Value::text(code),
                Value::integer(at.micros()),
            ];
            writing.execute(sql, values).await?;
        }
        writing.commit().await
    }

    /// A store's words since then on codes on this item, and codes that it has not at all; the latest first.
    ///
    /// # Errors
    /// [`StateError`].
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
        let values = vec![
            Value::text(store.as_str()),
            Value::integer(number(variant)?),
            Value::integer(since.micros()),
        ];
        let rows: Vec<OutcomeRow> = self.rows(sql, values).await?;
        rows.into_iter().map(outcome).collect()
    }

    /// Codes that applied to any item of a store since then, those that did so last first, so many at most.
    ///
    /// # Errors
    /// [`StateError`].
    #[boxed]
    pub async fn coupons_that_worked(
        &self,
        store: &StoreHost,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<String>, StateError> {
        let sql = "SELECT code, MAX(worked_at) FROM coupon_outcomes WHERE store = $1 AND worked_at >= $2 \
                   GROUP BY code ORDER BY MAX(worked_at) DESC, code LIMIT $3";
        let values = vec![
            Value::text(store.as_str()),
            Value::integer(since.micros()),
            Value::integer(i64::from(most)),
        ];
        let rows: Vec<(String, i64)> = self.rows(sql, values).await?;
        Ok(rows.into_iter().map(|(code, _)| code).collect())
    }
}

/// Forgets that the store has no such code where it has one now, and what it said of any item where it has none now.
async fn forget_contrary(
    writing: &mut WriteTransaction,
    store: &StoreHost,
    code: &str,
    at: Timestamp,
    variant: i64,
) -> Result<(), StateError> {
    let sql = "DELETE FROM coupon_outcomes WHERE store = $1 AND code = $2 AND tested_at <= $3 \
               AND ((variant = 0) <> ($4 = 0))";
    let values = vec![
        Value::text(store.as_str()),
        Value::text(code),
        Value::integer(at.micros()),
        Value::integer(variant),
    ];
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
    let amount = |amount: fn(&CouponEffect) -> i64| Value::Integer(effect.map(amount));
    let sql = "INSERT INTO coupon_outcomes (store, variant, code, verdict, kind, discount_minor, subtotal_minor, \
               total_minor, currency, tested_at, worked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
               ON CONFLICT (store, variant, code) DO UPDATE SET verdict = excluded.verdict, kind = excluded.kind, \
               discount_minor = excluded.discount_minor, subtotal_minor = excluded.subtotal_minor, \
               total_minor = excluded.total_minor, currency = excluded.currency, tested_at = excluded.tested_at, \
               worked_at = COALESCE(excluded.worked_at, coupon_outcomes.worked_at) \
               WHERE excluded.tested_at >= coupon_outcomes.tested_at";
    let values = vec![
        Value::text(store.as_str()),
        Value::integer(variant),
        Value::text(code),
        Value::text(word),
        Value::Text(effect.map(|effect| effect.kind.as_str().to_owned())),
        amount(|effect| effect.discount_minor),
        amount(|effect| effect.subtotal_minor),
        amount(|effect| effect.total_minor),
        Value::Text(effect.map(|effect| effect.currency.to_string())),
        Value::integer(tested_at.micros()),
        Value::Integer(effect.map(|_| tested_at.micros())),
    ];
    writing.execute(sql, values).await.map(|_| ())
}

fn number(variant: VariantId) -> Result<i64, StateError> {
    i64::try_from(variant.0).map_err(|_| StateError::Damaged { what: "variant id" })
}

fn outcome(row: OutcomeRow) -> Result<CouponOutcome, StateError> {
    let (variant, code, verdict, kind, discount_minor, subtotal_minor, total_minor, currency, tested_at) = row;
    let damaged = || StateError::Damaged { what: "coupon" };
    let kind_of = |text: &str| CouponKind::ALL.into_iter().find(|kind| kind.as_str() == text);
    let verdict = match verdict.as_str() {
        "applicable" => CouponVerdict::Applicable(CouponEffect {
            kind: kind.as_deref().and_then(kind_of).ok_or_else(damaged)?,
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
