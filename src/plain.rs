//! Error messages in plain words: one chain of causes, without duplicates and without the words of client libraries.

/// Formats the error and its causes in one line. Backtraces in causes are removed, because operators do not need them.
pub(crate) fn plain(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let cause = said(&cause.to_string());
        // A cause that the line already contains is not repeated.
        if !line.contains(&cause) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&cause);
        }
    }
    once(&line)
}

/// Formats one cause in one line, without a backtrace. Messages of the object store client are shortened.
fn said(text: &str) -> String {
    let end = ["stack backtrace:", "Backtrace:", "\nbacktrace:", "\n   0: "]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    let text = &text[..end.unwrap_or(text.len())];
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let noise = ["Generic S3 error: ", "HTTP error: ", "Error performing list request: "];
    let mut text = noise.iter().fold(text, |text, words| text.replace(words, ""));
    while let Some(shorter) = request(&text) {
        text = shorter;
    }
    text = without_url(&text);
    answered(&text).unwrap_or(text)
}

/// Rewrites `Error performing GET URL in 3.2s, after 5 retries, max_retries: 5, retry_timeout: 60s - …` as `GET URL,
/// tried 6 times: …`.
fn request(text: &str) -> Option<String> {
    const BEGIN: &str = "Error performing ";
    let at = text.find(BEGIN)?;
    let (before, rest) = (&text[..at], &text[at + BEGIN.len()..]);
    let (told, cause) = rest.split_once(" - ")?;
    let (asked, how) = told.split_once(" in ").unwrap_or((told, ""));
    // The query string may be long and does not help an operator.
    let asked = asked.split('?').next().unwrap_or(asked).trim_end();
    let retries = how
        .split_once("after ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
    let tries = retries.map_or_else(String::new, |retries| {
        format!(", tried {} times", retries.saturating_add(1))
    });
    Some(format!("{before}{asked}{tries}: {cause}"))
}

/// Removes the address from `error sending request for url (…)`, because the line already has it.
fn without_url(text: &str) -> String {
    match text.split_once(" for url (") {
        Some((before, rest)) => {
            let after = rest.split_once(')').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text.to_owned(),
    }
}

/// Returns message and code of an XML error response, as S3 sends it.
fn answered(text: &str) -> Option<String> {
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
    };
    let (before, _) = text.split_once('<')?;
    let before = before.trim_end().trim_end_matches(':');
    let before = before.replace("Server returned non-2xx status code: ", "status ");
    match (tag("Message"), tag("Code")) {
        (Some(message), Some(code)) => Some(format!("{before}: {message} ({code})")),
        (None, Some(code)) => Some(format!("{before}: {code}")),
        _ => None,
    }
}

/// Minimum length of a part that is removed as a duplicate. A shorter part may repeat by chance.
const REPEATED_CHARS_MIN: usize = 12;

/// Removes the parts of a line that repeat an earlier part.
fn once(line: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in line.split(": ") {
        if part.chars().count() < REPEATED_CHARS_MIN || !kept.contains(&part) {
            kept.push(part);
        }
    }
    kept.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct ErrorText(&'static str, #[source] Option<Box<ErrorText>>);

    fn chain(texts: &[&'static str]) -> ErrorText {
        let (first, rest) = texts.split_first().unwrap();
        ErrorText(first, (!rest.is_empty()).then(|| Box::new(chain(rest))))
    }

    #[test]
    fn no_backtrace_is_told_however_a_cause_writes_it() {
        for trace in [
            "\n   0: core::main\n   1: start",
            "\n\nbacktrace:    0: core::main",
            "\nstack backtrace:\n   0: core::main",
        ] {
            let error = anyhow::anyhow!("the log is cut short{trace}").context("table products");
            assert_eq!(plain(&error), "table products: the log is cut short");
        }
    }

    #[test]
    fn an_object_store_that_does_not_answer_is_told_once() {
        const OUTER: &str = "Generic S3 error: Error performing list request: Error performing GET http://127.0.0.1:9/market?list-type=2&prefix=a%2F in \
             3.2s, after 5 retries, max_retries: 5, retry_timeout: 60s  - HTTP error: error sending request";
        let error = chain(&[
            "cannot list registry",
            OUTER,
            "Error performing GET http://127.0.0.1:9/market?list-type=2&prefix=a%2F in 3.2s, after 5 retries, \
             max_retries: 5, retry_timeout: 60s  - HTTP error: error sending request",
            "HTTP error: error sending request",
            "error sending request for url (http://127.0.0.1:9/market?list-type=2&prefix=a%2F)",
            "client error (Connect)",
            "tcp connect error",
            "Connection refused (os error 111)",
        ]);
        assert_eq!(
            plain(&error.into()),
            "cannot list registry: GET http://127.0.0.1:9/market, tried 6 times: error sending request: client error \
             (Connect): tcp connect error: Connection refused (os error 111)"
        );
    }

    #[test]
    fn an_object_store_that_refuses_is_told_by_its_message_and_code() {
        let error = anyhow::anyhow!(
            "Generic S3 error: Error performing PUT http://s3.test/b/k in 1.5ms - Server returned non-2xx status code: \
             403 Forbidden: <?xml version=\"1.0\"?>\n<Error><Code>InvalidAccessKeyId</Code><Message>No such key \
             id.</Message></Error>"
        );
        assert_eq!(
            plain(&error),
            "PUT http://s3.test/b/k: status 403 Forbidden: No such key id. (InvalidAccessKeyId)"
        );
    }
}
