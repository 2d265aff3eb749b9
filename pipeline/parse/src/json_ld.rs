use data_model::read_store_json;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use serde_json::Value;

use crate::rating::{PageFacts, facts};

/// Maximum number of bytes read of a page.
const HTML_BYTES_MAX: usize = 8 << 20;
const BLOCK_BYTES_MAX: usize = 2 << 20;
const BLOCKS_MAX: usize = 64;

/// Reads the machine-readable data (JSON-LD) of a product page: its rating, reviews and barcodes.
///
/// Blocks that cannot be parsed are skipped. A page without blocks gives empty facts. Of several products, the first
/// one counts, with all statements of other blocks about it.
#[must_use]
pub fn parse_product_html(html: &str) -> PageFacts {
    let html = &html[..html.floor_char_boundary(HTML_BYTES_MAX)];
    // Most pages of some stores have no JSON-LD. This cheap check avoids parsing such pages.
    let ld = |plus: usize| {
        html.as_bytes()[..plus]
            .last_chunk::<2>()
            .is_some_and(|ld| ld.eq_ignore_ascii_case(b"ld"))
    };
    if !memchr::memchr_iter(b'+', html.as_bytes()).any(ld) {
        return PageFacts::default();
    }
    let documents: Vec<Value> = blocks(html).iter().filter_map(|block| read_block(block)).collect();
    facts(&documents)
}

/// Returns the contents of the page's `application/ld+json` scripts.
fn blocks(html: &str) -> Vec<String> {
    let mut state = BlockState::default();
    let callback = move |event: CallbackEvent<'_>, _: Span<()>| state.see(&event);
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    // The error of tokenizing a text is `Infallible`.
    Tokenizer::new_with_emitter(html, emitter)
        .filter_map(Result::ok)
        .take(BLOCKS_MAX)
        .collect()
}

#[derive(Default)]
struct BlockState {
    script: bool,
    type_attribute: bool,
    json_ld: bool,
}

impl BlockState {
    fn see(&mut self, event: &CallbackEvent<'_>) -> Option<String> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                *self = Self {
                    script: *name == b"script",
                    ..Self::default()
                };
            }
            CallbackEvent::AttributeName { name } => self.type_attribute = self.script && *name == b"type",
            CallbackEvent::AttributeValue { value } if self.type_attribute => {
                let media_type = value
                    .split(|byte| *byte == b';')
                    .next()
                    .unwrap_or_default()
                    .trim_ascii();
                self.json_ld = media_type.eq_ignore_ascii_case(b"application/ld+json");
            }
            CallbackEvent::String { value } if self.json_ld && value.len() <= BLOCK_BYTES_MAX => {
                return Some(String::from_utf8_lossy(value).into_owned());
            }
            CallbackEvent::EndTag { .. } => *self = Self::default(),
            _ => {}
        }
        None
    }
}

/// Parses one block. After a failure, common faults are corrected: surrounding comments and CDATA marks, trailing
/// commas, and a block that is completely HTML-encoded.
fn read_block(block: &str) -> Option<Value> {
    let text = unwrapped(block);
    let read = |text: &str| read_store_json(text.as_bytes()).ok();
    let mended = || read(&without_trailing_commas(text));
    let unescaped = || read(&without_trailing_commas(&decoded_entities(text)?));
    read(text).or_else(mended).or_else(unescaped)
}

fn unwrapped(block: &str) -> &str {
    let mut text = block.trim();
    loop {
        let before = text;
        for opening in ["<!--", "//<![CDATA[", "// <![CDATA[", "/*<![CDATA[*/", "<![CDATA["] {
            text = text.strip_prefix(opening).unwrap_or(text).trim_start();
        }
        for closing in ["-->", "//]]>", "// ]]>", "/*]]>*/", "]]>", ";"] {
            text = text.strip_suffix(closing).unwrap_or(text).trim_end();
        }
        if text.len() == before.len() {
            return text;
        }
    }
}

/// Returns `None` if the text has no character references.
fn decoded_entities(text: &str) -> Option<String> {
    memchr::memchr(b'&', text.as_bytes())?;
    let mut decoded = String::with_capacity(text.len());
    let strings = |event: CallbackEvent<'_>, _: Span<()>| match event {
        CallbackEvent::String { value } => Some(String::from_utf8_lossy(value).into_owned()),
        _ => None,
    };
    let strings = Tokenizer::new_with_emitter(text, CallbackEmitter::new(strings));
    decoded.extend(strings.filter_map(Result::ok));
    Some(decoded)
}

/// Removes trailing commas outside of strings, and control characters.
fn without_trailing_commas(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for char in text.chars().map(|char| if char < ' ' { ' ' } else { char }) {
        if in_string {
            in_string = escaped || char != '"';
            escaped = !escaped && char == '\\';
        } else if matches!(char, '}' | ']') {
            let end = kept.trim_end().len();
            if kept[..end].ends_with(',') {
                kept.truncate(end - 1);
            }
        } else {
            in_string = char == '"';
        }
        kept.push(char);
    }
    kept
}
