//! From a page's source to sentences.

/// How much of a text is looked at.
const BYTES_MAX: usize = 512 << 10;
const SENTENCES_MAX: usize = 2_000;
/// Longest sentence; what is longer is no sentence of terms.
const SENTENCE_BYTES_MAX: usize = 600;

/// Elements that stand within a line.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "code", "em", "font", "i", "ins", "mark", "q", "s", "small", "span", "strong", "sup", "u",
];
/// Elements whose content nobody sees.
const HIDDEN: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "head", "nav", "footer", "header",
];
/// Words after which a full stop ends no sentence.
const SHORT: &[&str] = &[
    "rs", "re", "no", "nr", "min", "max", "approx", "e.g", "i.e", "eg", "ca", "inkl", "zzgl", "inr", "st", "incl",
    "c.o", "mind", "bzw", "env", "aprox", "z.b", "a.m", "p.m", "usd", "j&k", "vs",
];

/// The sentences that a text shows, in its order.
pub(crate) fn sentences(source: &str) -> Vec<String> {
    let source = &source[..source.floor_char_boundary(BYTES_MAX)];
    let mut sentences = Vec::new();
    for line in shown(source).lines() {
        split(line, &mut sentences);
        if sentences.len() >= SENTENCES_MAX {
            break;
        }
    }
    sentences.truncate(SENTENCES_MAX);
    sentences
}

/// The text of HTML, a line for each block.
fn shown(source: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(source.len()), source);
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = if rest.starts_with('<') {
            tag(rest, &mut out)
        } else {
            entity(rest, &mut out)
        };
    }
    out.push_str(rest);
    out
}

/// Reads a tag, or a sign that is none; gives what follows.
fn tag<'a>(source: &'a str, out: &mut String) -> &'a str {
    let inner = &source[1..];
    if let Some(comment) = inner.strip_prefix("!--") {
        return comment.find("-->").map_or("", |end| &comment[end + 3..]);
    }
    let is_tag = inner.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '!');
    let Some(end) = inner.find('>').filter(|_| is_tag) else {
        out.push('<');
        return inner;
    };
    let name = inner[..end].trim_start_matches('/');
    let name = name
        .split(|char: char| !char.is_ascii_alphanumeric())
        .next()
        .unwrap_or("");
    let name = name.to_ascii_lowercase();
    let after = &inner[end + 1..];
    if !inner.starts_with('/') && HIDDEN.contains(&name.as_str()) {
        return past(after, &name);
    }
    out.push(if INLINE.contains(&name.as_str()) { ' ' } else { '\n' });
    after
}

/// What follows the end of an element.
fn past<'a>(source: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    let lower = source.to_ascii_lowercase();
    lower.find(&end).map_or("", |at| {
        let rest = &source[at + end.len()..];
        rest.find('>').map_or("", |at| &rest[at + 1..])
    })
}

fn entity<'a>(source: &'a str, out: &mut String) -> &'a str {
    let inner = &source[1..];
    let end = inner.bytes().take(10).position(|byte| byte == b';');
    let Some(end) = end else {
        out.push('&');
        return inner;
    };
    let name = &inner[..end];
    let decoded = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" | "rsquo" | "lsquo" => Some('\''),
        "nbsp" | "ensp" | "emsp" | "thinsp" => Some(' '),
        "ndash" | "mdash" => Some('–'),
        "euro" => Some('€'),
        "pound" => Some('£'),
        "eacute" => Some('é'),
        "agrave" => Some('à'),
        "uuml" => Some('ü'),
        "auml" => Some('ä'),
        "ouml" => Some('ö'),
        "szlig" => Some('ß'),
        "ntilde" => Some('ñ'),
        _ => numeric(name),
    };
    match decoded {
        Some(char) => {
            out.push(char);
            &inner[end + 1..]
        }
        None => {
            out.push('&');
            inner
        }
    }
}

fn numeric(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code).filter(|char| !char.is_control())
}

fn split(line: &str, out: &mut Vec<String>) {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    for (at, char) in line.char_indices() {
        let end = at + char.len_utf8();
        let ends = match char {
            '!' | '?' | ';' | '•' | '|' | '।' => true,
            '.' => ends_here(&line[from..at], &line[end..]),
            _ => false,
        };
        if ends {
            push(&line[from..end], out);
            from = end;
        }
    }
    push(&line[from..], out);
}

fn push(sentence: &str, out: &mut Vec<String>) {
    let sentence = sentence.trim_matches([' ', '•', '|', '*']);
    if !sentence.is_empty() && sentence.len() <= SENTENCE_BYTES_MAX {
        out.push(sentence.to_owned());
    }
}

/// Whether a full stop between these ends a sentence.
fn ends_here(before: &str, after: &str) -> bool {
    let next = after.strip_prefix(' ').unwrap_or(after);
    if after.is_empty() || next.is_empty() {
        return true;
    }
    let word = before.rsplit([' ', '(', '/']).next().unwrap_or("").to_lowercase();
    let is_short = SHORT.contains(&word.as_str());
    // `delivery.Free`: the space was forgotten.
    let begins = next.starts_with(|next: char| next.is_uppercase() || "₹€£$".contains(next));
    let is_spaced = after.starts_with(' ') || word.chars().all(char::is_alphabetic) && word.chars().count() > 2;
    let is_number = after.starts_with(' ') && next.starts_with(|next: char| next.is_ascii_digit());
    !is_short && is_spaced && (begins || is_number || after.starts_with(' '))
}
