//! Parser of README.md and docs/*.md: fenced blocks, the marks about running them, and inline code.

use std::path::{Path, PathBuf};

/// Mark in the line before a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `<!-- run by: FILE -->`: the test in another file runs the block.
    RunBy(String),
    /// `<!-- not run: REASON -->`: no test runs the block.
    NotRun(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// Position of the block: `docs/buying.md:6`.
    pub(crate) at: String,
    pub(crate) language: String,
    pub(crate) text: String,
    pub(crate) mark: Option<Mark>,
}

/// Document: its path within the project, and its text.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns README.md and every document in docs/.
pub(crate) fn documents() -> Vec<Document> {
    let mut paths = vec!["README.md".to_owned()];
    for entry in std::fs::read_dir(project().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
            paths.push(format!("docs/{name}"));
        }
    }
    paths.sort();
    let read = |path: String| Document {
        text: std::fs::read_to_string(project().join(&path)).unwrap(),
        path,
    };
    paths.into_iter().map(read).collect()
}

pub(crate) fn document(path: &str) -> Document {
    let found = documents().into_iter().find(|document| document.path == path);
    found.unwrap_or_else(|| panic!("there is no {path}"))
}

impl Document {
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut within, mut before) = (false, "");
        for (number, line) in (1..).zip(self.text.lines()) {
            if let Some(language) = line.strip_prefix("```") {
                within = !within;
                if within {
                    blocks.push(Block {
                        at: format!("{}:{number}", self.path),
                        language: language.trim().to_owned(),
                        text: String::new(),
                        mark: mark(before),
                    });
                }
            } else if let (true, Some(block)) = (within, blocks.last_mut()) {
                block.text.push_str(line);
                block.text.push('\n');
            }
            before = line;
        }
        assert!(!within, "a block of {} has no end", self.path);
        blocks
    }

    /// Returns inline code outside of blocks, without escapes of `|` in tables.
    pub(crate) fn spans(&self) -> Vec<String> {
        let outside = self.text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
        let spans = outside.split('`').skip(1).step_by(2);
        let spans = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
        spans.map(|span| span.replace("\\|", "|")).collect()
    }
}

fn mark(line: &str) -> Option<Mark> {
    let told = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    if let Some(reason) = told.strip_prefix("not run:") {
        return Some(Mark::NotRun(reason.trim().to_owned()));
    }
    let file = told.strip_prefix("run by:")?.trim();
    Some(Mark::RunBy(file.split([',', ' ']).next().unwrap_or(file).to_owned()))
}

/// Returns a shell line without the comment at its end.
pub(crate) fn command(line: &str) -> &str {
    line.split("  #").next().unwrap_or(line).trim()
}
