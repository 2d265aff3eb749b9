use std::collections::BTreeMap;

use arrow::array::StringBuilder;
use arrow::record_batch::RecordBatch;
use data_model::ReleaseId;
use data_searches::WordCount;

use super::build::table_rows;
use super::columns::Columns;
use super::record::{Record, record};
use crate::{LakeError, TableName};

/// Counts of one day, by the server that counted.
pub(crate) type Servers = BTreeMap<String, Vec<WordCount>>;

table_rows! {
    SearchRows of Searches {
        day: StringBuilder,
        server: StringBuilder,
        counts: CountBuilder,
    }
}

record! {
    /// Builder of the counts of searched words.
    CountBuilder of WordCount {
        words: String,
        release: ReleaseId,
        hits: u64,
        count: u64,
        without_hits: u64,
        relaxed: u64,
        understood: u64,
        clicks: u64,
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
            one.append(&mut self.counts);
        }
    }
}

/// Adds the counts in a record batch of `searches` to those of the servers.
pub(crate) fn add_counts(batch: &RecordBatch, servers: &mut Servers) -> Result<(), LakeError> {
    let names = Columns::new(TableName::Searches, batch).text("server")?;
    let counts = WordCount::read_all(TableName::Searches, batch)?;
    for (server, count) in names.iter().zip(counts) {
        let server = server.unwrap_or_default().to_owned();
        servers.entry(server).or_default().push(count);
    }
    Ok(())
}
