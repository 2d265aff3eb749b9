use std::collections::BTreeMap;

use arrow::array::StringBuilder;
use arrow::record_batch::RecordBatch;
use data_model::ReleaseId;
use data_searches::WordCount;

use super::build::table_rows;
use super::columns::Columns;
use super::record::{ReadRecord, Record, record};
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

/// Returns the counts in a record batch of `searches`, each with its server.
pub(crate) fn server_counts(batch: &RecordBatch) -> Result<Vec<(String, WordCount)>, LakeError> {
    let names = Columns::new(TableName::Searches, batch).text("server")?.iter();
    let servers = names.map(|server| server.unwrap_or_default().to_owned());
    Ok(servers.zip(WordCount::read_all(TableName::Searches, batch)?).collect())
}
