use std::collections::HashSet;
use std::io::Read;

use super::*;

#[tokio::test]
async fn listings_are_paged_as_the_platform_does() {
    let (_running, store) = store(300).await;
    let count = async |query: &str| {
        let answer = get(&store, &format!("/products.json{query}")).await;
        assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
        answer.json()["products"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 30);
    assert_eq!(count("?limit=250").await, 250);
    assert_eq!(count("?limit=9999&page=2").await, 50);
    assert_eq!(count("?limit=7&page=43").await, 6);
    assert_eq!(
        get(&store, "/products.json?limit=250&page=3").await.text(),
        "{\"products\":[]}"
    );
    assert_eq!(
        get(&store, "/products.json?limit=250&page=100").await.text(),
        "{\"products\":[]}"
    );
    let capped = get(&store, "/products.json?limit=250&page=101").await;
    assert_eq!(
        (capped.status, capped.text()),
        (400, "Page * Limit exceeds the 25000 limit.".to_owned())
    );
}

#[tokio::test]
async fn a_crawl_sees_every_product_of_every_store_once() {
    let running = market(700, 6).await;
    let mut ids = HashSet::new();
    for store in running.stores() {
        let products = crawl(&store, 50).await;
        assert_eq!(products.len() as u64, store.products);
        ids.extend(products.iter().map(|product| product["id"].as_u64().unwrap()));
    }
    assert_eq!(ids.len(), 700);
}

#[tokio::test]
async fn each_view_of_a_product_has_its_own_types() {
    let (_running, store) = store(60).await;
    let listed = crawl(&store, 250).await;
    let product = listed
        .iter()
        .find(|it| it["variants"].as_array().unwrap().len() > 1 && it["images"][0].is_object());
    let product = product.unwrap();
    let handle = product["handle"].as_str().unwrap();
    let variant = &product["variants"][0];

    let script = get(&store, &format!("/products/{handle}.js")).await;
    assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
    let script = script.json();
    let hundredths = (variant["price"].as_str().unwrap().parse::<f64>().unwrap() * 100.0).round() as u64;
    assert_eq!(script["variants"][0]["price"], hundredths);
    assert_eq!(script["type"], product["product_type"]);
    assert!(script["tags"].is_array() && script.get("product_type").is_none());
    assert!(script["images"][0].as_str().unwrap().starts_with("//127."));
    assert_eq!(script["variants"][0]["available"], variant["available"]);

    let detail = get(&store, &format!("/products/{handle}.json")).await.json()["product"].clone();
    assert!(detail["tags"].is_string());
    assert_eq!(detail["variants"][0]["price"], variant["price"]);
    assert!(detail["variants"][0].get("available").is_none());
    assert_eq!(detail["image"]["src"], product["images"][0]["src"]);
    assert_eq!(detail["options"][0]["product_id"], product["id"]);
}

#[tokio::test]
async fn one_product_in_its_own_views() {
    let (_running, store) = store(40).await;
    let listed = crawl(&store, 250).await;
    let product = listed
        .iter()
        .find(|it| it["variants"].as_array().unwrap().len() == 2)
        .unwrap();
    let handle = product["handle"].as_str().unwrap();
    let settled = |text: String| text.replace(&store.domain, "STORE");
    insta::assert_snapshot!(settled(get(&store, &format!("/products/{handle}.js")).await.text()), @r#"{"id":6196290540730,"title":"Aria Classic Cold Brew Bags","handle":"aria-classic-cold-brew-bags-5","description":"\u003cp\u003eWillow Beans began with one idea: do less, but do it well. Cold Brew Bags, made that way – nothing more.\u003c\/p\u003e\n\u003cul data-mce-fragment=\"1\"\u003e\n\u003cli\u003e100% Arabica, single estate\u003c\/li\u003e\n\u003cli\u003eRoasted to order, shipped within 24 hours of roasting\u003c\/li\u003e\n\u003cli\u003eAltitude: 1,100–1,400 m above sea level\u003c\/li\u003e\n\u003c\/ul\u003e\n\u003cp\u003e\u003cem\u003eShips in 2–4 working days. Cash on delivery available.\u003c\/em\u003e\u003c\/p\u003e","published_at":"2025-12-20T15:45:55+05:30","created_at":"2025-12-20T15:40:44+05:30","vendor":"Willow Beans","type":"Cold Brew","tags":["Cold Brew","Classic","gifting","handmade","wh_BLR","bestseller"],"price":64900,"price_min":64900,"price_max":113600,"available":true,"price_varies":true,"compare_at_price":null,"compare_at_price_min":0,"compare_at_price_max":0,"compare_at_price_varies":false,"variants":[{"id":52718735359530,"title":"Pack of 2","option1":"Pack of 2","option2":null,"option3":null,"sku":"WIL-540730-1","requires_shipping":true,"taxable":true,"featured_image":null,"available":false,"name":"Aria Classic Cold Brew Bags - Pack of 2","public_title":"Pack of 2","options":["Pack of 2"],"price":64900,"weight":1700,"compare_at_price":null,"inventory_management":"shopify","barcode":"","quantity_rule":{"min":1,"max":null,"increment":1},"quantity_price_breaks":[],"requires_selling_plan":false,"selling_plan_allocations":[]},{"id":63462920289989,"title":"Pack of 4","option1":"Pack of 4","option2":null,"option3":null,"sku":"WIL-540730-2","requires_shipping":true,"taxable":true,"featured_image":null,"available":true,"name":"Aria Classic Cold Brew Bags - Pack of 4","public_title":"Pack of 4","options":["Pack of 4"],"price":113600,"weight":1700,"compare_at_price":null,"inventory_management":"shopify","barcode":"","quantity_rule":{"min":1,"max":null,"increment":1},"quantity_price_breaks":[],"requires_selling_plan":false,"selling_plan_allocations":[]}],"images":["\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_2.svg?v=1766245304"],"featured_image":"\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","options":[{"name":"Pack","position":1,"values":["Pack of 2","Pack of 4"]}],"url":"\/products\/aria-classic-cold-brew-bags-5","media":[{"alt":null,"id":28407412824349,"position":1,"preview_image":{"aspect_ratio":1.0,"height":1200,"width":1200,"src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304"},"aspect_ratio":1.0,"height":1200,"media_type":"image","src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","width":1200},{"alt":null,"id":23223638262445,"position":2,"preview_image":{"aspect_ratio":1.0,"height":1200,"width":1200,"src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_2.svg?v=1766245304"},"aspect_ratio":1.0,"height":1200,"media_type":"image","src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_2.svg?v=1766245304","width":1200}],"requires_selling_plan":false,"selling_plan_groups":[]}"#);
    insta::assert_snapshot!(settled(get(&store, &format!("/products/{handle}.json")).await.text()), @r#"{"product":{"id":6196290540730,"title":"Aria Classic Cold Brew Bags","body_html":"\u003cp\u003eWillow Beans began with one idea: do less, but do it well. Cold Brew Bags, made that way – nothing more.\u003c\/p\u003e\n\u003cul data-mce-fragment=\"1\"\u003e\n\u003cli\u003e100% Arabica, single estate\u003c\/li\u003e\n\u003cli\u003eRoasted to order, shipped within 24 hours of roasting\u003c\/li\u003e\n\u003cli\u003eAltitude: 1,100–1,400 m above sea level\u003c\/li\u003e\n\u003c\/ul\u003e\n\u003cp\u003e\u003cem\u003eShips in 2–4 working days. Cash on delivery available.\u003c\/em\u003e\u003c\/p\u003e","vendor":"Willow Beans","product_type":"Cold Brew","created_at":"2025-12-20T15:40:44+05:30","handle":"aria-classic-cold-brew-bags-5","updated_at":"2026-08-31T17:19:46+05:30","published_at":"2025-12-20T15:45:55+05:30","template_suffix":"","published_scope":"global","tags":"Cold Brew, Classic, gifting, handmade, wh_BLR, bestseller","variants":[{"id":52718735359530,"product_id":6196290540730,"title":"Pack of 2","price":"649.00","sku":"WIL-540730-1","position":1,"compare_at_price":"","fulfillment_service":"manual","inventory_management":"shopify","option1":"Pack of 2","option2":null,"option3":null,"created_at":"2025-12-20T15:40:44+05:30","updated_at":"2026-08-31T17:19:46+05:30","taxable":true,"barcode":"","grams":1700,"image_id":null,"weight":1.7,"weight_unit":"kg","requires_shipping":true,"price_currency":"INR","compare_at_price_currency":""},{"id":63462920289989,"product_id":6196290540730,"title":"Pack of 4","price":"1136.00","sku":"WIL-540730-2","position":2,"compare_at_price":"","fulfillment_service":"manual","inventory_management":"shopify","option1":"Pack of 4","option2":null,"option3":null,"created_at":"2025-12-20T15:40:44+05:30","updated_at":"2026-08-31T17:19:46+05:30","taxable":true,"barcode":"","grams":1700,"image_id":null,"weight":1.7,"weight_unit":"kg","requires_shipping":true,"price_currency":"INR","compare_at_price_currency":""}],"options":[{"id":9000871622191,"product_id":6196290540730,"name":"Pack","position":1,"values":["Pack of 2","Pack of 4"]}],"images":[{"id":28407412824342,"product_id":6196290540730,"position":1,"created_at":"2025-12-20T15:41:44+05:30","updated_at":"2025-12-20T15:41:46+05:30","alt":null,"width":1200,"height":1200,"src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","variant_ids":[]},{"id":23223638262438,"product_id":6196290540730,"position":2,"created_at":"2025-12-20T15:41:44+05:30","updated_at":"2025-12-20T15:41:46+05:30","alt":null,"width":1200,"height":1200,"src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_2.svg?v=1766245304","variant_ids":[]}],"image":{"id":28407412824342,"product_id":6196290540730,"position":1,"created_at":"2025-12-20T15:41:44+05:30","updated_at":"2025-12-20T15:41:46+05:30","alt":null,"width":1200,"height":1200,"src":"http:\/\/STORE\/cdn\/shop\/files\/aria-classic-cold-brew-bags-5_1.svg?v=1766245304","variant_ids":[]}}}"#);
    insta::assert_snapshot!(settled(get(&store, "/meta.json").await.text()), @r#"{"id":76458276496,"name":"Willow Beans","city":"New Delhi","province":"Delhi","country":"IN","currency":"INR","domain":"STORE","url":"http:\/\/STORE","myshopify_domain":"willow-beans.myshopify.com","description":"Willow Beans from New Delhi: Coffee, Cold Brew, Instant Coffee \u0026 more.","ships_to_countries":["IN"],"money_format":"Rs. {{amount}}","published_collections_count":5,"published_products_count":40,"shopify_pay_enabled_card_brands":[],"offers_shop_pay_installments":false}"#);
}

#[tokio::test]
async fn product_pages_carry_structured_data() {
    let running = market(400, 8).await;
    let (mut rated, mut plain) = (0, 0);
    for store in running.stores() {
        let products = get(&store, "/products.json?limit=6").await.json();
        for product in products["products"].as_array().unwrap() {
            let page = get(&store, &format!("/products/{}", product["handle"].as_str().unwrap())).await;
            assert_eq!(
                (page.status, page.header("content-type")),
                (200, "text/html; charset=utf-8")
            );
            let text = page.text();
            let blocks: Vec<Value> = text
                .split("<script type=\"application/ld+json\">")
                .skip(1)
                .map(|rest| serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap())
                .collect();
            assert!(!blocks.is_empty());
            let all = Value::Array(blocks).to_string();
            if all.contains("aggregateRating") {
                rated += 1;
                assert!(all.contains("reviewBody"));
            } else {
                plain += 1;
            }
        }
    }
    assert!(rated > 8 && plain > 8, "{rated} rated, {plain} plain");
}

#[tokio::test]
async fn unchanged_answers_cost_no_body() {
    let (running, store) = store(40).await;
    for path in [
        "/products.json?limit=10&page=2",
        "/meta.json",
        "/robots.txt",
        "/collections.json",
        "/sitemap.xml",
    ] {
        let first = get(&store, path).await;
        let etag = first.header("etag").to_owned();
        assert!(etag.starts_with("\"cacheable:"), "{path}: {etag}");
        let again = get_with(&store, path, &[("if-none-match", &etag)]).await;
        assert_eq!(
            (again.status, again.body.len(), again.header("etag")),
            (304, 0, etag.as_str()),
            "{path}"
        );
        let other = get_with(&store, path, &[("if-none-match", "\"other\"")]).await;
        assert_eq!(other.status, 200, "{path}");
    }
    let requests = running.requests(&store.slug).unwrap();
    assert_eq!((requests.count_of("/meta.json"), requests.answered(304)), (3, 5));
    assert!(requests.latest[0].if_none_match.is_none() && requests.latest[1].if_none_match.is_some());
}

#[tokio::test]
async fn bodies_are_packed_as_asked() {
    let (_running, store) = store(40).await;
    let plain = get(&store, "/products.json").await;
    assert_eq!(plain.header("content-encoding"), "");
    let packed = get_with(&store, "/products.json", &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("etag"), format!("W/{}", plain.header("etag")));
    assert_eq!(packed.header("content-length"), packed.body.len().to_string());
    let mut body = Vec::new();
    flate2::read::GzDecoder::new(packed.body.as_slice())
        .read_to_end(&mut body)
        .unwrap();
    assert!(body == plain.body && packed.body.len() * 3 < body.len());
    let packed = get_with(&store, "/products.json", &[("accept-encoding", "br")]).await;
    assert_eq!(packed.header("content-encoding"), "br");
    let mut body = Vec::new();
    brotli::BrotliDecompress(&mut packed.body.as_slice(), &mut body).unwrap();
    assert!(body == plain.body);
    let weak = format!("W/{}", plain.header("etag"));
    assert_eq!(
        get_with(&store, "/products.json", &[("if-none-match", &weak)])
            .await
            .status,
        304
    );
}

#[tokio::test]
async fn answers_are_identified_and_cached_as_measured() {
    let (_running, store) = store(3).await;
    let listing = get(&store, "/products.json").await;
    assert_eq!(listing.header("powered-by"), "Shopify");
    assert_eq!(listing.header("x-storefront-renderer-rendered"), "1");
    assert_eq!(listing.header("cache-control"), "private, max-age=0, must-revalidate");
    assert_eq!(
        listing.header("x-shopid"),
        get(&store, "/meta.json").await.json()["id"].to_string()
    );
    let missing = get(&store, "/products/no-such-product.js").await;
    assert_eq!(
        (missing.status, missing.header("content-type")),
        (404, "text/html; charset=utf-8")
    );
    assert_eq!(missing.header("cache-control"), "private, no-store");
    let head = client()
        .head(format!("{}/products.json", store.base_url))
        .send()
        .await
        .unwrap();
    assert_eq!(head.headers()["content-length"], listing.body.len().to_string());
    let post = client()
        .post(format!("{}/products.json", store.base_url))
        .send()
        .await
        .unwrap();
    assert_eq!(post.status(), 404);
}

#[tokio::test]
async fn robots_sitemaps_and_collections_lead_to_every_product() {
    let (_running, store) = store(120).await;
    let robots = get(&store, "/robots.txt").await.text();
    assert!(robots.starts_with("# we use Shopify as our ecommerce platform\n"));
    for line in [
        "Disallow: /policies/",
        "Disallow: /cart",
        "Disallow: /search",
        "Crawl-delay: 10",
    ] {
        assert!(robots.contains(line), "{line}");
    }
    assert!(!robots.contains("products.json"));
    let sitemap = format!("{}/sitemap.xml", store.base_url);
    assert!(robots.contains(&format!("Sitemap: {sitemap}\n")));
    let index = get(&store, "/sitemap.xml").await.text();
    assert!(index.contains("/sitemap_products_1.xml?from=1&amp;to=120</loc>"));
    let urls = get(&store, "/sitemap_products_1.xml?from=1&to=120").await.text();
    assert_eq!(urls.matches("<lastmod>").count(), 120);
    assert_eq!(get(&store, "/sitemap_products_2.xml").await.status, 404);

    let collections = get(&store, "/collections.json?limit=250").await.json();
    let collections = collections["collections"].as_array().unwrap();
    let mut ids = HashSet::new();
    for collection in collections {
        let handle = collection["handle"].as_str().unwrap();
        let listed = get(&store, &format!("/collections/{handle}/products.json?limit=250"))
            .await
            .json();
        let listed = listed["products"].as_array().unwrap();
        assert_eq!(collection["products_count"], listed.len());
        ids.extend(listed.iter().map(|product| product["id"].as_u64().unwrap()));
        assert_eq!(
            get(&store, &format!("/collections/{handle}.json")).await.json()["collection"],
            *collection
        );
    }
    assert_eq!(ids.len(), 120);
    assert_eq!(
        get(&store, "/collections/all/products.json?limit=250").await.json()["products"]
            .as_array()
            .unwrap()
            .len(),
        120
    );
    assert_eq!(get(&store, "/collections/none/products.json").await.status, 404);
}

#[tokio::test]
async fn every_picture_is_there() {
    let (_running, store) = store(12).await;
    for product in crawl(&store, 250).await {
        for image in product["images"].as_array().unwrap() {
            let path = image["src"].as_str().unwrap().strip_prefix(&store.base_url).unwrap();
            let picture = get(&store, path).await;
            assert_eq!((picture.status, picture.header("content-type")), (200, "image/svg+xml"));
            assert_eq!(picture.header("cache-control"), "public, max-age=31557600");
        }
    }
}

#[tokio::test]
async fn some_stores_publish_a_shipping_policy() {
    let running = market(60, 30).await;
    let mut published = 0;
    for store in running.stores() {
        let page = get(&store, "/policies/shipping-policy").await;
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        published += usize::from(page.status == 200 && page.text().contains("shopify-policy__body"));
    }
    assert!((10..30).contains(&published), "{published}");
}
