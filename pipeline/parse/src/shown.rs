use crate::codes::lines::{PageLink, Piece, pieces};

/// Maximum number of bytes read of a page.
const HTML_BYTES_MAX: usize = 2 << 20;

/// Text and links that a page shows to shoppers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownPage {
    /// Lines of text in the page's order, without scripts, styles and templates.
    pub lines: Vec<String>,
    /// Links in the page's order.
    pub links: Vec<PageLink>,
}

/// Returns the text and the links that a page shows. Any text can be read as a page.
#[must_use]
pub fn shown_page(html: &str) -> ShownPage {
    let mut page = ShownPage::default();
    for piece in pieces(&html[..html.floor_char_boundary(HTML_BYTES_MAX)]) {
        match piece {
            Piece::Line(line) => page.lines.push(line),
            Piece::Link(link) => page.links.push(link),
            Piece::Copied(_) => {}
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_its_lines_and_its_links_with_their_text() {
        let page = shown_page(
            "<header><p>Free <b>shipping</b> above ₹499</p></header><script>var a = '<a href=x>';</script>\
             <footer><a class=\"f\" href=\"/pages/faq\"><span>F.A.Q.</span></a><a>none</a><a href=\"/pages/cod\">COD</a></footer>",
        );
        let link = |href: &str, text: &str| PageLink {
            href: href.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(page.lines[0], "Free shipping above ₹499");
        assert_eq!(page.links, [link("/pages/faq", "F.A.Q."), link("/pages/cod", "COD")]);
    }
}
