//! Tests of the conversion of HTML descriptions to safe text.

use data_text::{DESCRIPTION_CHARS_MAX, html_to_text};
use proptest::prelude::*;

#[track_caller]
fn check(html: &str, text: &str) {
    assert_eq!(html_to_text(html), text);
}

#[test]
fn blocks_and_items_stand_on_lines_of_their_own() {
    check(
        "<p>Soft  cotton.<br>Made in India</p><ul><li>S</li><li>M</li></ul>after",
        "Soft cotton.\nMade in India\n• S\n• M\nafter",
    );
    check("one\n two<b>three</b>", "one twothree");
    check("<table><tr><td>Weight</td><td>250 g</td></tr></table>", "Weight 250 g");
}

#[test]
fn items_keep_their_bullets() {
    check(
        "<ul><li><p>Cotton</p><p>from Assam</p></li><li> </li><li></li></ul><p>Care</p>",
        "• Cotton\nfrom Assam\nCare",
    );
    check(
        "<ol><li>One<ul><li>Two</li></ul></li><li>Three",
        "• One\n• Two\n• Three",
    );
    // A list item that the store already marked gets no second bullet.
    check("<ul><li>• A</li><li>- B</li><li>✔ C</li></ul>", "• A\n- B\n✔ C");
    check("&lt;ul&gt;&lt;li&gt;told twice&lt;/li&gt;&lt;/ul&gt;", "• told twice");
}

#[test]
fn content_that_is_no_text_is_dropped() {
    check("a<script>alert(1)</script>b<style>p{}</style>c<!-- d -->e", "a b ce");
    check("<iframe src=x>old</iframe><svg><title>t</title></svg>tail", "tail");
    check("<img src=x onerror=alert(1)>shown", "shown");
    check(
        "before<template><p>in</p><template></template></template>after",
        "before after",
    );
}

#[test]
fn what_becomes_markup_by_decoding_is_markup() {
    check("&lt;script&gt;alert(1)&lt;/script&gt;x", "x");
    check("&amp;lt;b&amp;gt;bold", "bold");
    check("5 < 6 &amp; 7 > 3", "5 < 6 & 7 > 3");
    check("Salt &amp;amp; Pepper", "Salt & Pepper");
}

#[test]
fn hidden_characters_are_dropped_and_joiners_stay() {
    check("a\u{202e}b\u{0}c\u{200b}d\u{feff}", "abcd");
    check("क्\u{200d}ष", "क्\u{200d}ष");
    check("x\u{a0}\u{a0}y", "x y");
}

#[test]
fn length_is_bounded_and_time_with_it() {
    let long = "<p>é</p>".repeat(100_000);
    // A line break and the next letter are kept or dropped together.
    assert_eq!(html_to_text(&long).chars().count(), DESCRIPTION_CHARS_MAX - 1);
    assert_eq!(html_to_text(&"é".repeat(50_000)).chars().count(), DESCRIPTION_CHARS_MAX);
    let nested = format!("&{}lt;script>", "amp;".repeat(100_000));
    let text = html_to_text(&nested);
    assert!(!text.contains('<') && text.chars().count() <= DESCRIPTION_CHARS_MAX);
}

fn htmlish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<p>"),
        Just("</p>"),
        Just("<br/>"),
        Just("<li>"),
        Just("</ul>"),
        Just("<script>"),
        Just("</script>"),
        Just("<"),
        Just(">"),
        Just("&"),
        Just("&amp;"),
        Just("&lt;"),
        Just("&gt;"),
        Just("&#60;"),
        Just("amp;"),
        Just("lt;"),
        Just("<!--"),
        Just("-->"),
        Just("<a href=\""),
        Just("\">"),
        Just("\n"),
        Just("  "),
        Just("é"),
        Just("text"),
        Just("<svg>"),
        Just("\u{202e}"),
        Just("]]>"),
        Just("<![CDATA["),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn its_own_output_comes_back_unchanged(html in htmlish()) {
        let text = html_to_text(&html);
        prop_assert_eq!(html_to_text(&text), text);
    }

    #[test]
    fn no_tag_ever_comes_out(html in htmlish()) {
        let text = html_to_text(&html);
        let tag = text.as_bytes().windows(2).any(|pair| pair[0] == b'<' && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'/' | b'!' | b'?')));
        prop_assert!(!tag, "{}", text);
    }

    #[test]
    fn any_text_is_read_without_a_panic(html in "\\PC{0,200}|.{0,200}") {
        drop(html_to_text(&html));
    }
}
