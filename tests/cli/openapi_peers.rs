//! Tests of the OpenAPI descriptions of running servers with third-party linters and client generators.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::openapi::descriptions;
use crate::support::has_program;

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/openapi");

/// Returns the folder of packages in the environment variable `variable`. Prints a line and returns `None` if it is
/// absent.
fn installed(variable: &str, part: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(part).exists());
    if folder.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "{variable} names no folder with {part}"
        );
        println!("skipped: {variable} names no folder with {part}");
    }
    folder
}

/// Runs `program` on the description of each server, as a file in a folder of its own.
fn each(program: impl Fn(&Path) -> Command) {
    let (_running, descriptions) = descriptions();
    for (server, (_, document)) in descriptions {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("openapi.json");
        std::fs::write(&file, document.to_string()).unwrap();
        let ran = program(&file).current_dir(folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{server}: {told}");
        println!("{server}: {}", told.trim().lines().next_back().unwrap_or_default());
    }
}

fn node(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(folder.join("node_modules").join(script));
    command
}

#[test]
fn spectral_finds_nothing_in_the_descriptions() {
    let script = "@stoplight/spectral-cli/dist/index.js";
    let Some(folder) = installed("TEST_OPENAPI_PEERS", &format!("node_modules/{script}")) else {
        return;
    };
    each(|file| {
        let mut command = node(&folder, script);
        command.args(["lint", "--fail-severity", "warn", "--ruleset"]);
        command.arg(format!("{RULES}/spectral.yaml")).arg(file);
        command
    });
}

#[test]
fn redocly_finds_nothing_in_the_descriptions() {
    let script = "@redocly/cli/bin/cli.js";
    let Some(folder) = installed("TEST_OPENAPI_PEERS", &format!("node_modules/{script}")) else {
        return;
    };
    each(|file| {
        let mut command = node(&folder, script);
        command
            .env("REDOCLY_TELEMETRY", "off")
            .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
        command.args(["lint", "--max-problems", "1000", "--config"]);
        command.arg(format!("{RULES}/redocly.yaml")).arg(file);
        command
    });
}

#[test]
fn types_that_openapi_typescript_makes_of_the_descriptions_compile() {
    let script = "openapi-typescript/bin/cli.js";
    let Some(folder) = installed("TEST_OPENAPI_PEERS", &format!("node_modules/{script}")) else {
        return;
    };
    if !has_program("sh", &["-c", "true"]) {
        return;
    }
    // The TypeScript compiler, a dependency of the package, checks the generated code.
    each(|file| {
        let mut command = Command::new("sh");
        let modules = folder.join("node_modules");
        command.args([
            "-ec",
            "node \"$1/$3\" \"$2\" -o api.d.ts && node \"$1/typescript/bin/tsc\" --noEmit --strict api.d.ts",
        ]);
        command.arg("sh").arg(modules).arg(file).arg(script);
        command
    });
}

#[test]
fn a_client_that_openapi_python_client_makes_of_the_descriptions_can_be_loaded() {
    let Some(folder) = installed("TEST_OPENAPI_PYTHON", "bin/openapi-python-client") else {
        return;
    };
    // Every module of the client is imported.
    let load = "import importlib, pkgutil, sys; sys.path.insert(0, '.'); import market; \
        names = [one.name for one in pkgutil.walk_packages(market.__path__, 'market.')]; \
        [importlib.import_module(name) for name in names]; print(len(names), 'modules')";
    each(|file| {
        let mut command = Command::new("sh");
        let make = "\"$1/bin/openapi-python-client\" generate --path \"$2\" --meta none --output-path market --fail-on-warning \
            && \"$1/bin/python3\" -c \"$3\"";
        command.args(["-ec", make, "sh"]).arg(&folder).arg(file).arg(load);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bin = std::iter::once(folder.join("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(bin).unwrap());
        command
    });
}
