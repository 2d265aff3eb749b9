use std::collections::BTreeMap;

use arrow::array::{Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_searches::WordCount;

use super::build::table_rows;
use super::columns::Columns;
use crate::{LakeError, TableName};

/// Counts of one day, by the server that counted.
pub(crate) type Servers = BTreeMap<String, Vec<WordCount>>;

table_rows! {
    /// Builder for rows of `searches`.
    SearchRows of Searches {
        day: StringBuilder,
        server: StringBuilder,
        words: StringBuilder,
        release: StringBuilder,
        hits: Int64Builder,
        numbers: [Int64Builder; 5],
    }
}

impl SearchRows {
    pub(crate) fn push(&mut self, day: &str, servers: &Servers) {
        let counted = servers
            .iter()
            .flat_map(|(server, words)| words.iter().map(move |one| (server, one)));
        for (server, one) in counted {
            self.day.append_value(day);
            self.server.append_value(server);
            self.words.append_value(&one.words);
            self.release.append_value(one.release.to_string());
            self.hits.append_value(number(one.hits));
            let numbers = [one.count, one.without_hits, one.relaxed, one.understood, one.clicks];
            let columns = self.numbers.iter_mut().zip(numbers);
            columns.for_each(|(column, value)| column.append_value(number(value)));
        }
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Adds the counts in a record batch of `searches` to those of the servers.
pub(crate) fn add_counts(batch: &RecordBatch, servers: &mut Servers) -> Result<(), LakeError> {
    let columns = Columns::new(TableName::Searches, batch);
    let (server, words, release) = (
        columns.text("server")?,
        columns.text("words")?,
        columns.text("release")?,
    );
    let numbers = ["hits", "count", "without_hits", "relaxed", "understood", "clicks"];
    let numbers = numbers.map(|name| columns.int(name));
    let [hits, count, without_hits, relaxed, understood, clicks] = numbers;
    let (hits, count, without_hits) = (hits?, count?, without_hits?);
    let (relaxed, understood, clicks) = (relaxed?, understood?, clicks?);
    for row in 0..batch.num_rows() {
        let number = |column: &arrow::array::Int64Array| u64::try_from(column.value(row)).unwrap_or(0);
        let one = WordCount {
            words: words.value(row).to_owned(),
            release: columns.parse("release", release.value(row))?,
            hits: number(hits),
            count: number(count),
            without_hits: number(without_hits),
            relaxed: number(relaxed),
            understood: number(understood),
            clicks: number(clicks),
        };
        servers.entry(server.value(row).to_owned()).or_default().push(one);
    }
    Ok(())
}
