//! What the server says of itself. All of it is made once.

use serde_json::{Value, json};

use crate::protocol::version::{Era, MODERN};
use crate::tools::{Book, DATA_NOTICE};

/// For how long clients may keep lists, which change with the program alone.
const LIST_TTL_MS: u64 = 300_000;

const INSTRUCTIONS: &str = "One market of many brand stores. Find products with search_products, look at one with \
    get_product, and ask get_price for what it costs now before you tell a person a price: stored prices may be old. Money \
    is whole minor units with an ISO 4217 code (39900 with INR is 399.00 rupees). A tool that fails says why in `code`; \
    wait as long as `rate_limit` says before you try again.";

/// Answers that are the same for everybody.
#[derive(Debug)]
pub(crate) struct Told {
    info: Value,
    instructions: String,
    /// The member of `_meta` that names the server, as results of the modern era carry it.
    pub(crate) server_member: String,
    discover: String,
    lists: [Listed; 4],
}

/// A list in both eras.
#[derive(Debug)]
struct Listed {
    legacy: String,
    modern: String,
}

/// What can be listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
}

impl Told {
    pub(crate) fn new(book: &Book, version: &str) -> Self {
        let info = json!({ "name": "haat", "title": "haat", "version": version });
        let instructions = format!("{INSTRUCTIONS} {DATA_NOTICE}");
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
        let listed = |member: &str, items: &str| Listed {
            legacy: format!("{{\"{member}\":{items}}}"),
            modern: format!(
                "{{\"{member}\":{items},\"resultType\":\"complete\",\"ttlMs\":{LIST_TTL_MS},\"cacheScope\":\"public\",\
                 \"_meta\":{{{server_member}}}}}"
            ),
        };
        let lists = [
            listed("tools", book.listed()),
            listed("prompts", "[]"),
            listed("resources", "[]"),
            listed("resourceTemplates", "[]"),
        ];
        Self {
            info,
            instructions,
            discover: discover.to_string(),
            lists,
            server_member,
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
