use std::borrow::Cow;
use std::sync::Arc;

use data_index::Release;
use data_model::Timestamp;
use datafusion::arrow::array::{
    ArrayBuilder, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, ListBuilder, StringArray,
    StringBuilder, StructBuilder, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};

use crate::rows::Row;

#[derive(Debug)]
pub(crate) struct NamedValue<'a, T> {
    pub(crate) name: &'a str,
    pub(crate) value: T,
}

type NamedList<'a> = NamedValue<'a, Vec<&'a str>>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Values {
    Text(for<'a> fn(&'a Release, Row) -> Option<Cow<'a, str>>),
    Integer(fn(&Release, Row) -> Option<i64>),
    Number(fn(&Release, Row) -> Option<f32>),
    Double(fn(&Release, Row) -> Option<f64>),
    Flag(fn(&Release, Row) -> Option<bool>),
    Moment(fn(&Release, Row) -> Option<Timestamp>),
    Texts(for<'a> fn(&'a Release, Row) -> Vec<&'a str>),
    NamedLists(for<'a> fn(&'a Release, Row) -> Vec<NamedList<'a>>),
    Named(for<'a> fn(&'a Release, Row) -> Vec<NamedValue<'a, &'a str>>),
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) nullable: bool,
    pub(crate) values: Values,
}

pub(crate) const fn stated(name: &'static str, values: Values) -> Column {
    Column {
        name,
        nullable: false,
        values,
    }
}

pub(crate) const fn maybe(name: &'static str, values: Values) -> Column {
    Column {
        name,
        nullable: true,
        values,
    }
}

fn element(data_type: DataType) -> FieldRef {
    Arc::new(Field::new("element", data_type, true))
}

fn named(values: DataType) -> Fields {
    let last = if matches!(values, DataType::List(_)) {
        "values"
    } else {
        "value"
    };
    Fields::from(vec![
        Field::new("name", DataType::Utf8, true),
        Field::new(last, values, true),
    ])
}

fn texts_type() -> DataType {
    DataType::List(element(DataType::Utf8))
}

/// Comments of the columns as tab-separated lines of table, column and comment. The table `*` stands for all tables
/// without a separate line.
const COMMENTS: &str = include_str!("comments.tsv");

fn comment(table: &str, column: &str) -> Option<&'static str> {
    let find = |wanted: &str| {
        COMMENTS.lines().find_map(|line| {
            let mut cells = line.split('\t');
            (cells.next() == Some(wanted) && cells.next() == Some(column)).then(|| cells.next())?
        })
    };
    find(table).or_else(|| find("*"))
}

impl Column {
    /// The field has the comment that analysts see.
    pub(crate) fn field(&self, table: &str) -> Field {
        let data_type = match self.values {
            Values::Text(_) => DataType::Utf8,
            Values::Integer(_) => DataType::Int64,
            Values::Number(_) => DataType::Float32,
            Values::Double(_) => DataType::Float64,
            Values::Flag(_) => DataType::Boolean,
            Values::Moment(_) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Values::Texts(_) => texts_type(),
            Values::NamedLists(_) => DataType::List(element(DataType::Struct(named(texts_type())))),
            Values::Named(_) => DataType::List(element(DataType::Struct(named(DataType::Utf8)))),
        };
        let field = Field::new(self.name, data_type, self.nullable);
        match comment(table, self.name) {
            Some(comment) => field.with_metadata([("comment".to_owned(), comment.to_owned())].into()),
            None => field,
        }
    }

    pub(crate) fn array(&self, release: &Release, rows: &[Row]) -> ArrayRef {
        match self.values {
            Values::Text(read) => {
                let texts = rows.iter().map(|row| read(release, *row));
                Arc::new(texts.collect::<StringArray>())
            }
            Values::Integer(read) => Arc::new(rows.iter().map(|row| read(release, *row)).collect::<Int64Array>()),
            Values::Number(read) => Arc::new(rows.iter().map(|row| read(release, *row)).collect::<Float32Array>()),
            Values::Double(read) => Arc::new(rows.iter().map(|row| read(release, *row)).collect::<Float64Array>()),
            Values::Flag(read) => Arc::new(rows.iter().map(|row| read(release, *row)).collect::<BooleanArray>()),
            Values::Moment(read) => {
                let moments = rows.iter().map(|row| read(release, *row).map(Timestamp::micros));
                Arc::new(moments.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
            Values::Texts(read) => {
                let mut lists = texts_builder();
                for row in rows {
                    lists.append_value(read(release, *row).into_iter().map(Some));
                }
                Arc::new(lists.finish())
            }
            Values::NamedLists(read) => {
                let write = |values: &mut ListBuilder<StringBuilder>, list: Vec<&str>| {
                    values.append_value(list.into_iter().map(Some));
                };
                named_array(rows, |row| read(release, row), texts_builder, texts_type(), write)
            }
            Values::Named(read) => {
                let write = |values: &mut StringBuilder, value: &str| values.append_value(value);
                named_array(
                    rows,
                    |row| read(release, row),
                    StringBuilder::new,
                    DataType::Utf8,
                    write,
                )
            }
        }
    }
}

fn texts_builder() -> ListBuilder<StringBuilder> {
    ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8))
}

fn named_array<'a, T, B: ArrayBuilder>(
    rows: &[Row],
    read: impl Fn(Row) -> Vec<NamedValue<'a, T>>,
    builder: fn() -> B,
    values: DataType,
    write: impl Fn(&mut B, T),
) -> ArrayRef {
    let fields = named(values);
    let builders: Vec<Box<dyn ArrayBuilder>> = vec![Box::new(StringBuilder::new()), Box::new(builder())];
    let entries = StructBuilder::new(fields.clone(), builders);
    let mut lists = ListBuilder::new(entries).with_field(element(DataType::Struct(fields)));
    for row in rows {
        for NamedValue { name, value } in read(*row) {
            let entry = lists.values();
            if let Some(names) = entry.field_builder::<StringBuilder>(0) {
                names.append_value(name);
            }
            if let Some(values) = entry.field_builder::<B>(1) {
                write(values, value);
            }
            entry.append(true);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::TABLES;

    #[test]
    fn every_column_has_a_comment_and_every_comment_a_column() {
        for table in TABLES {
            for column in table.columns {
                let told = comment(table.name, column.name);
                assert!(
                    told.is_some_and(|told| told.len() > 5),
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
        }
        for line in COMMENTS.lines() {
            let cells: Vec<_> = line.split('\t').collect();
            let of_table = |table: &&crate::schema::Table| {
                (cells[0] == "*" || cells[0] == table.name)
                    && table.columns.iter().any(|column| column.name == cells[1])
            };
            assert_eq!(cells.len(), 3, "{line}");
            assert!(TABLES.iter().any(|table| of_table(&table)), "{line}");
        }
    }
}
