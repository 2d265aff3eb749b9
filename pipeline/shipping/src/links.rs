//! Finds links on a front page that lead to shipping terms. The module does no I/O.

use pipeline_parse::PageLink;
use url::Url;

/// Words in a URL or link text, most promising first: words for delivery, for questions and payment, for returns.
const WORDS: [&[&str]; 3] = [
    &[
        "shipping",
        "shipment",
        "delivery",
        "deliveries",
        "versand",
        "liefer",
        "livraison",
        "expedition",
        "envio",
        "entrega",
    ],
    &[
        "faq",
        "faqs",
        "cod",
        "cash",
        "help",
        "questions",
        "hilfe",
        "aide",
        "ayuda",
    ],
    &["returns", "return", "refund", "exchange", "retour", "devolucion"],
];
/// Minimum length in bytes of a word that also matches as a prefix of a longer word.
const STEM_BYTES: usize = 5;
const PAGES_MAX: usize = 3;

/// Returns URL paths on the page's host that may state terms, most promising first: pages written by the merchant, then
/// the first product. The paths have no query.
pub(crate) fn promising(links: &[PageLink], page: &Url) -> Vec<String> {
    let mut pages: Vec<RankedPath> = Vec::new();
    let mut product = None;
    for link in links {
        let Some(url) = page.join(&link.href).ok().filter(|url| url.host() == page.host()) else {
            continue;
        };
        let path = url.path();
        if is_product(path) {
            product.get_or_insert_with(|| path.to_owned());
        }
        let is_text = path.contains("/pages/") || path.contains("/policies/");
        let rank = rank(&format!("{path} {}", link.text));
        if let Some(rank) = rank.filter(|_| is_text && pages.iter().all(|known| known.path != path)) {
            let path = path.to_owned();
            pages.push(RankedPath { rank, path });
        }
    }
    pages.sort_by_key(|page| page.rank);
    pages.truncate(PAGES_MAX);
    pages.into_iter().map(|page| page.path).chain(product).collect()
}

pub(crate) fn is_product(path: &str) -> bool {
    path.contains("/products/")
}

/// Path with its rank. A lower rank is more promising.
#[derive(Debug)]
struct RankedPath {
    rank: usize,
    path: String,
}

fn rank(text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|char: char| !char.is_alphanumeric()).collect();
    let meets = |wanted: &&str| {
        let is_stem = |word: &&&str| wanted.len() >= STEM_BYTES && word.starts_with(*wanted);
        words.iter().any(|word| word == wanted || is_stem(&word))
    };
    WORDS.iter().position(|wanted| wanted.iter().any(&meets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(href: &str, text: &str) -> PageLink {
        PageLink {
            href: href.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn pages_that_speak_of_delivery_come_first_each_once_and_a_product_last() {
        let links = [
            link("/products/tea", "Shipping tea"),
            link("/pages/returns", "Returns"),
            link("/pages/about", "About"),
            link("/pages/faq?x=1", "F.A.Q."),
            link("https://other.example/pages/shipping", "Shipping"),
            link("/de/pages/versandkosten#a", "Kosten"),
            link("/pages/info", "Delivery & payment"),
            link("/pages/info", "Delivery again"),
            link("/pages/barcodes", "Discount codes"),
        ];
        let page = "https://shop.example/".parse().unwrap();
        let expected = ["/de/pages/versandkosten", "/pages/info", "/pages/faq", "/products/tea"];
        assert_eq!(promising(&links, &page), expected);
    }
}
