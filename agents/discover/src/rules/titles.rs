use data_text::runs;

/// Removes brand and vendor names from a title, because they describe no product. The first two or more words of a name
/// also count as the name.
pub(crate) fn without_names(title: &str, names: &[&str]) -> String {
    let words = title.split_inclusive(|char: char| !char.is_alphanumeric());
    let mut words: Vec<&str> = words.filter(|word| runs(word).next().is_some()).collect();
    for name in names {
        let name: Vec<String> = runs(name).map(str::to_lowercase).collect();
        let mut at = 0;
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let pairs = rest.iter().flat_map(|word| runs(word)).zip(&name);
            let common = pairs.take_while(|(word, name)| word.to_lowercase() == **name).count();
            if common >= 2 || common == 1 && name.len() == 1 {
                words.drain(at..at + common);
            } else {
                at += 1;
            }
        }
    }
    words.concat()
}
