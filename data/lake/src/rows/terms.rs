//! List columns of shipping terms that were read from texts.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, BooleanBuilder, Int64Array, Int64Builder, ListArray, StringArray, StringBuilder,
    StructArray,
};
use arrow::error::ArrowError;
use data_model::{FactBasis, ShippingFact, UnknownTerm};

use super::columns::{elements, some_int, some_text, struct_child};
use super::nested::Offsets;
use crate::schema;

/// Number of columns of each type in a fact, in the order of [`schema::shipping_facts`].
const TEXTS: usize = 5;
const FLAGS: usize = 2;
const NUMBERS: usize = 11;

/// Builder of a column of fact lists.
#[derive(Debug, Default)]
pub(super) struct FactLists {
    offsets: Offsets,
    texts: [StringBuilder; TEXTS],
    flags: [BooleanBuilder; FLAGS],
    numbers: [Int64Builder; NUMBERS],
    len: usize,
}

impl FactLists {
    pub(super) fn push<'a>(&mut self, facts: impl Iterator<Item = &'a ShippingFact>) {
        for fact in facts {
            self.push_one(fact);
            self.len += 1;
        }
        self.offsets.close(self.len);
    }

    fn push_one(&mut self, fact: &ShippingFact) {
        let texts: [Option<&str>; TEXTS] = [
            Some(fact.kind.as_str()),
            fact.region.map(|region| region.as_str()),
            fact.payment.map(|payment| payment.as_str()),
            Some(&fact.sentence),
            fact.source_url.as_deref(),
        ];
        let numbers: [Option<i64>; NUMBERS] = [
            fact.amount_minor,
            fact.amount_max_minor,
            fact.percent.map(i64::from),
            fact.min_order_minor,
            fact.max_order_minor,
            fact.min_grams.map(i64::from),
            fact.max_grams.map(i64::from),
            fact.days_min.map(i64::from),
            fact.days_max.map(i64::from),
            fact.minute_of_day.map(i64::from),
            fact.weekdays.map(i64::from),
        ];
        let flags = [fact.is_available, fact.in_working_days];
        let columns = self.texts.iter_mut().zip(texts);
        columns.for_each(|(column, text)| column.append_option(text));
        let columns = self.flags.iter_mut().zip(flags);
        columns.for_each(|(column, flag)| column.append_option(flag));
        let columns = self.numbers.iter_mut().zip(numbers);
        columns.for_each(|(column, number)| column.append_option(number));
    }

    pub(super) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let texts = self.texts.iter_mut().map(|texts| Arc::new(texts.finish()) as ArrayRef);
        let flags = self.flags.iter_mut().map(|flags| Arc::new(flags.finish()) as ArrayRef);
        let numbers = self
            .numbers
            .iter_mut()
            .map(|numbers| Arc::new(numbers.finish()) as ArrayRef);
        let children = texts.chain(flags).chain(numbers).collect();
        self.offsets.structs(schema::shipping_facts(), children)
    }
}

/// Returns the facts of one row with the basis `basis`. Returns `None` if the facts cannot be read.
pub(super) fn facts(list: &ListArray, row: usize, basis: FactBasis) -> Option<Vec<ShippingFact>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let texts: Vec<&StringArray> = (0..TEXTS)
        .map(|index| struct_child(structs, index))
        .collect::<Option<_>>()?;
    let flags: Vec<&BooleanArray> = (TEXTS..TEXTS + FLAGS)
        .map(|index| struct_child(structs, index))
        .collect::<Option<_>>()?;
    let numbers: Vec<&Int64Array> = (TEXTS + FLAGS..TEXTS + FLAGS + NUMBERS)
        .map(|index| struct_child(structs, index))
        .collect::<Option<_>>()?;
    let flag = |column: usize, at: usize| flags[column].is_valid(at).then(|| flags[column].value(at));
    let fact = |at: usize| {
        let named = |column: usize| texts[column].is_valid(at).then(|| texts[column].value(at));
        Some(ShippingFact {
            kind: texts[0].value(at).parse().ok()?,
            region: named(1).map(str::parse).transpose().ok()?,
            payment: named(2).map(str::parse).transpose().ok()?,
            sentence: texts[3].value(at).to_owned(),
            source_url: named(4).map(str::to_owned),
            basis,
            is_available: flag(0, at),
            in_working_days: flag(1, at),
            amount_minor: some_int(numbers[0], at),
            amount_max_minor: some_int(numbers[1], at),
            percent: some_int(numbers[2], at),
            min_order_minor: some_int(numbers[3], at),
            max_order_minor: some_int(numbers[4], at),
            min_grams: some_int(numbers[5], at),
            max_grams: some_int(numbers[6], at),
            days_min: some_int(numbers[7], at),
            days_max: some_int(numbers[8], at),
            minute_of_day: some_int(numbers[9], at),
            weekdays: some_int(numbers[10], at),
        })
    };
    elements(list, row).map(fact).collect()
}

/// Builder of a column of lists of unknown terms.
#[derive(Debug, Default)]
pub(super) struct UnknownTermLists {
    offsets: Offsets,
    texts: [StringBuilder; 3],
    len: usize,
}

impl UnknownTermLists {
    pub(super) fn push(&mut self, unknown: &[UnknownTerm]) {
        for term in unknown {
            self.texts[0].append_value(term.kind.as_str());
            self.texts[1].append_value(term.reason.as_str());
            self.texts[2].append_option(term.sentence.as_deref());
        }
        self.len += unknown.len();
        self.offsets.close(self.len);
    }

    pub(super) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let children = self.texts.iter_mut();
        let children = children.map(|texts| Arc::new(texts.finish()) as ArrayRef).collect();
        self.offsets.structs(schema::unknown_terms(), children)
    }
}

/// Returns the unknown terms of one row; `None` if they cannot be read.
pub(super) fn unknown(list: &ListArray, row: usize) -> Option<Vec<UnknownTerm>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let texts: Vec<&StringArray> = (0..3)
        .map(|index| struct_child(structs, index))
        .collect::<Option<_>>()?;
    let term = |at: usize| {
        Some(UnknownTerm {
            kind: texts[0].value(at).parse().ok()?,
            reason: texts[1].value(at).parse().ok()?,
            sentence: some_text(texts[2], at),
        })
    };
    elements(list, row).map(term).collect()
}
