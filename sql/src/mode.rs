use std::collections::HashMap;
use std::mem::size_of;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

/// Aggregate function `mode(x)`: the most frequent value, or the smallest of several equally frequent ones.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mode {
    signature: Signature,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl AggregateUDFImpl for Mode {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts {
            data_type: args.return_field.data_type().clone(),
            rows: HashMap::new(),
            bytes: 0,
        }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = |name: &str, of: &DataType| {
            let element = Field::new_list_field(of.clone(), true);
            Arc::new(Field::new_list(name, element, true))
        };
        let values = list("values", args.return_field.data_type());
        Ok(vec![values, list("rows", &DataType::Int64)])
    }
}

/// Number of rows for each value.
#[derive(Debug)]
struct Counts {
    data_type: DataType,
    rows: HashMap<ScalarValue, i64>,
    /// Memory of the values and their counts, in bytes.
    bytes: usize,
}

impl Counts {
    fn add(&mut self, value: ScalarValue, rows: i64) {
        if value.is_null() {
            return;
        }
        let bytes = value.size();
        let known = self.rows.entry(value).or_insert_with(|| {
            self.bytes += bytes + size_of::<i64>();
            0
        });
        *known += rows;
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first() else { return Ok(()) };
        for at in 0..values.len() {
            self.add(ScalarValue::try_from_array(values, at)?, 1);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let most = self.rows.iter().max_by(|(one, rows), (other, more)| {
            let by_value = other.partial_cmp(one).unwrap_or(std::cmp::Ordering::Equal);
            rows.cmp(more).then(by_value)
        });
        match most {
            Some((value, _)) => Ok(value.clone()),
            None => ScalarValue::try_from(&self.data_type),
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (values, rows): (Vec<_>, Vec<_>) = self.rows.drain().map(|(value, rows)| (value, rows.into())).unzip();
        self.bytes = 0;
        let list =
            |of: &[ScalarValue], data_type: &DataType| ScalarValue::List(ScalarValue::new_list_nullable(of, data_type));
        Ok(vec![list(&values, &self.data_type), list(&rows, &DataType::Int64)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, rows] = states else { return Ok(()) };
        let (values, rows) = (values.as_list::<i32>(), rows.as_list::<i32>());
        for (values, rows) in values
            .iter()
            .zip(rows.iter())
            .filter_map(|(values, rows)| values.zip(rows))
        {
            let rows = rows.as_primitive::<Int64Type>();
            for at in 0..values.len() {
                self.add(ScalarValue::try_from_array(&values, at)?, rows.value(at));
            }
        }
        Ok(())
    }
}
