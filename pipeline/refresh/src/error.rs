use std::error::Error;
use std::fmt::Write;

use data_lake::LakeError;
use data_model::BrandSlug;
use data_text::escaped_line;
use pipeline_crawl::RegistryError;

use crate::collapse::HeldError;
use crate::ledger::LedgerError;

/// Error that ends a whole run. A failure of one store does not end it.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The registry could not be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A record of a held-back crawl could not be read.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// A selected brand is not registered.
    #[error("no brand is registered as {0}")]
    UnknownBrand(BrandSlug),
    /// An earlier commit to the lake was begun and cannot be finished, so that nothing could be committed.
    #[error("tick {0} of the lake is begun but cannot be finished; an earlier warning states the reason")]
    UnfinishedTick(u64),
    /// The lake could not be read.
    #[error("the lake cannot be read")]
    LakeRead(#[source] LakeError),
    /// The lake refused several brands in a row.
    #[error("the lake refused {refused} consecutive brands")]
    LakeWrite {
        /// Number of refused commits.
        refused: u32,
        /// Error of the last one.
        #[source]
        source: LakeError,
    },
    /// The clock's time cannot be written as a run id.
    #[error("the clock's time cannot be used as a run id")]
    RunId(#[source] data_model::IdError),
    /// The ledger of runs could not be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl RefreshError {
    /// Returns the newest fence known to the lake, if it refused this run's older fence.
    #[must_use]
    pub const fn fenced(&self) -> Option<u64> {
        match self {
            Self::LakeWrite {
                source: LakeError::Fenced { newest, .. },
                ..
            } => Some(*newest),
            _ => None,
        }
    }
}

const TEXT_CHARS_MAX: usize = 500;
const CAUSES_MAX: usize = 32;

/// Returns an error with its causes in one line of at most 500 characters.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = said(error);
    let mut cause = error.source();
    for _ in 0..CAUSES_MAX {
        let Some(error) = cause else { break };
        let said = said(error);
        if !said.is_empty() && !text.ends_with(&said) {
            // Writing to a string cannot fail.
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    // The text may quote data from a store, so that it is escaped.
    escaped_line(&text, TEXT_CHARS_MAX)
}

/// Some errors append a backtrace, which is left out.
fn said(error: &dyn Error) -> String {
    let text = error.to_string();
    let lower = text.to_ascii_lowercase();
    let end = lower
        .match_indices("backtrace:")
        .map(|(at, _)| lower[..at].strip_suffix("stack ").unwrap_or(&lower[..at]).len())
        .find(|at| lower[..*at].trim_end_matches([' ', '\t']).ends_with('\n'));
    let message = end.map_or(text.as_str(), |end| &text[..end]);
    let words = message.split(|char: char| char.is_whitespace() || char.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct ErrorText(String, #[source] Option<Box<ErrorText>>);

    fn chain(texts: &[&str]) -> ErrorText {
        let (first, rest) = texts.split_first().unwrap();
        let cause = (!rest.is_empty()).then(|| Box::new(chain(rest)));
        ErrorText((*first).to_owned(), cause)
    }

    #[test]
    fn an_error_is_told_with_its_causes_in_one_line_without_backtraces() {
        let traced =
            "Schema error: no field x\n\nbacktrace:    0: std::backtrace_rs::trace\n   1: main\n             at a.rs:1";
        let stack = "broken\nstack backtrace:\n   0: rust_begin_unwind";
        assert_eq!(
            with_causes(&chain(&[
                "table products: read failed",
                traced,
                stack,
                "disk\r\nfull\u{7}\u{202e}"
            ])),
            r"table products: read failed: Schema error: no field x: broken: disk full \u{202e}"
        );
        assert_eq!(with_causes(&chain(&["no backtrace: here"])), "no backtrace: here");
        assert_eq!(with_causes(&chain(&["a: b", "b"])), "a: b");
    }

    #[test]
    fn however_much_an_error_says_little_of_it_is_told() {
        let long = "é".repeat(2_000);
        let told = with_causes(&chain(&["it failed", &long, &long, "why"]));
        assert_eq!(told.chars().count(), 500);
        assert!(told.starts_with("it failed: éé") && told.ends_with('…'));
    }
}
