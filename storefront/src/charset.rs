//! Conversion of a body to UTF-8 from the encoding in which the store sends it.

use bytes::Bytes;
use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Spare bytes that the decoder needs after the last character.
const SLACK: usize = 4;

/// Returns the body in UTF-8, or `None` if it would then be longer than `bytes_max`. A body that is valid UTF-8 despite
/// its label stays unchanged. Invalid characters become U+FFFD.
pub(crate) fn in_utf8(body: Bytes, content_type: Option<&str>, bytes_max: u64) -> Option<Bytes> {
    let Some(encoding) = encoding(&body, content_type.and_then(label)) else {
        return Some(body);
    };
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let longest = decoder.max_utf8_buffer_length(body.len())?;
    let mut text = vec![0; longest.min(bytes_max.saturating_add(SLACK))];
    let (result, _, length, _) = decoder.decode_to_utf8(&body, &mut text, true);
    if result == CoderResult::OutputFull || length > bytes_max {
        return None;
    }
    text.truncate(length);
    // The text includes the body, because its memory reservation covers both.
    Some(Bytes::from_owner(DecodedText { text, _body: body }))
}

/// Returns the encoding of a body from its byte order mark or its label. `None` means UTF-8.
fn encoding(body: &[u8], label: Option<&str>) -> Option<&'static Encoding> {
    if let Some((marked, _)) = Encoding::for_bom(body) {
        return (marked != UTF_8).then_some(marked);
    }
    let labelled = label.and_then(|label| Encoding::for_label(label.as_bytes()));
    if let Some(wide) = labelled.filter(|labelled| [UTF_16LE, UTF_16BE].contains(labelled)) {
        // UTF-16 text of these pages contains zero bytes and UTF-8 does not. The position of the zero in the first two
        // bytes is more reliable than the label.
        return match body {
            [0, second, ..] if *second != 0 => Some(UTF_16BE),
            [first, 0, ..] if *first != 0 => Some(UTF_16LE),
            _ => body.contains(&0).then_some(wide),
        };
    }
    if std::str::from_utf8(body).is_ok() {
        return None;
    }
    match label {
        // Damaged UTF-8 still contains multi-byte characters that an older encoding would not.
        None => (!has_letters(body)).then_some(WINDOWS_1252),
        Some(_) => labelled.filter(|labelled| *labelled != UTF_8),
    }
}

/// Returns true if the body contains valid multi-byte UTF-8 characters.
fn has_letters(body: &[u8]) -> bool {
    body.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

struct DecodedText {
    text: Vec<u8>,
    _body: Bytes,
}

impl AsRef<[u8]> for DecodedText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

fn label(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1).filter_map(|part| part.split_once('='));
    let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charsets.next().map(|(_, value)| value.trim().trim_matches('"'))
}
