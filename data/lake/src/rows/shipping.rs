use arrow::array::{Array, BooleanBuilder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{
    BrandSlug, DaySpan, FactBasis, ShippingFact, ShippingFactKind, ShippingPolicy, ShippingTerms, StoreHost, Timestamp,
};

use super::build::{StoreColumns, table_rows};
use super::columns::{Columns, some_int, some_moment, some_text};
use super::nested::{FactBuilder, RateBuilder, UnknownTermBuilder};
use super::record::{Cell, Lists, Record};
use crate::{LakeError, TableName};

table_rows! {
    ShippingRows of ShippingPolicies {
        store: StoreColumns,
        currency: StringBuilder,
        free_shipping_threshold_minor: Int64Builder,
        cod_available: BooleanBuilder,
        tiers: Lists<RateBuilder>,
        source_url: StringBuilder,
        observed_at: Vec<Option<Timestamp>>,
        facts: Lists<FactBuilder>,
        unknown: Lists<UnknownTermBuilder>,
        /// Cash-on-delivery fee, then the bounds of dispatch days and of delivery days.
        told: [Int64Builder; 5],
        model_facts: Lists<FactBuilder>,
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
        self.store.push(bucket, store, slug.as_str());
        self.currency.append_value(currency.as_str());
        self.free_shipping_threshold_minor
            .append_option(*free_shipping_threshold_minor);
        self.cod_available.append_option(*cod_available);
        self.tiers.push(tiers, Record::append);
        let terms = terms.as_deref();
        self.source_url
            .append_option(terms.and_then(|terms| terms.source_url.as_deref()));
        self.observed_at.push(terms.map(|terms| terms.observed_at));
        let facts = |basis| {
            let facts = terms.into_iter().flat_map(|terms| &terms.facts);
            facts.filter(move |fact| fact.basis == basis)
        };
        self.facts.push(facts(FactBasis::Rules), Record::append);
        self.model_facts.push(facts(FactBasis::Model), Record::append);
        let unknown = terms.into_iter().flat_map(|terms| &terms.unknown);
        self.unknown.push(unknown, Record::append);
        let told = terms.map(told).unwrap_or_default();
        let columns = self.told.iter_mut().zip(told);
        columns.for_each(|(column, number)| column.append_option(number));
    }
}

/// Returns the shipping terms that are queried most often, which have their own columns.
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

pub(crate) fn policies(batch: &RecordBatch) -> Result<Vec<(StoreHost, ShippingPolicy)>, LakeError> {
    let columns = Columns::new(TableName::ShippingPolicies, batch);
    let (store, currency) = (columns.text("store")?, columns.text("currency")?);
    let threshold = columns.int("free_shipping_threshold_minor")?;
    let (cod, list) = (columns.flag("cod_available")?, columns.list("tiers")?);
    let (source_url, observed_at) = (columns.text("source_url")?, columns.moment("observed_at")?);
    let (said, silent) = (columns.list("facts")?, columns.list("unknown")?);
    let proposed = columns.list("model_facts")?;
    let told = |row| {
        let proposed = Vec::<ShippingFact>::read(proposed, row)?.into_iter();
        let mut told = Vec::<ShippingFact>::read(said, row)?;
        told.extend(proposed.map(|fact| ShippingFact {
            basis: FactBasis::Model,
            ..fact
        }));
        told.sort_by_key(|fact| fact.kind);
        Ok::<_, String>(told)
    };
    let terms = |row| {
        let Some(observed_at) = some_moment(observed_at, row) else {
            return Ok(None);
        };
        let terms = ShippingTerms {
            source_url: some_text(source_url, row),
            observed_at,
            facts: told(row).map_err(|value| columns.invalid("facts", value))?,
            unknown: Vec::read(silent, row).map_err(|value: String| columns.invalid("unknown", value))?,
        };
        Ok::<_, LakeError>(Some(Box::new(terms)))
    };
    let policy = |row| {
        let policy = ShippingPolicy {
            currency: columns.parse("currency", currency.value(row))?,
            free_shipping_threshold_minor: some_int(threshold, row),
            cod_available: cod.is_valid(row).then(|| cod.value(row)),
            tiers: Vec::read(list, row).map_err(|value: String| columns.invalid("tiers", value))?,
            terms: terms(row)?,
        };
        Ok((columns.parse("store", store.value(row))?, policy))
    };
    (0..batch.num_rows()).map(policy).collect()
}
