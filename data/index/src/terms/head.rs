use std::ops::Range;

/// Words that begin what is said about a product after it was named: `lamp for desks`, `shirt with pockets`.
const BREAKS: [&str; 13] = [
    "and",
    "at",
    "by",
    "compatible",
    "for",
    "from",
    "in",
    "of",
    "on",
    "to",
    "w",
    "with",
    "without",
];

/// Which word of a title says what the product is: the last one before a preposition, a comma, a bracket or a dash.
///
/// `words` are the title's words in order and where they stand. Sizes and model numbers name nothing.
pub(super) fn head(title: &str, words: &[(&str, Range<usize>)]) -> Option<usize> {
    let mut end = words.len();
    for (at, pair) in words.windows(2).enumerate() {
        let [(_, before), (word, here)] = pair else { continue };
        let between = title.get(before.end..here.start).unwrap_or_default();
        let cut = between.contains([',', '(', '|', ';', ':', '–', '—', '[']) || between.contains(" - ");
        // A title does not begin with what is said about it, but many a brand has such a word: `Fruit of the Loom`.
        if matches!(*word, "for" | "with" | "without") || at >= 1 && (cut || BREAKS.contains(word)) {
            end = at + 1;
            break;
        }
    }
    let named = words.get(..end)?;
    let is_size = |word: &str| word.len() == 1 || word.bytes().any(|byte| byte.is_ascii_digit());
    let last = named.iter().rposition(|(word, _)| !is_size(word));
    last.or_else(|| named.len().checked_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head_of(title: &str) -> &str {
        let mut words = Vec::new();
        let mut from = 0;
        for word in title.split(|char: char| !char.is_alphanumeric()) {
            if !word.is_empty() {
                words.push((word, from..from + word.len()));
            }
            from = from + word.len() + title[from + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
        head(title, &words).map_or("", |at| words[at].0)
    }

    #[test]
    fn the_last_word_before_what_is_said_about_it_names_the_product() {
        for (title, named) in [
            ("Vinyl Turned Fence Post Sleeve", "Sleeve"),
            ("Cotton Shirt with two pockets", "Shirt"),
            ("Oak Desk Lamp (brass)", "Lamp"),
            ("Waffle Maker - 03510", "Maker"),
            ("River Tile 12x24, grey", "Tile"),
            ("River Tile 12 in x 24 in H", "Tile"),
            ("For the home", "home"),
            ("Case for phones", "Case"),
            ("Fruit of the Loom Tee", "Tee"),
            ("Oak lamp — brass — India", "lamp"),
            ("Mat", "Mat"),
            ("501", "501"),
            ("", ""),
        ] {
            assert_eq!(head_of(title), named, "{title}");
        }
    }
}
