use super::dice::Dice;
use super::sketch::Sketch;

/// Appends the value of `body_html`: null for one product in fifty, blank for one in eight, otherwise HTML.
pub(crate) fn push_body(sketch: &Sketch<'_>, title: &str, out: &mut String) -> Option<()> {
    let mut dice = sketch.dice(0x424f);
    if dice.chance(20) {
        return None;
    }
    if dice.chance(120) {
        return Some(());
    }
    push_opening(sketch, title, &mut dice, out);
    let facts = &sketch.kind.facts;
    let count = dice.between(2, facts.len() as u64) as usize;
    let start = dice.below(facts.len() as u64) as usize;
    out.push_str(if dice.chance(500) {
        "\n<h3>Details</h3>\n<ul>\n"
    } else {
        "\n<ul data-mce-fragment=\"1\">\n"
    });
    for nth in 0..count {
        out.push_str("<li>");
        push_html(out, facts[(start + nth) % facts.len()]);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>");
    match dice.below(6) {
        0 => out.push_str("\n<p><em>Ships in 2–4 working days. Cash on delivery available.</em></p>"),
        1 => out.push_str("\n<p>&nbsp;</p>\n<div class=\"disclaimer\"><span style=\"font-weight: 400;\">Product colour may differ slightly due to photography lights.</span></div>"),
        2 => {
            out.push_str("\n<table><tbody><tr><td>Colour</td><td>");
            out.push_str(sketch.colour().name);
            out.push_str("</td></tr><tr><td>Country of origin</td><td>");
            out.push_str(sketch.persona.coin.country);
            out.push_str("</td></tr></tbody></table>");
        }
        _ => {}
    }
    Some(())
}

fn push_opening(sketch: &Sketch<'_>, title: &str, dice: &mut Dice, out: &mut String) {
    let (brand, city) = (&sketch.persona.name, sketch.persona.place.0);
    let noun = sketch.kind.noun;
    let mut put = |parts: &[&str]| parts.iter().for_each(|part| push_markup(out, part));
    match dice.below(6) {
        0 => put(&[
            "<p>The <strong>",
            title,
            "</strong> is made in small batches in our ",
            city,
            " workshop, by people we know by name.</p>",
        ]),
        1 => put(&[
            "<p>Made for long days: our ",
            sketch.form(),
            " ",
            noun,
            " is the one you will reach for again and again.</p>",
        ]),
        2 => put(&[
            "<p>",
            brand,
            " began with one idea: do less, but do it well. ",
            noun,
            ", made that way – nothing more.</p>",
        ]),
        3 => put(&[
            "<p>A ",
            sketch.form(),
            " ",
            noun,
            " that grows on you. Designed in ",
            city,
            ", tested by a thousand customers.</p>",
        ]),
        4 => put(&[
            "<p><span style=\"font-weight: 400;\">Say hello to ",
            title,
            ".</span><br>Thoughtfully made, fairly priced.</p>",
        ]),
        _ => put(&[
            "<p>Why you’ll love it: honest materials, a shade of ",
            sketch.colour().name,
            " that lasts and no shortcuts.</p>\n<p>",
            title,
            "</p>",
        ]),
    }
}

/// Appends markup unchanged, and words with entities for their ampersands.
fn push_markup(out: &mut String, part: &str) {
    if part.contains('<') {
        out.push_str(part)
    } else {
        push_html(out, part)
    }
}

/// Appends text with HTML escapes.
pub(crate) fn push_html(out: &mut String, text: &str) {
    if !text.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'>' | b'"')) {
        out.push_str(text);
        return;
    }
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}
