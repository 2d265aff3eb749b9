//! Responses that are the same for every caller, built once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::protocol::version::{Era, MODERN};
use crate::tools::{DATA_NOTICE, Resource, Results, Toolset};

/// Time for which clients may cache lists. Lists change only with the program.
const LIST_TTL_MS: u64 = 300_000;

#[derive(Debug)]
pub(crate) struct StaticAnswers {
    info: Value,
    instructions: String,
    /// Writer of tool results.
    pub(crate) results: Results,
    discover: String,
    lists: [ListAnswer; 4],
    resources: BTreeMap<&'static str, ListAnswer>,
}

/// List in the formats of both eras.
#[derive(Debug)]
struct ListAnswer {
    legacy: String,
    modern: String,
}

/// Kinds of list.
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

    pub(crate) fn initialize(&self, version: &str) -> String {
        let answer = json!({
            "protocolVersion": version,
            "capabilities": capabilities(),
            "serverInfo": self.info,
            "instructions": self.instructions,
        });
        answer.to_string()
    }

    pub(crate) fn discover(&self) -> &str {
        &self.discover
    }

    pub(crate) fn list(&self, list: List, era: Era) -> &str {
        self.lists[list as usize].of(era)
    }

    /// Returns the content of a resource, or `None` if no resource has this URI.
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

fn content(resource: &Resource) -> Value {
    json!({ "uri": resource.uri, "mimeType": resource.mime_type, "text": resource.text, "_meta": resource.meta })
}

/// Returns the supported lists. Changes of lists are never announced.
fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": {} })
}
