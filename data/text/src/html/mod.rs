mod lines;
mod simple;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use self::lines::{Gap, Lines};

/// Maximum length of a description, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 20_000;
/// Maximum number of bytes of HTML that are read. Further bytes are ignored.
const HTML_BYTES_MAX: usize = 512 << 10;
/// Maximum number of passes over the text. Decoded text that looks like markup (`&amp;lt;b&amp;gt;`) needs another
/// pass.
const ROUNDS_MAX: usize = 4;

/// Converts an HTML description to safe plain text. Markup and the content of scripts, styles and frames are removed,
/// entities are decoded and white space is folded. Blocks and list items are on lines of their own, and list items have
/// a bullet. The conversion is idempotent.
///
/// Text that looks like markup only after decoding is also read as markup, so that no consumer executes it. The text is
/// truncated to [`DESCRIPTION_CHARS_MAX`] characters.
#[must_use]
pub fn html_to_text(html: &str) -> String {
    let html = &html[..html.floor_char_boundary(HTML_BYTES_MAX)];
    if memchr::memchr2(b'<', b'&', html.as_bytes()).is_none() {
        let mut lines = Lines::default();
        lines.push(html, true);
        return lines.finish();
    }
    let mut text = tokens_to_text(html, !has_tags(html));
    for _ in 0..ROUNDS_MAX {
        if !has_tags(&text) && !text.contains('&') {
            return text;
        }
        let again = tokens_to_text(&text, true);
        if again == text {
            return text;
        }
        text = again;
    }
    // Nesting this deep is implausible, so that the remaining `<` and `&` become spaces.
    let mut lines = Lines::default();
    lines.push(&text.replace(['<', '&'], " "), true);
    lines.finish()
}

/// Returns true if a tag, comment or declaration begins anywhere (HTML standard, 13.2.5.6 tag open state).
fn has_tags(text: &str) -> bool {
    memchr::memchr_iter(b'<', text.as_bytes()).any(|at| {
        let next = text.as_bytes().get(at + 1);
        next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'))
    })
}

fn tokens_to_text(html: &str, keep_lines: bool) -> String {
    simple::to_text(html, keep_lines).unwrap_or_else(|| any_to_text(html, keep_lines))
}

/// The tokenizer of the HTML standard reads malformed HTML as browsers do.
fn any_to_text(html: &str, keep_lines: bool) -> String {
    let mut lines = Lines::default();
    let mut skipped: Option<(Vec<u8>, u32)> = None;
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        match (event, &mut skipped) {
            (CallbackEvent::OpenStartTag { name }, Some((within, depth))) => *depth += u32::from(within == name),
            (CallbackEvent::EndTag { name }, Some((within, depth))) if within == name => {
                *depth -= 1;
                if *depth == 0 {
                    skipped = None;
                }
            }
            (CallbackEvent::OpenStartTag { name }, None) if is_skipped(name) => {
                lines.gap(Gap::Space);
                skipped = Some((name.to_vec(), 1));
            }
            (CallbackEvent::OpenStartTag { name }, None) => tag(name, false, &mut lines),
            (CallbackEvent::EndTag { name }, None) => tag(name, true, &mut lines),
            (CallbackEvent::String { value }, None) => lines.push(&String::from_utf8_lossy(value), keep_lines),
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        // Reading from memory cannot fail, and the emitter returns no errors.
        let Ok(()) = token;
    }
    lines.finish()
}

/// Returns true for elements whose content is not text of the product.
fn is_skipped(name: &[u8]) -> bool {
    matches!(
        name,
        b"script" | b"style" | b"template" | b"iframe" | b"object" | b"svg" | b"math" | b"select" | b"textarea"
    ) || matches!(
        name,
        b"noembed" | b"noframes" | b"audio" | b"video" | b"canvas" | b"title"
    )
}

fn tag(name: &[u8], ends: bool, lines: &mut Lines) {
    match name {
        b"li" if ends => lines.end_item(),
        b"li" => lines.begin_item(),
        b"ul" | b"ol" => lines.end_item(),
        _ => {
            if let Some(gap) = gap_of(name) {
                lines.gap(gap);
            }
        }
    }
}

/// Returns the gap that an element puts between the texts before and after it.
fn gap_of(name: &[u8]) -> Option<Gap> {
    match name {
        b"p" | b"div" | b"br" | b"hr" | b"dl" | b"dt" | b"dd" | b"tr" | b"table" | b"thead" | b"tbody" | b"tfoot"
        | b"caption" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"section" | b"article" | b"header"
        | b"footer" | b"main" | b"nav" | b"aside" | b"address" | b"blockquote" | b"pre" | b"figure" | b"figcaption"
        | b"details" | b"summary" | b"fieldset" | b"form" | b"legend" | b"center" | b"body" | b"html" | b"head" => {
            Some(Gap::Line)
        }
        b"td" | b"th" | b"img" | b"button" | b"option" | b"input" => Some(Gap::Space),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[expect(clippy::too_many_lines, reason = "a list of what pages hold")]
    fn piece() -> impl Strategy<Value = String> {
        let tags = [
            "<p>",
            "</p>",
            "<br/>",
            "<BR />",
            "<li class=x>",
            "<a href=\"a>b\" title='\"'>",
            "</a >",
            "<td",
            "<x-y>",
            "<",
            "</",
            "</>",
            "<1",
            "<!--",
            "-->",
            "<!doctype html>",
            "<?php ?>",
            "<svg>",
            "</svg>",
            "<title>",
            "</title>",
            "<script>",
            "</script>",
            "<textarea>",
            "<noscript>",
            "<b\0>",
            "<b a=\"&lt;\" b = c d>",
            "<i a=b\"c>",
            "<p/ x>",
            "<a\nb='c'>",
            "<a =b>",
            "<a b=>",
            "<a b=\"",
            ">",
            "\"",
            "'",
            "=",
        ];
        let entities = [
            "&",
            "&amp;",
            "&lt;",
            "&gt;",
            "&nbsp;",
            "&quot;",
            "&apos;",
            "&#39;",
            "&#x27;",
            "&#0;",
            "&#128;",
            "&#xD800;",
            "&#1114112;",
            "&#xfdd0;",
            "&#13;",
            "&#11;",
            "&amp",
            "&ampx;",
            "&copy;",
            "&notit;",
            "& ",
            "&;",
            "&#;",
            "&#x;",
            "&#8203;",
            "&ndash;",
            "&rsquo;",
            "&mdash",
            "&hellip;",
            "&eacute;",
            "&AMP;",
            "&zz;",
            "&#0000000039;",
        ];
        let texts = [
            "a",
            "Soft  cotton",
            " ",
            "\n",
            "\r\n",
            "\0",
            "é",
            "\u{200b}",
            "क्\u{200d}ष",
            "x y z",
            "\u{a0}",
        ];
        let all: Vec<&'static str> = tags.into_iter().chain(entities).chain(texts).collect();
        prop_oneof![4 => proptest::sample::select(all).prop_map(str::to_owned), 1 => "[ -~]{0,6}"]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_is_read_the_simple_way_is_read_as_browsers_do(
            pieces in proptest::collection::vec(piece(), 0..9),
            keep_lines: bool,
        ) {
            let html = pieces.concat();
            if let Some(text) = simple::to_text(&html, keep_lines) {
                prop_assert_eq!(text, any_to_text(&html, keep_lines));
            }
        }
    }

    #[test]
    fn ordinary_descriptions_are_read_the_simple_way() {
        let html = "<div class=\"rte\"><p>Salt &amp; pepper &ndash; 5 < 6</p><ul><li data-x='1'>It&rsquo;s <b>soft</b></li></ul><br/></div>";
        let text = simple::to_text(html, false);
        assert_eq!(text.as_deref(), Some("Salt & pepper – 5 < 6\n• It’s soft"));
    }
}
