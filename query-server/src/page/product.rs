use data_index::RowAddress;
use data_model::{Brand, Money};

use super::markup::{Markup, beginning, web_address};
use super::{json_ld, shell};
use crate::served::ReleaseView;

/// Maximum length of the description in the document's metadata, in characters.
const ABOUT_CHARS_MAX: usize = 160;

/// Returns the HTML document of a product: its stored facts, readable without scripts, and the same facts as JSON-LD.
pub(crate) fn product(served: &ReleaseView, at: RowAddress, public_url: &str) -> String {
    let Some(part) = served.release.part(at.part) else {
        return missing("No such product");
    };
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let brand = &served.release.brand_of(at).facts.brand;
    let price = Money::from_minor(cards.price_min_minor(at.row), cards.currency(at.row));
    let stored = ProductDocument {
        id: cards.id(at.row).to_string(),
        title: cards.title(at.row),
        description: details.description(),
        image: cards.image(at.row).and_then(web_address),
        price: price.ok().filter(|price| price.minor() > 0),
        // Variants that the store does not list may be in stock.
        in_stock: Some(cards.in_stock(at.row)).filter(|known| *known || cards.variants_complete(at.row)),
        store: format!("{}/products/{}", brand.base_url, details.handle()),
        brand,
    };
    shell::single(stored.about(&json_ld::product(served, at), public_url), stored.main())
}

struct ProductDocument<'a> {
    id: String,
    title: &'a str,
    description: &'a str,
    image: Option<&'a str>,
    price: Option<Money>,
    in_stock: Option<bool>,
    /// URL of the product at its brand's store.
    store: String,
    brand: &'a Brand,
}

impl ProductDocument<'_> {
    fn about(&self, json_ld: &str, public_url: &str) -> Markup {
        let mut about = Markup::default();
        about.raw("<title>").text(self.title).raw(" · ").text(&self.brand.name);
        about.raw(" · haat</title>\n<meta name=\"description\" content=\"");
        let described = beginning(self.description, ABOUT_CHARS_MAX);
        let said = if described.is_empty() { self.title } else { &described };
        about.text(said).raw("\">\n");
        about.canonical(public_url, "products", &self.id);
        about.property("og:type", "product").property("og:title", self.title);
        if let Some(image) = self.image {
            about.property("og:image", image);
        }
        about
            .raw("<script type=\"application/ld+json\">")
            .raw(json_ld)
            .raw("</script>");
        about
    }

    fn main(&self) -> Markup {
        let mut main = Markup::default();
        main.raw("<main class=\"item\" id=\"content\" data-product=\"")
            .text(&self.id);
        main.raw("\">\n<article class=\"sheet\" aria-labelledby=\"product-title\">\n");
        main.raw("<div class=\"gallery\" id=\"gallery\"><div class=\"strip\"><div class=\"frame\">");
        if let Some(image) = self.image {
            main.raw("<img referrerpolicy=\"no-referrer\" alt=\"").text(self.title);
            main.raw("\" src=\"").text(image).raw("\">");
        }
        main.raw("</div></div></div>\n<div class=\"about\">\n");
        main.raw("<div id=\"product-brand\"><a class=\"link\" dir=\"auto\" href=\"../brands/");
        main.text(self.brand.slug.as_str()).raw("\">").text(&self.brand.name);
        main.raw("</a></div>\n<h1 id=\"product-title\" tabindex=\"-1\" dir=\"auto\">")
            .text(self.title);
        main.raw("</h1>\n<div id=\"product-body\" class=\"stored\">\n");
        if let Some(price) = self.price {
            main.raw("<p class=\"price\"><span class=\"now\">")
                .text(&price.to_string())
                .raw("</span></p>\n");
        }
        if let Some(in_stock) = self.in_stock {
            let stock = if in_stock { "In stock" } else { "Out of stock" };
            main.raw("<p class=\"state\">").raw(stock).raw("</p>\n");
        }
        if let Some(store) = web_address(&self.store) {
            main.raw("<a class=\"buy second\" rel=\"noopener noreferrer\" href=\"")
                .text(store);
            main.raw("\">See it at ").text(&self.brand.name).raw("</a>\n");
        }
        main.raw("<p class=\"small\">Price and stock as last seen. The store’s own page is final.</p>\n");
        description(&mut main, self.description);
        main.raw("</div>\n</div>\n<div class=\"rows\" id=\"product-more\"></div>\n</article>\n</main>");
        main
    }
}

/// Appends a description, with its lists as HTML lists.
fn description(main: &mut Markup, text: &str) {
    if text.is_empty() {
        return;
    }
    main.raw("<section><h2>Description</h2>");
    let mut in_list = false;
    for line in text.lines() {
        let item = line.strip_prefix("• ");
        if item.is_some() != in_list {
            in_list = !in_list;
            main.raw(if in_list { "<ul class=\"text\">" } else { "</ul>" });
        }
        match item {
            Some(item) => main.raw("<li>").text(item).raw("</li>"),
            None => main.raw("<p class=\"text\" dir=\"auto\">").text(line).raw("</p>"),
        };
    }
    main.raw(if in_list { "</ul></section>\n" } else { "</section>\n" });
}

pub(crate) fn missing(title: &str) -> String {
    let mut about = Markup::default();
    about
        .raw("<title>")
        .text(title)
        .raw(" · haat</title>\n<meta name=\"robots\" content=\"noindex\">");
    let mut main = Markup::default();
    main.raw("<main class=\"item\" id=\"content\"><div class=\"message\"><h1>")
        .text(title);
    main.raw("</h1><p>The store may have removed it, or the address is mistyped.</p><a class=\"plain\" href=\"../\">Go to the start page</a></div></main>");
    shell::single(about, main)
}
