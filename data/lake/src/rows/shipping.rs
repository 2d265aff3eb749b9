use arrow::array::{Array, BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{
    BrandSlug, DaySpan, FactBasis, ShippingFactKind, ShippingPolicy, ShippingTerms, StoreHost, Timestamp,
};

use super::build::table_rows;
use super::columns::{Columns, some_int, some_moment, some_text};
use super::rates::{Rates, rates};
use super::terms::{FactLists, UnknownTermLists, facts, unknown};
use crate::{LakeError, TableName};

table_rows! {
    /// Builder for rows of `shipping_policies`.
    ShippingRows of ShippingPolicies {
        bucket: Int32Builder,
        store: StringBuilder,
        brand_slug: StringBuilder,
        currency: StringBuilder,
        free_shipping_threshold_minor: Int64Builder,
        cod_available: BooleanBuilder,
        tiers: Rates,
        source_url: StringBuilder,
        observed_at: Vec<Option<Timestamp>>,
        facts: FactLists,
        unknown: UnknownTermLists,
        /// Cash-on-delivery fee, then the bounds of dispatch days and of delivery days.
        told: [Int64Builder; 5],
        model_facts: FactLists,
    }
}

impl ShippingRows {
    pub(crate) fn push(&mut self, bucket: i32, store: &StoreHost, slug: &BrandSlug, policy: &ShippingPolicy) {
        let ShippingPolicy {
            currency,
            free_shipping_threshold_minor,
            cod_available,
            tiers,
            terms,
        } = policy;
        self.bucket.append_value(bucket);
        self.store.append_value(store.as_str());
        self.brand_slug.append_value(slug.as_str());
        self.currency.append_value(currency.as_str());
        self.free_shipping_threshold_minor
            .append_option(*free_shipping_threshold_minor);
        self.cod_available.append_option(*cod_available);
        self.tiers.push(tiers);
        let terms = terms.as_deref();
        self.source_url
            .append_option(terms.and_then(|terms| terms.source_url.as_deref()));
        self.observed_at.push(terms.map(|terms| terms.observed_at));
        let facts = |basis| {
            let facts = terms.into_iter().flat_map(|terms| &terms.facts);
            facts.filter(move |fact| fact.basis == basis)
        };
        self.facts.push(facts(FactBasis::Rules));
        self.model_facts.push(facts(FactBasis::Model));
        self.unknown.push(terms.map_or(&[][..], |terms| &terms.unknown));
        let told = terms.map(told).unwrap_or_default();
        let columns = self.told.iter_mut().zip(told);
        columns.for_each(|(column, number)| column.append_option(number));
    }
}

/// Returns the shipping terms that are queried most often, which have their own columns. The values are derived from
/// the facts.
fn told(terms: &ShippingTerms) -> [Option<i64>; 5] {
    let fee = terms.of(ShippingFactKind::CodFee).find(|fact| fact.region.is_none());
    let (dispatch, delivery) = (terms.dispatch(), terms.delivery(None));
    let min = |days: Option<DaySpan>| days.map(|days| i64::from(days.min));
    let max = |days: Option<DaySpan>| days.and_then(|days| days.max).map(i64::from);
    [
        fee.and_then(|fact| fact.amount_minor),
        min(dispatch),
        max(dispatch),
        min(delivery),
        max(delivery),
    ]
}

/// Reads the policies in a record batch of `shipping_policies`.
pub(crate) fn policies(batch: &RecordBatch) -> Result<Vec<(StoreHost, ShippingPolicy)>, LakeError> {
    let columns = Columns::new(TableName::ShippingPolicies, batch);
    let (store, currency) = (columns.text("store")?, columns.text("currency")?);
    let threshold = columns.int("free_shipping_threshold_minor")?;
    let (cod, list) = (columns.flag("cod_available")?, columns.list("tiers")?);
    let (source_url, observed_at) = (columns.text("source_url")?, columns.moment("observed_at")?);
    let (said, silent) = (columns.list("facts")?, columns.list("unknown")?);
    let proposed = columns.list("model_facts")?;
    let told = |row| {
        let mut told = facts(said, row, FactBasis::Rules)?;
        told.extend(facts(proposed, row, FactBasis::Model)?);
        told.sort_by_key(|fact| fact.kind);
        Some(told)
    };
    let terms = |row| {
        let Some(observed_at) = some_moment(observed_at, row) else {
            return Ok(None);
        };
        let terms = ShippingTerms {
            source_url: some_text(source_url, row),
            observed_at,
            facts: told(row).ok_or_else(|| columns.invalid("facts", "its elements"))?,
            unknown: unknown(silent, row).ok_or_else(|| columns.invalid("unknown", "its elements"))?,
        };
        Ok::<_, LakeError>(Some(Box::new(terms)))
    };
    let policy = |row| {
        let policy = ShippingPolicy {
            currency: columns.parse("currency", currency.value(row))?,
            free_shipping_threshold_minor: some_int(threshold, row),
            cod_available: cod.is_valid(row).then(|| cod.value(row)),
            tiers: rates(list, row).ok_or_else(|| columns.invalid("tiers", "its elements"))?,
            terms: terms(row)?,
        };
        Ok((columns.parse("store", store.value(row))?, policy))
    };
    (0..batch.num_rows()).map(policy).collect()
}
