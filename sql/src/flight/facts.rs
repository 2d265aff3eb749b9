//! Capabilities of the server by their `SqlInfo` numbers. JDBC clients request nearly all of them and fail if one is
//! missing. The server is read-only and has no transactions. A client cancels a statement by ending the call.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, UInt32Array, UnionArray, new_empty_array,
    new_null_array,
};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Fields, UnionFields};

use super::catalogue::{batch, failed, texts};
use super::messages::GetSqlInfo;
use crate::SqlError;

#[derive(Debug, Clone, Copy)]
enum Fact {
    Text(&'static str),
    Flag(bool),
    /// Number; 0 means "no limit" or "unknown".
    Whole(i64),
    /// Bit set of supported capabilities.
    Bits(i32),
    /// Empty map of the types that `convert` converts, because `convert` is not supported.
    NoConversions,
}

use Fact::{Bits, Flag, NoConversions, Text, Whole};

/// All capabilities except plain limits.
const FACTS: [(u32, Fact); 54] = [
    (0, Text("haat")),
    (1, Text(env!("CARGO_PKG_VERSION"))),
    (2, Text("1.3")),
    (3, Flag(true)),
    (4, Flag(true)),
    (5, Flag(false)),
    (8, Whole(0)),
    (9, Flag(false)),
    (10, Flag(false)),
    (500, Flag(false)),
    (501, Flag(false)),
    (502, Flag(false)),
    // Unquoted names become lowercase.
    (503, Whole(3)),
    (504, Text("\"")),
    (505, Whole(0)),
    (506, Flag(true)),
    // Nulls sort as the highest values.
    (507, Whole(0)),
    (513, Text("\\")),
    (514, Text("")),
    (515, Flag(true)),
    (516, Flag(true)),
    (517, NoConversions),
    (518, Flag(true)),
    (519, Flag(false)),
    (520, Flag(true)),
    (521, Flag(true)),
    // `group by` accepts columns that are not selected, and columns beyond the selected ones.
    (522, Bits(0b11)),
    (523, Flag(true)),
    (524, Flag(true)),
    // The engine supports the minimum and the core SQL grammar, and the entry level of the SQL-92 standard.
    (525, Bits(0b11)),
    (526, Bits(0b1)),
    (527, Flag(false)),
    // The engine supports limited and full outer joins.
    (528, Bits(0b110)),
    (529, Text("schema")),
    (530, Text("procedure")),
    (531, Text("catalog")),
    (532, Flag(true)),
    (533, Bits(0)),
    (534, Bits(0)),
    (535, Bits(0)),
    (536, Flag(false)),
    (537, Flag(false)),
    // The engine supports subqueries in comparisons, in `exists` and in `in`.
    (538, Bits(0b111)),
    (539, Flag(true)),
    // The engine supports `union` with and without `all`.
    (540, Bits(0b11)),
    (556, Flag(false)),
    (557, Whole(64 * 1024)),
    (562, Whole(0)),
    (563, Flag(false)),
    (564, Bits(0b1)),
    // Result sets are forward-only.
    (567, Bits(0b10)),
    (568, Bits(0)),
    (569, Bits(0b10)),
    (570, Bits(0)),
];

/// Numbers of limits that do not exist here: lengths of literals and names, numbers of columns, tables and connections.
const UNLIMITED: std::ops::RangeInclusive<u32> = 541..=561;
/// Numbers of capabilities that a read-only server lacks.
const ABSENT: [u32; 7] = [565, 566, 572, 573, 574, 575, 576];

fn facts() -> impl Iterator<Item = (u32, Fact)> {
    let told = |number: &u32| FACTS.iter().any(|(known, _)| known == number);
    let unlimited = UNLIMITED
        .filter(move |number| !told(number))
        .map(|number| (number, Whole(0)));
    let absent = ABSENT.into_iter().map(|number| (number, Flag(false)));
    FACTS.into_iter().chain(unlimited).chain(absent).chain([(571, Bits(0))])
}

/// Returns the requested capabilities, or all of them if the request names none.
pub(super) fn sql_info(wanted: &GetSqlInfo) -> Result<RecordBatch, SqlError> {
    let mut facts: Vec<_> = facts()
        .filter(|(number, _)| wanted.info.is_empty() || wanted.info.contains(number))
        .collect();
    facts.sort_by_key(|(number, _)| *number);
    let (mut words, mut flags, mut wholes, mut bits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut maps = 0;
    let (mut kinds, mut offsets) = (Vec::new(), Vec::new());
    for (_, fact) in &facts {
        let (kind, at) = match fact {
            Text(text) => {
                words.push(*text);
                (0_i8, words.len())
            }
            Flag(flag) => {
                flags.push(*flag);
                (1, flags.len())
            }
            Whole(whole) => {
                wholes.push(*whole);
                (2, wholes.len())
            }
            Bits(of) => {
                bits.push(*of);
                (3, bits.len())
            }
            NoConversions => {
                maps += 1;
                (5, maps)
            }
        };
        kinds.push(kind);
        offsets.push(i32::try_from(at - 1).unwrap_or_default());
    }
    let fields = value_fields();
    let of_kind = |kind: i8| {
        fields
            .iter()
            .find(|(known, _)| *known == kind)
            .map(|(_, field)| field.data_type())
    };
    let lists = new_empty_array(of_kind(4).unwrap_or(&DataType::Null));
    let children: Vec<ArrayRef> = vec![
        texts(words),
        Arc::new(BooleanArray::from(flags)),
        Arc::new(Int64Array::from(wholes)),
        Arc::new(Int32Array::from(bits)),
        lists,
        empty_maps(of_kind(5).unwrap_or(&DataType::Null), maps),
    ];
    let (kinds, offsets) = (ScalarBuffer::from(kinds), ScalarBuffer::from(offsets));
    let values = UnionArray::try_new(fields, kinds, Some(offsets), children).map_err(|error| failed(&error))?;
    let numbers: UInt32Array = facts.iter().map(|(number, _)| Some(*number)).collect();
    batch(
        vec![
            Field::new("info_name", DataType::UInt32, false),
            Field::new("value", values.data_type().clone(), false),
        ],
        vec![Arc::new(numbers), Arc::new(values)],
    )
}

/// Creates an array of `count` maps that are empty but not null.
fn empty_maps(of: &DataType, count: usize) -> ArrayRef {
    let nulls = new_null_array(of, count);
    let without_nulls = nulls.to_data().into_builder().nulls(None).build();
    without_nulls.map_or(nulls, datafusion::arrow::array::make_array)
}

/// Returns the union of value types that the specification defines.
fn value_fields() -> UnionFields {
    let list = |of: DataType| DataType::List(Arc::new(Field::new("item", of, true)));
    let entry = Fields::from(vec![
        Field::new("keys", DataType::Int32, false),
        Field::new("values", list(DataType::Int32), true),
    ]);
    let map = DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entry), false)), false);
    let fields = [
        Field::new("string_value", DataType::Utf8, true),
        Field::new("bool_value", DataType::Boolean, true),
        Field::new("bigint_value", DataType::Int64, true),
        Field::new("int32_bitmask", DataType::Int32, true),
        Field::new("string_list", list(DataType::Utf8), true),
        Field::new("int32_to_int32_list_map", map, true),
    ];
    (0_i8..).zip(fields.map(Arc::new)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_fact_is_told_once_and_by_its_number() {
        let all = sql_info(&GetSqlInfo { info: Vec::new() }).unwrap();
        let numbers: BTreeSet<u32> = facts().map(|(number, _)| number).collect();
        assert_eq!(all.num_rows(), numbers.len());
        // Checks the SQL capabilities from first to last, except the long lists of keywords and functions.
        let missing: Vec<u32> = (500..=576).filter(|number| !numbers.contains(number)).collect();
        assert_eq!(missing, [508, 509, 510, 511, 512]);
        let some = sql_info(&GetSqlInfo {
            info: vec![8, 517, 4_711],
        })
        .unwrap();
        assert_eq!(some.column(0).as_ref(), &UInt32Array::from(vec![8, 517]) as &dyn Array);
        assert_eq!(some.column(1).len(), 2);
        assert_eq!(some.column(1).null_count(), 0);
        let longest = i64::try_from(crate::statement::STATEMENT_BYTES_MAX).unwrap();
        assert!(facts().any(|(number, fact)| number == 557 && matches!(fact, Whole(told) if told == longest)));
    }
}
