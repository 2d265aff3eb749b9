use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Words that introduce a description after the product's name, as in `lamp for desks` and `shirt with pockets`.
const BREAKS: &str = "and at by compatible for from in of on to w with without";

/// Words that end many titles but do not name the product: colours, sizes, quantities or intended persons.
static NAMES_NOTHING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = "adult beige black blue boys brown cm ct ft girls gm gms gray green grey inch inches ivory kg khaki kids \
         large lb lbs ltr magenta maroon medium men mens ml mm multi multicolor multicolour navy olive oz pack pc \
         pcs piece pieces pink purple qt red silver size small sq teal turquoise unisex white women womens xl xs \
         xxl yellow";
    words.split_whitespace().collect()
});

/// Returns true for a word at the end of a title or query that does not name the product: a colour, a size, a quantity,
/// a person, or a model number. `word` must be lowercase.
#[must_use]
pub fn names_nothing(word: &str) -> bool {
    word.len() == 1 || word.bytes().any(|byte| byte.is_ascii_digit()) || NAMES_NOTHING.contains(word)
}

pub(super) struct TitleWord<'a> {
    pub(super) text: &'a str,
    pub(super) at: Range<usize>,
}

/// Returns the index of the title's head, the word that names the kind of product. The head is the last word before a
/// preposition, comma, bracket or dash.
pub(super) fn head(title: &str, words: &[TitleWord<'_>]) -> Option<usize> {
    let mut end = words.len();
    for (at, pair) in words.windows(2).enumerate() {
        let [before, word] = pair else { continue };
        let between = title.get(before.at.end..word.at.start).unwrap_or_default();
        let cut = between.contains([',', '(', '|', ';', ':', '–', '—', '[']) || between.contains(" - ");
        // A title does not begin with a description, but a brand may contain such a word, as in `Fruit of the Loom`.
        if matches!(word.text, "for" | "with" | "without")
            || at >= 1 && (cut || BREAKS.split(' ').any(|one| one == word.text))
        {
            end = at + 1;
            break;
        }
    }
    let named = words.get(..end)?;
    let last = named.iter().rposition(|word| !names_nothing(word.text));
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
                let at = from..from + word.len();
                words.push(TitleWord { text: word, at });
            }
            from = from + word.len() + title[from + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
        head(title, &words).map_or("", |at| words[at].text)
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
            ("cotton kurta blue", "kurta"),
            ("running shoes black white men", "shoes"),
            ("ghee 500 gm", "ghee"),
            ("black", "black"),
            ("", ""),
        ] {
            assert_eq!(head_of(title), named, "{title}");
        }
    }
}
