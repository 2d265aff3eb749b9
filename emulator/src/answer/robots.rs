use crate::reply::Reply;
use crate::shop::Shop;

/// Paths that the platform's default robots.txt disallows for every crawler.
const DISALLOWED: &[&str] = &[
    "/a/downloads/-/*",
    "/admin",
    "/cart",
    "/carts",
    "/orders",
    "/checkouts/",
    "/checkout",
    "/{shop}/checkouts",
    "/{shop}/orders",
    "/account",
    "/collections/*sort_by*",
    "/*/collections/*sort_by*",
    "/collections/*+*",
    "/collections/*%2B*",
    "/collections/*%2b*",
    "/*/collections/*+*",
    "/*/collections/*%2B*",
    "/*/collections/*%2b*",
    "/*/collections/*filter*&*filter*",
    "/blogs/*+*",
    "/blogs/*%2B*",
    "/blogs/*%2b*",
    "/*/blogs/*+*",
    "/*?*oseid=*",
    "/*preview_theme_id*",
    "/*preview_script_id*",
    "/policies/",
    "/*/policies/",
    "/*/*?*ls=*&ls=*",
    "/*/*?*ls%3D*%3Fls%3D*",
    "/search",
    "/recommendations/products",
    "/*/recommendations/products",
    "/apple-app-site-association",
    "/.well-known/shopify/monorail",
    "/cdn/wpm/*.js",
];

pub(crate) fn robots(shop: &Shop) -> Reply {
    Reply::text(200, rules(shop, &[])).validated()
}

/// Returns the robots.txt of a merchant who disallows reading the catalogue.
pub(crate) fn forbidding(shop: &Shop) -> Reply {
    Reply::text(200, rules(shop, &["/products.json", "/*.json", "/collections/"])).validated()
}

fn rules(shop: &Shop, further: &[&str]) -> String {
    let shop_id = shop.catalogue.persona().shop_id().to_string();
    let mut out = String::from(
        "# we use Shopify as our ecommerce platform\n#\n# Checkouts are for humans. Automated scraping, \"buy-for-me\" \
         agents or any flow that\n# completes payment without a final human review is not permitted.\n\n\
         User-agent: *\n",
    );
    let everyone: String = DISALLOWED
        .iter()
        .chain(further)
        .map(|rule| format!("Disallow: {}\n", rule.replace("{shop}", &shop_id)))
        .collect();
    let sitemap = format!("Sitemap: {}/sitemap.xml\n", shop.address.base_url);
    out.push_str(&everyone);
    out.push_str(&sitemap);
    out.push_str("\n# Google adsbot ignores robots.txt unless specifically named!\nUser-agent: adsbot-google\n");
    out.push_str("Disallow: /checkouts/\nDisallow: /checkout\nDisallow: /carts\nDisallow: /orders\n");
    out.push_str("\nUser-agent: Nutch\nDisallow: /\n");
    for slow in ["AhrefsBot", "AhrefsSiteAudit", "MJ12bot"] {
        out.push_str(&format!("\nUser-agent: {slow}\nCrawl-delay: 10\n{everyone}{sitemap}"));
    }
    out.push_str("\nUser-agent: Pinterest\nCrawl-delay: 1\n");
    out
}
