//! Answers that are the same for every caller. All of them are made once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::protocol::version::{Era, MODERN};
use crate::tools::{DATA_NOTICE, Resource, Results, Toolset};

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
    /// Resources by their names.
    resources: BTreeMap<&'static str, ListAnswer>,
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
            listed(
                "resources",
                &Value::from_iter(tools.resources().iter().map(entry)).to_string(),
            ),
            listed("resourceTemplates", "[]"),
        ];
        let read = |resource: &Resource| {
            (
                resource.uri,
                listed("contents", &json!([content(resource)]).to_string()),
            )
        };
        Self {
            resources: tools.resources().iter().map(read).collect(),
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
        self.lists[list as usize].of(era)
    }

    /// The content of a resource; `None` where there is none of this name.
    pub(crate) fn resource(&self, uri: &str, era: Era) -> Option<&str> {
        self.resources.get(uri).map(|read| read.of(era))
    }
}

impl ListAnswer {
    fn of(&self, era: Era) -> &str {
        match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        }
    }
}

/// A resource as lists name it.
fn entry(resource: &Resource) -> Value {
    json!({
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.text.len(),
        "_meta": resource.meta,
    })
}

/// A resource as it is read.
fn content(resource: &Resource) -> Value {
    json!({ "uri": resource.uri, "mimeType": resource.mime_type, "text": resource.text, "_meta": resource.meta })
}

/// The lists that are answered; nothing is ever announced as changed.
fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": {} })
}
