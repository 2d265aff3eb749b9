use std::sync::LazyLock;

use super::markup::Markup;

/// HTML of the page at `/`. Comments in this HTML mark the sections that product and brand documents replace.
const PAGE: &str = include_str!("../../page/index.html");

/// Script of a product document, which replaces the scripts of the list.
const PRODUCT_SCRIPTS: &str = "<script type=\"module\" src=\"../item.js\"></script>";

static SHELL: LazyLock<Shell> = LazyLock::new(|| Shell::read(PAGE).unwrap_or_default());

/// Sections of the page, with relative URLs for documents that are one folder deeper.
#[derive(Debug, Default)]
struct Shell {
    top: String,
    links: String,
    scripts: String,
    header: String,
    list: String,
    footer: String,
    dialog: String,
    bottom: String,
}

impl Shell {
    /// Splits the page into its sections; `None` if a mark is missing.
    fn read(page: &str) -> Option<Self> {
        let page = page.replace("=\"./", "=\"../");
        let (top, _, rest) = cut(&page, "about")?;
        let (links, scripts, rest) = cut(rest, "scripts")?;
        let (header, list, rest) = cut(rest, "list")?;
        let (footer, dialog, bottom) = cut(rest, "dialog")?;
        let [top, links, scripts, header] = [top, links, scripts, header].map(str::to_owned);
        let [list, footer, dialog, bottom] = [list, footer, dialog, bottom].map(str::to_owned);
        Some(Self {
            top,
            links,
            scripts,
            header,
            list,
            footer,
            dialog,
            bottom,
        })
    }
}

/// Splits a page into the text before, inside and after a marked section.
fn cut<'a>(page: &'a str, mark: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = page.split_once(&format!("<!--{mark}-->"))?;
    let (within, behind) = rest.split_once(&format!("<!--/{mark}-->"))?;
    Some((before, within, behind))
}

/// Builds a document with the page's list, limited to one brand. Browsers without scripts show `unscripted`.
pub(super) fn list(about: Markup, unscripted: Markup) -> String {
    let shell = &*SHELL;
    let (about, unscripted) = (about.into_string(), unscripted.into_string());
    let noscript = format!("<noscript>{unscripted}</noscript>");
    [
        shell.top.as_str(),
        &about,
        &shell.links,
        &shell.scripts,
        &shell.header,
        &noscript,
        &shell.list,
        &shell.footer,
        &shell.dialog,
        &shell.bottom,
    ]
    .concat()
}

/// Builds a document that shows `main` instead of the list.
pub(super) fn single(about: Markup, main: Markup) -> String {
    let shell = &*SHELL;
    let (about, main) = (about.into_string(), main.into_string());
    [
        shell.top.as_str(),
        &about,
        &shell.links,
        PRODUCT_SCRIPTS,
        &shell.header,
        &main,
        &shell.footer,
        &shell.bottom,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_mark_and_its_addresses_begin_where_it_lies() {
        let shell = Shell::read(PAGE).unwrap();
        assert!(shell.top.contains("<head>") && shell.bottom.contains("</html>"));
        assert!(shell.scripts.contains("src=\"../app.js\"") && shell.links.contains("href=\"../app.css\""));
        assert!(shell.list.contains("id=\"grid\"") && shell.dialog.contains("id=\"product\""));
        for ids in [&shell.header, &shell.footer, &shell.bottom] {
            assert!(
                !ids.contains("id=\"grid\"") && !ids.contains("id=\"product-title\""),
                "{ids}"
            );
        }
        let names = ["href", "src", "action"];
        let addresses = PAGE.match_indices("=\"");
        for (at, _) in addresses.filter(|(at, _)| names.iter().any(|name| PAGE[..*at].ends_with(name))) {
            let value = PAGE[at + 2..].split('"').next().unwrap();
            let known = ["./", "#", "data:"].iter().any(|start| value.starts_with(start));
            assert!(known || value.is_empty(), "{value} is of no place");
        }
    }
}
