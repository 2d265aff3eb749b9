use crate::ask::Ask;
use crate::generated::push_html;
use crate::reply::Reply;
use crate::shop::Shop;

/// Maximum number of URLs in one product sitemap.
const PRODUCTS_MAX: u64 = 5_000;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// Handles `/sitemap.xml`, the index of the store's sitemaps.
pub(crate) fn index(shop: &Shop) -> Reply {
    let base = &shop.address.base_url;
    let mut out = format!("{HEAD}<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    let count = shop.catalogue.places(shop.epoch()).len();
    for nth in 0..count.div_ceil(PRODUCTS_MAX) {
        let (from, to) = (nth * PRODUCTS_MAX + 1, ((nth + 1) * PRODUCTS_MAX).min(count));
        out.push_str(&format!(
            "  <sitemap><loc>{base}/sitemap_products_{}.xml?from={from}&amp;to={to}</loc></sitemap>\n",
            nth + 1
        ));
    }
    out.push_str(&format!("  <sitemap><loc>{base}/sitemap_pages_1.xml</loc></sitemap>\n"));
    out.push_str(&format!(
        "  <sitemap><loc>{base}/sitemap_collections_1.xml</loc></sitemap>\n</sitemapindex>\n"
    ));
    Reply::xml(out).validated()
}

pub(crate) fn sitemap(shop: &Shop, ask: &Ask) -> Option<Reply> {
    let name = ask.path.strip_prefix("/sitemap_")?.strip_suffix(".xml")?;
    let urls = match name.rsplit_once('_')? {
        ("products", nth) => products(shop, nth.parse::<u64>().ok()?.checked_sub(1)?)?,
        ("pages", "1") => url(
            &format!("{}/pages/shipping-policy", shop.address.base_url),
            "weekly",
            "",
        ),
        ("collections", "1") => {
            let address = |handle: &str| format!("{}/collections/{handle}", shop.address.base_url);
            let shelves = shop.catalogue.shelves(shop.epoch());
            shelves
                .iter()
                .map(|shelf| url(&address(&shelf.handle), "daily", ""))
                .collect()
        }
        _ => return None,
    };
    let open = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
                xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">\n";
    Some(Reply::xml(format!("{HEAD}{open}{urls}</urlset>\n")).validated())
}

fn products(shop: &Shop, nth: u64) -> Option<String> {
    let places = shop.catalogue.places(shop.epoch());
    let first = nth.checked_mul(PRODUCTS_MAX).filter(|first| *first < places.len())?;
    let mut out = String::new();
    for place in (first..first.saturating_add(PRODUCTS_MAX)).map_while(|nth| places.get(nth)) {
        let Some(product) = shop.product(place) else {
            continue;
        };
        let mut more = String::new();
        if let Some(updated_at) = &product.updated_at {
            more.push_str(&format!("<lastmod>{updated_at}</lastmod>"));
        }
        if let Some(image) = product.images.first() {
            more.push_str("<image:image><image:loc>");
            push_html(&mut more, &image.src);
            more.push_str("</image:loc><image:title>");
            push_html(&mut more, &product.title);
            more.push_str("</image:title></image:image>");
        }
        out.push_str(&url(
            &format!("{}/products/{}", shop.address.base_url, product.handle),
            "daily",
            &more,
        ));
    }
    Some(out)
}

fn url(address: &str, changes: &str, more: &str) -> String {
    let mut loc = String::new();
    push_html(&mut loc, address);
    format!("  <url><loc>{loc}</loc><changefreq>{changes}</changefreq>{more}</url>\n")
}
