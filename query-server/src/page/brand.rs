use data_index::BrandEntry;

use super::markup::{Markup, beginning, web_address};
use super::{json_ld, shell};

/// Maximum length of the description in the document's metadata, in characters.
const ABOUT_CHARS_MAX: usize = 160;

/// Returns the HTML document of a brand: the page with the brand's list, and the stored facts of the brand for readers
/// without scripts.
pub(crate) fn brand(entry: &BrandEntry, public_url: &str) -> String {
    let brand = &entry.facts.brand;
    let mut about = Markup::default();
    about
        .raw("<title>")
        .text(&brand.name)
        .raw(" · haat</title>\n<meta name=\"description\" content=\"");
    match &brand.description {
        Some(description) => about.text(&beginning(description, ABOUT_CHARS_MAX)),
        None => about.raw("Products of ").text(&brand.name),
    };
    about.raw("\">\n");
    about.canonical(public_url, "brands", brand.slug.as_str());
    about.property("og:title", &brand.name);
    about
        .raw("<script type=\"application/ld+json\">")
        .raw(&json_ld::brand(entry))
        .raw("</script>");

    let mut plain = Markup::default();
    plain
        .raw("<div class=\"message\"><h1>")
        .text(&brand.name)
        .raw("</h1><p>");
    plain.text(brand.description.as_deref().unwrap_or_default()).raw("</p>");
    if let Some(store) = web_address(&brand.base_url) {
        plain
            .raw("<a class=\"plain\" rel=\"noopener noreferrer\" href=\"")
            .text(store)
            .raw("\">Visit the store</a>");
    }
    plain.raw("</div>");
    shell::list(about, plain)
}
