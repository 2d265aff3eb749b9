use super::*;

/// What was read, in one line.
fn line(text: &str) -> String {
    let understood = read(text);
    let parts = understood.parts.iter().map(|part| {
        let meaning = match &part.meaning {
            Meaning::Price(Price { min, max, currency }) => {
                let whole =
                    |hundredths: &Option<u64>| hundredths.map_or(String::new(), |amount| (amount / 100).to_string());
                let currency = currency.map_or(String::new(), |currency| currency.as_str().to_owned());
                format!("{}..{}{currency}", whole(min), whole(max))
            }
            Meaning::Excluded(words) => format!("not {}", words.join(" or ")),
            Meaning::Lacking(lacking) => format!("lacks {}", lacking.of),
            Meaning::Phrase(_) => "phrase".to_owned(),
            Meaning::Gift(categories) => format!("gift of {}", categories.len()),
            Meaning::Wear(categories) => format!("wear of {}", categories.len()),
            Meaning::Need(categories) => format!("need of {}", categories.len()),
            Meaning::Recipient => "recipient".to_owned(),
            Meaning::Age(months) => format!("{months} months"),
            Meaning::Asking => "asking".to_owned(),
        };
        format!("[{}: {meaning}]", part.text)
    });
    let parts: Vec<String> = parts.collect();
    format!("{} {}", understood.text, parts.join(" ")).trim().to_owned()
}

#[test]
fn show() {
    for text in include_str!("../../examples/shoppers/queries.tsv")
        .lines()
        .filter_map(|line| line.split('\t').nth(2))
    {
        println!("{text} => {}", line(text));
    }
}
