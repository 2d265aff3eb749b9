//! Checks the structure described in `ARCHITECTURE.md` by the manifests: dependencies go in one direction, and pure
//! crates stay pure.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

/// Crates that use no I/O, clock, network or environment variables.
const PURE: &[&str] = &[
    "data-feed",
    "data-index",
    "data-matching",
    "data-model",
    "data-pincodes",
    "data-taxonomy",
    "data-text",
    "data-understanding",
    "pipeline-delivery",
    "pipeline-parse",
    "pipeline-policies",
    "pipeline-normalise",
    "pipeline-widgets",
    "search",
];
/// Crates on which a pure crate must not depend, directly or indirectly.
const IMPURE: &[&str] = &[
    "tokio",
    "mio",
    "socket2",
    "hyper",
    "reqwest",
    "object_store",
    "axum",
    "rustls",
    "memmap2",
    "tempfile",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .exec()
        .unwrap()
}

/// Returns the names of all dependencies of `from`, direct and indirect, except development dependencies.
fn closure(metadata: &Metadata, from: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().unwrap();
    let nodes: BTreeMap<&PackageId, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let names: BTreeMap<&PackageId, &str> = metadata
        .packages
        .iter()
        .map(|package| (&package.id, package.name.as_str()))
        .collect();
    let start = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name.as_str() == from)
        .unwrap_or_else(|| panic!("no crate {from}"));
    let mut queue = vec![&start.id];
    let mut seen = BTreeSet::new();
    while let Some(id) = queue.pop() {
        for dependency in &nodes[id].deps {
            let built = dependency
                .dep_kinds
                .iter()
                .any(|kind| kind.kind != DependencyKind::Development);
            if built && seen.insert(&dependency.pkg) {
                queue.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| names[id].to_owned()).collect()
}

#[test]
fn pure_crates_depend_on_nothing_that_does_io() {
    let metadata = metadata();
    for pure in PURE {
        let all = closure(&metadata, pure);
        let found: Vec<_> = IMPURE.iter().filter(|name| all.contains(**name)).collect();
        assert!(found.is_empty(), "{pure} is built with {found:?}");
    }
}

#[test]
fn pure_crates_touch_no_clock_file_network_or_environment() {
    let words = [
        "std::fs",
        "std::net",
        "std::env",
        "SystemTime",
        "Instant::now",
        "std::process",
        "std::io::stdin",
        "Utc::now",
    ];
    for pure in PURE {
        let source = root().join(pure.replacen('-', "/", 1)).join("src");
        for file in rust_files(&source) {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if file.ends_with("tests.rs") {
                continue;
            }
            for word in words {
                assert!(!code.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}

#[test]
fn the_query_server_knows_neither_the_pipeline_nor_the_lake() {
    let all = closure(&metadata(), "query-server");
    let found: Vec<_> = all
        .iter()
        .filter(|name| {
            let heavy = ["data-lake", "data-tables"].contains(&name.as_str());
            heavy
                || ["pipeline", "deltalake", "datafusion"]
                    .iter()
                    .any(|start| name.starts_with(start))
        })
        .collect();
    assert!(found.is_empty(), "query-server is built with {found:?}");
}

/// Query plans are built only behind the interface of the engine, which only grouped figures use.
#[test]
fn the_query_server_asks_its_engine_for_figures_by_group_alone() {
    let source = root().join("query-server/src");
    let asks = |file: &&PathBuf| std::fs::read_to_string(file).unwrap().contains("config.reads");
    let files = rust_files(&source);
    let asking: Vec<_> = files.iter().filter(asks).collect();
    assert_eq!(asking, [&source.join("operations/stats.rs")]);
}

/// A release contains JSON, so `search` is built with a JSON library, but does not depend on one itself.
#[test]
fn search_asks_for_no_http_json_task_or_thread() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let search = packages
        .iter()
        .find(|package| package.name.as_str() == "search")
        .unwrap();
    let built = search
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development);
    let named: BTreeSet<_> = built.map(|dependency| dependency.name.as_str()).collect();
    let heavy = [
        "axum",
        "futures",
        "http",
        "hyper",
        "serde",
        "serde_json",
        "tokio",
        "utoipa",
    ];
    let found: Vec<_> = heavy.iter().filter(|name| named.contains(**name)).collect();
    assert!(found.is_empty(), "search asks for {found:?}");
    let all = closure(&metadata, "search");
    let found: Vec<_> = ["api", "axum", "utoipa"]
        .into_iter()
        .filter(|name| all.contains(*name))
        .collect();
    assert!(found.is_empty(), "search is built with {found:?}");
    let words = ["Instant", "Clock", "async ", "std::io", "std::thread"];
    for file in rust_files(&root().join("search/src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

#[test]
fn the_live_gateway_compiles_neither_datafusion_nor_delta() {
    let all = closure(&metadata(), "live-gateway");
    let heavy = ["deltalake", "datafusion", "tantivy", "parquet", "arrow"];
    let found: Vec<_> = all
        .iter()
        .filter(|name| heavy.iter().any(|start| name.starts_with(start)))
        .collect();
    assert!(found.is_empty(), "live-gateway is built with {found:?}");
}

#[test]
fn rules_of_the_gateway_touch_no_clock_network_or_task() {
    let words = ["Instant", "Clock", "async", "tokio", "std::fs", "std::env", "reqwest"];
    for file in rust_files(&root().join("live-gateway/src/rules")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

#[test]
fn rules_of_watches_touch_no_clock_state_network_or_task() {
    let words = [
        "Instant",
        "Clock",
        "async",
        "tokio",
        "std::fs",
        "std::env",
        "state::",
        "SystemRandom",
    ];
    for file in rust_files(&root().join("watches/src/rules")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

#[test]
fn what_decides_about_jobs_touches_no_clock_state_or_task() {
    let words = [
        "Instant", "Clock", "async", "tokio", "std::fs", "std::env", "State,", "&State",
    ];
    for file in ["schedule.rs", "decide.rs", "watch.rs", "cadence.rs", "end.rs"] {
        let text = std::fs::read_to_string(root().join("jobs/src").join(file)).unwrap();
        for word in words {
            assert!(!text.contains(word), "{file} uses {word}");
        }
    }
}

#[test]
fn the_protocol_of_agents_touches_no_clock_network_or_task() {
    let words = ["Instant", "Clock", "async", "tokio", "std::fs", "std::env", "axum"];
    for file in rust_files(&root().join("agents/mcp/src/protocol")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

/// Workspace crates on which a crate may depend.
const ALLOWED: &[(&str, &[&str])] = &[
    ("data-model", &[]),
    ("data-storage", &["data-model"]),
    ("data-backup", &["data-model", "data-storage"]),
    ("data-checks", &["data-model", "data-storage"]),
    ("data-codes", &["data-model", "data-storage"]),
    ("data-embedders", &["data-embedding", "data-model", "language-model"]),
    ("data-feed", &["data-model"]),
    ("data-observations", &["data-model", "data-storage"]),
    ("data-reports", &["data-model"]),
    ("data-searches", &["data-model", "data-storage", "data-text"]),
    (
        "data-lake",
        &[
            "data-model",
            "data-pincodes",
            "data-searches",
            "data-storage",
            "data-text",
        ],
    ),
    ("data-matching", &["data-model"]),
    ("data-embedding", &["data-model"]),
    ("data-pincodes", &["data-model"]),
    ("data-taxonomy", &["data-model"]),
    ("data-text", &[]),
    ("pipeline-delivery", &["data-model", "data-pincodes"]),
    (
        "data-index",
        &[
            "data-embedding",
            "data-model",
            "data-pincodes",
            "data-taxonomy",
            "data-text",
        ],
    ),
    (
        "data-release",
        &[
            "data-embedding",
            "data-index",
            "data-model",
            "data-pincodes",
            "data-storage",
            "data-taxonomy",
            "data-text",
        ],
    ),
    (
        "data-tables",
        &[
            "data-embedding",
            "data-index",
            "data-model",
            "data-pincodes",
            "data-taxonomy",
            "data-text",
        ],
    ),
    ("state", &["data-model"]),
    ("storefront", &["data-model"]),
    ("access", &["api", "data-model", "state"]),
    ("agents-ucp", &["agents-mcp", "api", "data-model"]),
    ("agents-mcp", &["api", "data-model"]),
    ("mailer", &["data-model", "state"]),
    ("dashboard", &["api", "data-model", "mailer", "state"]),
    ("watches", &["api", "data-model", "mailer", "state", "storefront"]),
    ("reference", &["api", "data-model"]),
    ("sql", &["api", "data-model"]),
    ("data-understanding", &["data-model", "data-taxonomy", "data-text"]),
    (
        "search",
        &[
            "data-embedding",
            "data-index",
            "data-model",
            "data-pincodes",
            "data-taxonomy",
            "data-text",
            "data-understanding",
        ],
    ),
    (
        "agents-discover",
        &[
            "api",
            "data-model",
            "data-taxonomy",
            "data-text",
            "data-understanding",
            "language-model",
        ],
    ),
    ("language-model", &["data-model"]),
    (
        "live-gateway",
        &[
            "api",
            "data-model",
            "data-pincodes",
            "pipeline-parse",
            "state",
            "storefront",
        ],
    ),
    ("api", &["data-model"]),
    ("pipeline-parse", &["data-model"]),
    ("pipeline-policies", &["data-model", "data-text"]),
    (
        "pipeline-normalise",
        &["data-embedding", "data-model", "data-text", "pipeline-parse"],
    ),
    ("emulator", &["data-model", "data-pincodes"]),
];

#[test]
fn arrows_between_crates_go_one_way() {
    let metadata = metadata();
    let ours = crates(&metadata);
    for (name, may) in ALLOWED {
        let used: BTreeSet<_> = closure(&metadata, name)
            .into_iter()
            .filter(|other| ours.contains(other))
            .collect();
        let extra: Vec<_> = used.iter().filter(|other| !may.contains(&other.as_str())).collect();
        assert!(extra.is_empty(), "{name} is built with {extra:?}");
    }
}

/// Returns the names of the workspace's crates.
fn crates(metadata: &Metadata) -> BTreeSet<String> {
    let packages = metadata.workspace_packages();
    packages.iter().map(|package| package.name.to_string()).collect()
}

#[test]
fn a_crates_name_is_its_path_joined_by_a_dash() {
    let (metadata, root) = (metadata(), root());
    for package in metadata.workspace_packages() {
        let folder = package.manifest_path.parent().unwrap();
        let relative = folder
            .as_std_path()
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .replace('/', "-");
        let name = package.name.to_string();
        let named = relative == name || relative.is_empty() && name == "haat" || relative == format!("tests-{name}");
        assert!(named, "{name} lies in {folder}");
    }
}

#[test]
fn every_file_of_code_fits_under_five_hundred_lines() {
    for file in rust_files(&root()) {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it by verb", file.display());
    }
}

/// A test name in `docs/security/asvs.md` has four words or more, after its crate and modules.
#[test]
fn every_test_that_a_security_requirement_names_is_there() {
    let document = std::fs::read_to_string(root().join("docs/security/asvs.md")).unwrap();
    let code: Vec<String> = rust_files(&root())
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let is_test = |name: &str| code.iter().any(|text| text.contains(&format!("fn {name}()")));
    let mut named = 0;
    for row in document.lines().filter(|line| line.starts_with("| V")) {
        for words in row.split('`').skip(1).step_by(2) {
            let name = words.rsplit([':', ' ']).next().unwrap_or_default();
            let is_name = name
                .chars()
                .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_');
            if is_name && name.matches('_').count() >= 3 {
                assert!(is_test(name), "{row}: there is no test {name}");
                named += 1;
            }
        }
    }
    assert!(named > 0, "no row names a test");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = entry.file_name();
            let skipped = name == "target" || name.to_string_lossy().starts_with('.');
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}
