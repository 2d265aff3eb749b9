//! Output of commands: JSON documents for programs, plain lines for people. Logs go to standard error.

use std::io::{self, Write};

use anyhow::Context;
use serde::Serialize;

/// Name of standard output in print errors.
pub(crate) const STANDARD_OUTPUT: &str = "standard output";

/// Formats a count with its noun: `1 brand`, `2 brands`.
pub(crate) fn counted(count: impl TryInto<u64>, one: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Writes rows in columns of a common width.
pub(crate) fn write_columns<const N: usize>(out: &mut dyn Write, rows: &[[String; N]]) -> io::Result<()> {
    let widest = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(widest);
    for row in rows {
        let cells = row.iter().zip(widths);
        let line: String = cells.map(|(cell, width)| format!("{cell:width$}  ")).collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Writes a part of a result that is too large for memory.
    pub(crate) fn write(part: &[u8]) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(part).context(STANDARD_OUTPUT)?;
        stdout.flush().context(STANDARD_OUTPUT)
    }

    /// Prints `document` as one line of JSON, or the output of `human`.
    pub(crate) fn print<T: Serialize>(
        self,
        document: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut stdout, document)
                .map_err(io::Error::from)
                .context(STANDARD_OUTPUT)?;
            writeln!(stdout).context(STANDARD_OUTPUT)?;
        } else {
            human(&mut stdout).context(STANDARD_OUTPUT)?;
        }
        stdout.flush().context(STANDARD_OUTPUT)
    }
}
