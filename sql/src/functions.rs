//! Functions whose answers may be far larger than their arguments: bounded before they are called, because what an
//! expression makes is counted by no pool.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute;
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use datafusion::prelude::SessionContext;

use crate::SqlError;

/// How a function's answer grows with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Growth {
    /// The first argument, as many times as the second says.
    Times,
    /// As many characters as the second argument says.
    Padded,
    /// Each character of the first may become the third.
    Replaced,
    /// All arguments together.
    Sum,
    /// The numbers between two.
    Series,
}

const GROWING: [(&str, Growth); 12] = [
    ("repeat", Growth::Times),
    ("array_repeat", Growth::Times),
    ("array_resize", Growth::Padded),
    ("lpad", Growth::Padded),
    ("rpad", Growth::Padded),
    ("replace", Growth::Replaced),
    ("regexp_replace", Growth::Replaced),
    ("overlay", Growth::Sum),
    ("concat", Growth::Sum),
    ("concat_ws", Growth::Sum),
    ("range", Growth::Series),
    ("generate_series", Growth::Series),
];

/// Bounds the growing functions of a session.
pub(crate) fn bound(context: &SessionContext, bytes_max: usize) {
    let known: Vec<_> = {
        let state = context.state_ref();
        let state = state.read();
        let found = |(name, growth): &(&str, Growth)| Some((Arc::clone(state.scalar_functions().get(*name)?), *growth));
        GROWING.iter().filter_map(found).collect()
    };
    for (inner, growth) in known {
        context.register_udf(ScalarUDF::from(Bounded {
            inner,
            growth,
            bytes_max,
        }));
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
    bytes_max: usize,
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let bytes = self.growth.bytes(&args)?;
        if bytes > self.bytes_max as u128 {
            let bytes_max = self.bytes_max;
            return Err(DataFusionError::External(Box::new(SqlError::Memory { bytes_max })));
        }
        self.inner.invoke_with_args(args)
    }
}

impl Growth {
    /// At least as many bytes as the answer takes, for all rows of a batch.
    fn bytes(self, args: &ScalarFunctionArgs) -> Result<u128> {
        let rows = args.number_rows.max(1) as u128;
        let bytes = |at: usize| args.args.get(at).map_or(0, |value| bytes_of(value, rows));
        Ok(match self {
            Self::Times => (bytes(0) + 8 * rows) * extent(args.args.get(1))?.1.unsigned_abs(),
            // A character takes four bytes at most; the element of a list may take more.
            Self::Padded => {
                let wide = (bytes(2) / rows).max(8);
                bytes(0) + rows * extent(args.args.get(1))?.1.unsigned_abs() * wide
            }
            Self::Replaced => (bytes(0) + rows) * (bytes(2) / rows + 1),
            Self::Sum => (0..args.args.len()).map(bytes).sum(),
            Self::Series => {
                let (least, most) = match args.args.as_slice() {
                    [stop] => (0, extent(Some(stop))?.1),
                    [start, stop, ..] => {
                        let (start, stop) = (extent(Some(start))?, extent(Some(stop))?);
                        (start.0.min(stop.0), start.1.max(stop.1))
                    }
                    [] => (0, 0),
                };
                let step = match args.args.get(2) {
                    Some(ColumnarValue::Scalar(step)) => extent(Some(&step.clone().into()))?.1.unsigned_abs().max(1),
                    _ => 1,
                };
                rows * 8 * ((most - least).unsigned_abs() / step + 1)
            }
        })
    }
}

fn bytes_of(value: &ColumnarValue, rows: u128) -> u128 {
    match value {
        ColumnarValue::Scalar(ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text)) => {
            rows * text.as_ref().map_or(0, String::len) as u128
        }
        ColumnarValue::Scalar(scalar) => rows * scalar.size() as u128,
        ColumnarValue::Array(array) => {
            let texts = |lengths: &mut dyn Iterator<Item = usize>| lengths.sum::<usize>() as u128;
            match array.data_type() {
                DataType::Utf8 => texts(&mut array.as_string::<i32>().iter().flatten().map(str::len)),
                DataType::LargeUtf8 => texts(&mut array.as_string::<i64>().iter().flatten().map(str::len)),
                DataType::Utf8View => texts(&mut array.as_string_view().iter().flatten().map(str::len)),
                _ => array.get_array_memory_size() as u128,
            }
        }
    }
}

/// The least and the most of whole numbers; zeros where there are none.
fn extent(value: Option<&ColumnarValue>) -> Result<(i128, i128)> {
    let Some(value) = value else { return Ok((0, 0)) };
    if !value.data_type().is_integer() && !value.data_type().is_null() {
        let words = "this function takes whole numbers here; in FROM, generate_series takes dates too";
        return Err(DataFusionError::Plan(words.to_owned()));
    }
    let numbers = value.cast_to(&DataType::Int64, None)?.into_array(1)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    let (least, most) = (compute::min(numbers), compute::max(numbers));
    Ok((least.unwrap_or_default().into(), most.unwrap_or_default().into()))
}
