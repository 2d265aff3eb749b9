//! Tests with a third-party UCP client (`@shopify/ucp-cli`), which uses MCP.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp::{Market, market};
use crate::mcp_peers::peers;
use crate::support::Haat;

/// Client as an agent that supports these versions.
struct Client<'a> {
    node: PathBuf,
    program: PathBuf,
    home: &'a Path,
    market: &'a Market,
    /// URL of an agent profile for one version; `None` for all versions of the client.
    profile: Option<&'static str>,
}

impl Client<'_> {
    fn run(&self, words: &[&str], input: Option<Value>) -> Value {
        let mut command = Command::new(&self.node);
        command
            .arg(&self.program)
            .args(words)
            .args(["--business", &self.market.base, "--format", "json"])
            .args(["--header", &format!("X-Service-Key: {}", self.market.key)])
            .env("UCP_HOME", self.home)
            .env("UCP_TEST_ALLOW_INSECURE_LOCALHOST", "true")
            // The client refuses input that a tool's schema lacks.
            .env("UCP_STRICT_SCHEMA", "1")
            .current_dir(self.home);
        if let Some(profile) = self.profile {
            command.args(["--profile-url", profile]);
        }
        if let Some(input) = input {
            command.args(["--input", &input.to_string()]);
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let failure = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {told}\n{failure}");
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{words:?}: {error}: {told}"))
    }
}

/// Agent profile for 2026-04-08 only, which is built into the client.
const EARLIER: &str = "https://shopify.dev/ucp/agent-profiles/2026-04-08/valid-with-capabilities.json";

#[test]
fn the_client_of_the_shared_protocol_shops_in_both_versions() {
    let Some((node, folder)) = peers() else { return };
    let program = folder.join("node_modules/@shopify/ucp-cli/dist/bin.js");
    let market = market(Haat::new());
    for (version, path, profile) in [
        ("2026-08-25", "/v1/ucp/2026-08-25/mcp", None),
        ("2026-04-08", "/v1/ucp/mcp", Some(EARLIER)),
    ] {
        let home = market.haat.path().join(version);
        std::fs::create_dir_all(&home).unwrap();
        let client = Client {
            node: node.clone(),
            program: program.clone(),
            home: &home,
            market: &market,
            profile,
        };
        let business = client.run(&["discover"], None);
        assert!(business.to_string().contains(version), "{business}");
        let query = json!({ "query": "cotton", "pagination": { "limit": 3 } });
        let found = client.run(&["catalog", "search"], Some(query));
        let answer = &found["result"];
        // The client hides the envelope but states the URL of its request. Each version has an endpoint of its own.
        let endpoint = format!("{}{path}", market.base);
        assert_eq!(found["endpoint"], endpoint, "{found}");
        let variant = answer["products"].as_array().unwrap().iter().find_map(|product| {
            let first = &product["variants"][0];
            (first["availability"]["available"] == true).then(|| first["id"].clone())
        });
        let variant = variant.unwrap();
        let looked = client.run(&["catalog", "lookup"], Some(json!({ "ids": [variant] })));
        assert_eq!(
            looked["result"]["products"][0]["variants"][0]["id"], variant,
            "{looked}"
        );
        let items = json!([{ "item": { "id": variant }, "quantity": 1 }]);
        let cart = client.run(&["cart", "create"], Some(json!({ "line_items": items })));
        let id = &cart["result"]["id"];
        assert!(id.is_string(), "{cart}");
        let checkout = json!({ "cart_id": id, "line_items": [] });
        let checkout = client.run(&["checkout", "create"], Some(checkout));
        let told = &checkout["result"];
        assert_eq!(
            (&checkout["endpoint"], &told["status"]),
            (&json!(endpoint), &json!("requires_escalation")),
            "{checkout}"
        );
        assert!(told["continue_url"].as_str().unwrap().starts_with("http"), "{checkout}");
    }
}
