//! Answers that are the same for every caller. All of them are made once.

use serde_json::{Value, json};

use crate::protocol::version::{Era, MODERN};
use crate::tools::{DATA_NOTICE, Results, Toolset};

/// The time for which clients may keep lists, which change with the program alone.
const LIST_TTL_MS: u64 = 300_000;

/// Answers that are the same for everybody.
#[derive(Debug)]
pub(crate) struct StaticAnswers {
    info: Value,
    instructions: String,
    /// The writer of tool results.
    pub(crate) results: Results,
    discover: String,
    lists: [ListAnswer; 4],
}

/// A list in both eras.
#[derive(Debug)]
struct ListAnswer {
    legacy: String,
    modern: String,
}

/// The kinds of list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

impl StaticAnswers {
    pub(crate) fn new(tools: &dyn Toolset, version: &str) -> Self {
        let info = json!({ "name": "haat", "title": "haat", "version": version });
        let instructions = format!("{} {DATA_NOTICE}", tools.instructions());
        let server_member = format!("\"io.modelcontextprotocol/serverInfo\":{info}");
        let discover = json!({
            "supportedVersions": MODERN,
            "capabilities": capabilities(),
            "instructions": instructions,
            "resultType": "complete",
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "public",
            "_meta": { "io.modelcontextprotocol/serverInfo": info },
        });
        let listed = |member: &str, items: &str| ListAnswer {
            legacy: format!("{{\"{member}\":{items}}}"),
            modern: format!(
                "{{\"{member}\":{items},\"resultType\":\"complete\",\"ttlMs\":{LIST_TTL_MS},\"cacheScope\":\"public\",\
                 \"_meta\":{{{server_member}}}}}"
            ),
        };
        let lists = [
            listed("tools", tools.list()),
            listed("prompts", "[]"),
            listed("resources", "[]"),
            listed("resourceTemplates", "[]"),
        ];
        Self {
            info,
            instructions,
            discover: discover.to_string(),
            lists,
            results: Results::new(tools.untrusted(), &server_member),
        }
    }

    /// The answer to `initialize`, with the revision that is agreed on.
    pub(crate) fn initialize(&self, version: &str) -> String {
        let answer = json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": self.info,
            "instructions": self.instructions,
        });
        answer.to_string()
    }

    /// The answer to `server/discover`.
    pub(crate) fn discover(&self) -> &str {
        &self.discover
    }

    pub(crate) fn list(&self, list: List, era: Era) -> &str {
        let listed = &self.lists[list as usize];
        match era {
            Era::Legacy => &listed.legacy,
            Era::Modern => &listed.modern,
        }
    }
}

/// The lists that are answered; nothing is ever announced as changed.
fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": {} })
}
