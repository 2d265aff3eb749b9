//! What a call of a function costs, told from its arguments before it is made: the bytes of its answer, and its steps where
//! these are not a few for each byte. Pure.

use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::compute;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

/// How a function's answer, or its work, grows with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Growth {
    /// The first argument, as many times as the second says.
    Times,
    /// As many characters as the second argument says.
    Padded,
    /// Each character of the first may become the third.
    Replaced,
    /// Each element of the first may become the third.
    ReplacedElements,
    /// All arguments together.
    Sum,
    /// All arguments together, with the first between any two.
    JoinedBy,
    /// The elements of the first argument as texts, with the second between any two, and the third for those without a value.
    JoinedElements,
    /// A list of the first argument's parts.
    Split,
    /// The second argument is a format, of which two letters may become many.
    Formatted,
    /// The first argument, written with more letters.
    Doubled,
    /// The numbers between two.
    Series,
    /// No more than it is given, but each part of the first argument is compared with each of the second.
    Pairs,
}

/// The functions that cost more than their arguments. No other function of the engine does.
pub(crate) const GROWING: [(&str, Growth); 30] = [
    ("repeat", Growth::Times),
    ("array_repeat", Growth::Times),
    ("array_resize", Growth::Padded),
    ("lpad", Growth::Padded),
    ("rpad", Growth::Padded),
    ("replace", Growth::Replaced),
    ("regexp_replace", Growth::Replaced),
    ("array_replace", Growth::ReplacedElements),
    ("array_replace_n", Growth::ReplacedElements),
    ("array_replace_all", Growth::ReplacedElements),
    ("overlay", Growth::Sum),
    ("concat", Growth::Sum),
    ("make_array", Growth::Sum),
    ("array_append", Growth::Sum),
    ("array_prepend", Growth::Sum),
    ("array_concat", Growth::Sum),
    ("array_union", Growth::Sum),
    ("concat_ws", Growth::JoinedBy),
    ("array_to_string", Growth::JoinedElements),
    ("string_to_array", Growth::Split),
    ("to_char", Growth::Formatted),
    ("encode", Growth::Doubled),
    ("range", Growth::Series),
    ("generate_series", Growth::Series),
    ("levenshtein", Growth::Pairs),
    ("array_has_any", Growth::Pairs),
    ("array_has_all", Growth::Pairs),
    ("btrim", Growth::Pairs),
    ("ltrim", Growth::Pairs),
    ("rtrim", Growth::Pairs),
];

/// What a call costs at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    pub(crate) bytes: u128,
    pub(crate) steps: u128,
}

impl Growth {
    /// For all rows of a batch.
    pub(crate) fn cost(self, args: &ScalarFunctionArgs) -> Result<Cost> {
        let rows = args.number_rows.max(1) as u128;
        let arg = |at: usize| args.args.get(at);
        let bytes = |at: usize| arg(at).map_or(0, |value| bytes_of(value, rows));
        let longest = |at: usize| arg(at).map_or(0, longest);
        let sum = || (0..args.args.len()).map(bytes).sum::<u128>();
        let bytes = match self {
            Self::Times => (bytes(0) + 8 * rows) * extent(arg(1))?.1.unsigned_abs(),
            // A character takes four bytes at most; the element of a list may take more.
            Self::Padded => bytes(0) + rows * extent(arg(1))?.1.unsigned_abs() * longest(2).max(8),
            Self::Replaced => (bytes(0) + rows) * (longest(2) + 1),
            Self::ReplacedElements => bytes(0) + parts(arg(0), rows) * longest(2),
            Self::Sum => sum(),
            Self::JoinedBy => sum() + rows * args.args.len() as u128 * longest(0),
            // A number takes more letters than bytes.
            Self::JoinedElements => bytes(0) + parts(arg(0), rows) * (longest(1) + longest(2) + 40),
            Self::Split => bytes(0) * 20,
            Self::Formatted => rows * longest(1) * 20,
            Self::Doubled => bytes(0) * 2,
            Self::Series => series(&args.args, rows)?,
            Self::Pairs => {
                let pairs = pairs(arg(0), arg(1), rows);
                return Ok(Cost { bytes: 0, steps: pairs });
            }
        };
        Ok(Cost { bytes, steps: 0 })
    }
}

fn series(args: &[ColumnarValue], rows: u128) -> Result<u128> {
    let (least, most) = match args {
        [stop] => (0, extent(Some(stop))?.1),
        [start, stop, ..] => {
            let (start, stop) = (extent(Some(start))?, extent(Some(stop))?);
            (start.0.min(stop.0), start.1.max(stop.1))
        }
        [] => (0, 0),
    };
    let step = match args.get(2) {
        Some(ColumnarValue::Scalar(step)) => extent(Some(&step.clone().into()))?.1.unsigned_abs().max(1),
        _ => 1,
    };
    Ok(rows * 8 * ((most - least).unsigned_abs() / step + 1))
}

fn bytes_of(value: &ColumnarValue, rows: u128) -> u128 {
    match value {
        ColumnarValue::Scalar(scalar) => rows * of_scalar(scalar),
        ColumnarValue::Array(array) => match lengths(array) {
            Some(lengths) if !is_list(array.data_type()) => lengths.map(|length| length as u128).sum(),
            _ => array.get_array_memory_size() as u128,
        },
    }
}

fn of_scalar(scalar: &ScalarValue) -> u128 {
    match scalar {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_ref().map_or(0, String::len) as u128
        }
        scalar => scalar.size() as u128,
    }
}

/// The most bytes of one value.
fn longest(value: &ColumnarValue) -> u128 {
    match value {
        ColumnarValue::Scalar(scalar) => of_scalar(scalar),
        ColumnarValue::Array(array) => match lengths(array) {
            Some(lengths) if !is_list(array.data_type()) => lengths.max().unwrap_or(0) as u128,
            _ => array
                .data_type()
                .primitive_width()
                .unwrap_or_else(|| array.get_array_memory_size()) as u128,
        },
    }
}

/// The elements of lists, all rows together.
fn parts(value: Option<&ColumnarValue>, rows: u128) -> u128 {
    match value {
        Some(ColumnarValue::Array(array)) => {
            lengths(array).map_or(0, |lengths| lengths.map(|length| length as u128).sum())
        }
        Some(ColumnarValue::Scalar(scalar)) => rows * length_of(scalar),
        None => 0,
    }
}

/// The parts of two values multiplied, all rows together.
fn pairs(one: Option<&ColumnarValue>, other: Option<&ColumnarValue>, rows: u128) -> u128 {
    // Without a second argument it is spaces that are looked for.
    let (Some(one), Some(other)) = (one, other) else {
        return 0;
    };
    match (one, other) {
        (ColumnarValue::Scalar(one), ColumnarValue::Scalar(other)) => rows * length_of(one) * length_of(other),
        (ColumnarValue::Array(each), ColumnarValue::Scalar(same))
        | (ColumnarValue::Scalar(same), ColumnarValue::Array(each)) => {
            let sum: u128 = lengths(each).map_or(0, |lengths| lengths.map(|length| length as u128).sum());
            sum * length_of(same)
        }
        (ColumnarValue::Array(one), ColumnarValue::Array(other)) => match (lengths(one), lengths(other)) {
            (Some(one), Some(other)) => one.zip(other).map(|(one, other)| one as u128 * other as u128).sum(),
            _ => 0,
        },
    }
}

/// The bytes of a text, or the elements of a list.
fn length_of(scalar: &ScalarValue) -> u128 {
    let array = match scalar {
        ScalarValue::List(list) => lengths(list.as_ref()).and_then(|mut lengths| lengths.next()),
        ScalarValue::LargeList(list) => lengths(list.as_ref()).and_then(|mut lengths| lengths.next()),
        ScalarValue::FixedSizeList(list) => lengths(list.as_ref()).and_then(|mut lengths| lengths.next()),
        _ => None,
    };
    array.map_or_else(|| of_scalar(scalar), |length| length as u128)
}

const fn is_list(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
    )
}

/// The bytes of each text, or the elements of each list; 0 where there is none. `None` for other kinds.
fn lengths(array: &dyn Array) -> Option<Box<dyn Iterator<Item = usize> + '_>> {
    let known = |length: Option<usize>| length.unwrap_or(0);
    Some(match array.data_type() {
        DataType::Utf8 => Box::new(
            array
                .as_string::<i32>()
                .iter()
                .map(move |text| known(text.map(str::len))),
        ),
        DataType::LargeUtf8 => Box::new(
            array
                .as_string::<i64>()
                .iter()
                .map(move |text| known(text.map(str::len))),
        ),
        DataType::Utf8View => Box::new(array.as_string_view().iter().map(move |text| known(text.map(str::len)))),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            Box::new((0..lists.len()).map(move |at| usize::try_from(lists.value_length(at)).unwrap_or(0)))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            Box::new((0..lists.len()).map(move |at| usize::try_from(lists.value_length(at)).unwrap_or(0)))
        }
        DataType::FixedSizeList(_, length) => {
            let length = usize::try_from(*length).unwrap_or(0);
            Box::new(std::iter::repeat_n(length, array.len()))
        }
        _ => return None,
    })
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
