use arrow::array::{Array, ArrayRef, Int64Array, Int64Builder, ListArray, StringArray, StringBuilder, StructArray};
use arrow::error::ArrowError;
use data_model::DeliveryRate;
use std::sync::Arc;

use super::columns::{elements, some_int, struct_child};
use super::nested::Offsets;
use crate::schema;

/// Builder of a column of lists of shipping or delivery rates, with fields in the order of [`schema::rates`].
#[derive(Debug, Default)]
pub(crate) struct Rates {
    offsets: Offsets,
    names: StringBuilder,
    numbers: [Int64Builder; 5],
    len: usize,
}

impl Rates {
    pub(crate) fn push(&mut self, rates: &[DeliveryRate]) {
        for rate in rates {
            self.names.append_value(&rate.name);
            let numbers = [
                Some(rate.amount_minor),
                rate.min_order_minor,
                rate.max_order_minor,
                rate.days_min.map(i64::from),
                rate.days_max.map(i64::from),
            ];
            let columns = self.numbers.iter_mut().zip(numbers);
            columns.for_each(|(column, number)| column.append_option(number));
        }
        self.len += rates.len();
        self.offsets.close(self.len);
    }

    pub(crate) fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let mut children: Vec<ArrayRef> = vec![Arc::new(self.names.finish())];
        let numbers = self.numbers.iter_mut();
        children.extend(numbers.map(|numbers| Arc::new(numbers.finish()) as ArrayRef));
        self.offsets.structs(schema::rates(), children)
    }
}

/// Returns the rates of one row.
pub(crate) fn rates(list: &ListArray, row: usize) -> Option<Vec<DeliveryRate>> {
    let structs: &StructArray = list.values().as_any().downcast_ref()?;
    let names: &StringArray = struct_child(structs, 0)?;
    let numbers: Vec<&Int64Array> = (1..=5)
        .map(|index| struct_child(structs, index))
        .collect::<Option<_>>()?;
    let rate = |index: usize| DeliveryRate {
        name: names.value(index).to_owned(),
        amount_minor: numbers[0].value(index),
        min_order_minor: some_int(numbers[1], index),
        max_order_minor: some_int(numbers[2], index),
        days_min: some_int(numbers[3], index),
        days_max: some_int(numbers[4], index),
    };
    Some(elements(list, row).map(rate).collect())
}
