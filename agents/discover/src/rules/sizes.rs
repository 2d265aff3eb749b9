/// True if a store's size label equals the wanted size: `M`, `9`, `UK 9`, `QUEEN`.
pub(crate) fn is_size(said: &str, wanted: &str) -> bool {
    let said = words(said);
    // A label such as `9-10 years` is an age.
    if said.iter().any(|word| {
        matches!(
            word.as_str(),
            "y" | "yr" | "yrs" | "year" | "years" | "month" | "months" | "mths"
        )
    }) {
        return false;
    }
    let wanted = words(wanted);
    match wanted.as_slice() {
        [region, number] => {
            let beside =
                |pair: &[String]| pair == [region.clone(), number.clone()] || pair == [number.clone(), region.clone()];
            let names_region = said.iter().any(|word| is_region(word));
            said.windows(2).any(beside) || !names_region && said.contains(number)
        }
        [one] => {
            let is_number = one.starts_with(|char: char| char.is_ascii_digit());
            let first = said.first().filter(|_| is_number);
            said.iter().any(|word| word == one)
                && first.is_none_or(|first| first == one || is_region(first) || first == "size")
        }
        _ => false,
    }
}

fn is_region(word: &str) -> bool {
    matches!(word, "uk" | "us" | "eu" | "ind" | "india" | "fr" | "it" | "jp" | "au")
}

/// Splits a size label into words in a standard spelling.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in lower
        .split(|char: char| !char.is_alphanumeric() && char != '.')
        .filter(|word| !word.is_empty())
    {
        // A size such as `uk9` is split into letters and digits.
        let digits = word.find(|char: char| char.is_ascii_digit()).filter(|at| *at > 0);
        match digits.map(|at| word.split_at(at)) {
            Some((letters, number)) if is_region(letters) => words.extend([letters.to_owned(), number.to_owned()]),
            _ => words.push(plain(word).to_owned()),
        }
    }
    // `Extra Large` and `double xl` become one word.
    for at in (0..words.len().saturating_sub(1)).rev() {
        let joined = match (words.get(at).map(String::as_str), words.get(at + 1).map(String::as_str)) {
            (Some("extra" | "x"), Some("l")) => "xl",
            (Some("extra" | "x"), Some("s")) => "xs",
            (Some("double"), Some("xl")) => "xxl",
            (Some("triple"), Some("xl")) => "xxxl",
            _ => continue,
        };
        words.splice(at..at + 2, [joined.to_owned()]);
    }
    words
}

fn plain(word: &str) -> &str {
    match word {
        "small" => "s",
        "medium" => "m",
        "large" => "l",
        "1xl" | "xlarge" => "xl",
        "2xl" => "xxl",
        "3xl" => "xxxl",
        "xxxxl" => "4xl",
        "eur" => "eu",
        "onesize" | "freesize" => "free",
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_known_in_the_ways_that_stores_write_it() {
        for (said, wanted) in [
            ("M", "M"),
            ("Medium", "M"),
            ("M / 38", "M"),
            ("2XL", "XXL"),
            ("Extra Large", "XL"),
            ("UK 9", "UK 9"),
            ("UK9 / EU43", "UK 9"),
            ("9 UK", "UK 9"),
            ("9", "UK 9"),
            ("9", "9"),
            ("UK 9", "9"),
            ("Size 9", "9"),
            ("34B", "34B"),
            ("Queen (90x100)", "QUEEN"),
            ("Free Size", "FREE"),
            ("9.5", "9.5"),
        ] {
            assert!(is_size(said, wanted), "{said} is {wanted}");
        }
        for (said, wanted) in [
            ("L", "M"),
            ("XL", "L"),
            ("9-10 Years", "9"),
            ("US 9", "UK 9"),
            ("10", "9"),
            ("9.5", "9"),
            ("8 / 9", "9"),
            ("Men", "M"),
            ("", "M"),
        ] {
            assert!(!is_size(said, wanted), "{said} is not {wanted}");
        }
    }

    #[test]
    fn every_spelling_of_a_size_is_that_size() {
        for wanted in ["M", "XL", "XXL", "9", "UK 9", "34B", "FREE", "QUEEN"] {
            for said in data_understanding::intent::size_values(wanted) {
                assert!(is_size(&said, wanted), "{said} is {wanted}");
            }
        }
    }
}
