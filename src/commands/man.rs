use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory;
use serde_json::json;

use crate::cli::Cli;
use crate::exit::Outcome;
use crate::output::{Output, counted};

/// Runs `haat man`: writes a manual page for each command, with the text of `haat --help`.
pub(crate) fn write(to: &Path, output: Output) -> anyhow::Result<Outcome> {
    std::fs::create_dir_all(to).with_context(|| format!("folder {}", to.display()))?;
    let mut command = Cli::command();
    command.build();
    let pages = pages(command, to)?;
    output.print(&json!({ "folder": to, "pages": pages }), |out| {
        writeln!(out, "{} in {}", counted(pages, "page"), to.display())
    })?;
    Ok(Outcome::Done)
}

/// Writes the pages of a command and all its subcommands. Returns their number.
fn pages(command: clap::Command, to: &Path) -> anyhow::Result<usize> {
    let mut written = 1;
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
        .cloned()
        .collect();
    for inner in below {
        written += pages(inner, to)?;
    }
    let page = clap_mangen::Man::new(command);
    let path = to.join(page.get_filename());
    // The page is generated in memory first, so that no page is half written.
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(written)
}
