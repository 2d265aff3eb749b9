/// HTML builder. Tags are written unchanged, and texts from stores are escaped.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Appends trusted markup unchanged.
    pub(super) fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends escaped text, or the escaped value of an attribute in double quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(character),
            }
        }
        self
    }

    /// Appends the canonical URL of a document. The URL is absolute if the server's public address is set.
    pub(super) fn canonical(&mut self, public_url: &str, folder: &str, name: &str) -> &mut Self {
        let start = match public_url.trim_end_matches('/') {
            "" => "..",
            address => address,
        };
        self.raw("<link rel=\"canonical\" href=\"")
            .text(start)
            .raw("/")
            .raw(folder);
        self.raw("/").text(name).raw("\">\n")
    }

    pub(super) fn property(&mut self, name: &str, content: &str) -> &mut Self {
        self.raw("<meta property=\"").text(name).raw("\" content=\"");
        self.text(content).raw("\">\n")
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Returns a URL that is safe for `href` and `src`, which `javascript:` and `data:` are not.
pub(super) fn web_address(text: &str) -> Option<&str> {
    let scheme = ["https://", "http://"];
    scheme.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

/// Returns the first words of a text, up to `chars_max` characters.
pub(super) fn beginning(text: &str, chars_max: usize) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match folded.char_indices().nth(chars_max) {
        None => folded,
        Some((end, _)) => {
            let cut = folded.get(..end).unwrap_or_default();
            let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
            format!("{words}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_ends_its_element_or_its_attribute(text in any::<String>()) {
            let mut markup = Markup::default();
            markup.text(&text);
            let written = markup.into_string();
            prop_assert!(!written.contains(['<', '>', '"', '\'']));
            let read = written.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            prop_assert_eq!(read.replace("&#39;", "'").replace("&amp;", "&"), text);
        }

        #[test]
        fn a_beginning_is_as_long_as_there_is_room(text in any::<String>(), room in 1_usize..50) {
            prop_assert!(beginning(&text, room).chars().count() <= room + 1);
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_linked() {
        assert_eq!(web_address("https://a.example/x"), Some("https://a.example/x"));
        assert_eq!(web_address("javascript:alert(1)"), None);
        assert_eq!(web_address("data:text/html,x"), None);
    }
}
