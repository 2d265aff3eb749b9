use data_index::FacetClause;
use data_model::{Classify, ErrorCode, ProductIdent};
use proptest::prelude::*;
use query_server::operations::{
    Answer, BrandKey, BrandProductsRequest, BrandRequest, BrandsRequest, BrowseOf, BrowseRequest, ChangesRequest,
    FacetFilter, Filters, Include, Limit, OffersRequest, OperationError, ParsedName, PriceBounds, PriceHistoryRequest,
    ProductRequest, RecommendRequest, ReviewsRequest, SearchLimit, SearchRequest, ShippingRequest, SuggestRequest,
    Text,
};
use query_server::schema::{BrowseAnswer, SearchAnswer};
use query_server::{Intent, Order, QueryServer};

use crate::catalogue::small;
use crate::support::Market;

async fn ident(market: &Market, title: &str) -> ProductIdent {
    let found: SearchAnswer<'static> = market
        .get(&format!("/v1/search?mode=lexical&q={}", title.replace(' ', "+")))
        .await
        .read();
    let card = found.data.into_iter().find(|card| card.title == title).unwrap();
    ProductIdent::Id(card.id)
}

fn searched(text: &str) -> SearchRequest {
    SearchRequest {
        text: Text::new(text).unwrap(),
        ..SearchRequest::default()
    }
}

fn browsed(category: &str) -> BrowseRequest {
    BrowseRequest::first(BrowseOf::Category(ParsedName::category(category)))
}

/// Returns a search that uses nearly all parameters, as a path and as a request.
fn narrow_search() -> (String, SearchRequest) {
    let request = SearchRequest {
        filters: Filters {
            price: PriceBounds::new(Some(10_000), Some(200_000)).unwrap(),
            in_stock: true,
            ..Filters::default()
        },
        brand: Some(ParsedName::brand("blue-tokai")),
        order: Order::PriceAscending,
        limit: SearchLimit::new(5).unwrap(),
        facet_counts: true,
        ..searched("coffee")
    };
    let parameters = "limit=5&sort=price_asc&facet_counts=1&brand=blue-tokai&q=coffee&in_stock=yes&price_max=200000";
    (format!("/v1/search?{parameters}&price_min=10000"), request)
}

/// Returns a request for a list with facets, as a path and as a request.
fn narrow_grid() -> (String, BrowseRequest) {
    let facets = vec![FacetClause {
        name: "color".to_owned(),
        values: vec!["navy".to_owned(), "white".to_owned()],
    }];
    let request = BrowseRequest {
        filters: Filters {
            facets: FacetFilter::new(facets).unwrap(),
            ..Filters::default()
        },
        limit: Limit::new(2).unwrap(),
        ..browsed("apparel-accessories")
    };
    let facets = "%7B%22color%22%3A%5B%22navy%22%2C%22white%22%5D%7D";
    let path = format!("/v1/browse?facets={facets}&limit=2&category=apparel-accessories");
    (path, request)
}

/// Calls every operation for `product`. Returns each answer with the path of the equivalent HTTP request.
async fn asked(server: &QueryServer, product: ProductIdent) -> Vec<(String, Result<Answer, OperationError>)> {
    let (search_path, search) = narrow_search();
    let (browse_path, browse) = narrow_grid();
    let suggest = SuggestRequest {
        text: Text::new("cof").unwrap(),
        ..SuggestRequest::default()
    };
    let recommend = RecommendRequest {
        intent: Intent::SameBrand,
        ..RecommendRequest::of(product)
    };
    let include = Include {
        offers: true,
        ..Include::NONE
    };
    let shipping = ShippingRequest {
        product,
        pincode: "560001".parse().unwrap(),
    };
    let brand = BrandRequest {
        brand: ParsedName::brand("blue-tokai"),
    };
    let changes = ChangesRequest::since("2026-01-01T00:00:00Z".parse().unwrap());
    let own = BrandProductsRequest::first("blue-tokai".parse().unwrap());
    vec![
        (search_path, server.search(search).await),
        ("/v1/suggest?q=cof".to_owned(), server.suggest(suggest).await),
        (
            format!("/v1/recommend?intent=same_brand&product_id={product}"),
            server.recommend(recommend).await,
        ),
        (browse_path, server.browse(browse).await),
        (
            "/v1/brands/blue-tokai/products".to_owned(),
            server.brand_products(own).await,
        ),
        ("/v1/brands".to_owned(), server.brands(&BrandsRequest::default())),
        ("/v1/brands/blue-tokai".to_owned(), server.brand(&brand)),
        (
            "/v1/changes?since=2026-01-01T00:00:00Z".to_owned(),
            server.changes(changes).await,
        ),
        ("/v1/categories".to_owned(), server.categories()),
        ("/v1/stats".to_owned(), server.stats()),
        (
            format!("/v1/products/{product}?include=offers"),
            server.product(&ProductRequest {
                product,
                include,
                pincode: None,
            }),
        ),
        (
            format!("/v1/products/{product}/reviews"),
            server.reviews(&ReviewsRequest::first(product)),
        ),
        (
            format!("/v1/products/{product}/price-history"),
            server.price_history(&PriceHistoryRequest::first(product)),
        ),
        (
            format!("/v1/products/{product}/offers"),
            server.offers(&OffersRequest::of(product)),
        ),
        (
            format!("/v1/shipping?product={product}&pincode=560001"),
            server.shipping(&shipping),
        ),
    ]
}

#[tokio::test]
async fn a_route_answers_what_its_operation_answers_with_the_same_tag() {
    let market = Market::of(&small()).await;
    let product = ident(&market, "Vienna Roast Coffee").await;
    for (path, answer) in asked(&market.server, product).await {
        let (routed, answer) = (market.get(&path).await, answer.unwrap());
        assert_eq!(routed.body, answer.as_json(), "{path}");
        assert_eq!(routed.headers["etag"], answer.tag().header(), "{path}");
        let whole = routed.json();
        assert!(
            !whole["data"].is_null() && whole["provenance"]["release"].is_string(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn before_a_release_is_open_every_operation_says_so() {
    let market = Market::empty();
    let nobody = "00000000-0000-5000-8000-000000000000".parse().unwrap();
    for (path, answer) in asked(&market.server, nobody).await {
        assert_eq!(answer.unwrap_err(), OperationError::NotReady, "{path}");
        assert_eq!(market.get(&path).await.status, 503, "{path}");
    }
    assert_eq!(market.server.resolve(&[nobody]), Err(OperationError::NotReady));
    let key = BrandKey::Domain("tea.example".to_owned());
    assert_eq!(market.server.stored_brand(&key), Err(OperationError::NotReady));
}

#[tokio::test]
async fn what_there_is_not_is_an_error_with_its_code() {
    let market = Market::of(&small()).await;
    let server = &market.server;
    let nobody: ProductIdent = "00000000-0000-5000-8000-000000000000".parse().unwrap();
    let like = SearchRequest {
        similar_to: Some(nobody),
        ..SearchRequest::default()
    };
    let no_brand = BrandRequest {
        brand: ParsedName::brand("NO SLUG"),
    };
    let both = BrowseOf::BrandCategory(
        ParsedName::brand("no-such"),
        ParsedName::category("apparel-accessories"),
    );
    let no_category = BrandsRequest {
        category: Some(ParsedName::category("no-such")),
        ..BrandsRequest::default()
    };
    let told = [
        server.search(like).await.unwrap_err(),
        server.recommend(RecommendRequest::of(nobody)).await.unwrap_err(),
        server.reviews(&ReviewsRequest::first(nobody)).unwrap_err(),
        server.brand(&no_brand).unwrap_err(),
        server.browse(BrowseRequest::first(both)).await.unwrap_err(),
        server.browse(browsed("no-such")).await.unwrap_err(),
        server.brands(&no_category).unwrap_err(),
    ];
    let codes: Vec<_> = told.iter().map(Classify::code).collect();
    use ErrorCode::{BrandNotFound, CategoryNotFound, ProductNotFound};
    assert_eq!(
        codes,
        [
            ProductNotFound,
            ProductNotFound,
            ProductNotFound,
            BrandNotFound,
            BrandNotFound,
            CategoryNotFound,
            CategoryNotFound
        ]
    );
    // A search for an unknown brand finds nothing, which is no error.
    let nothing = SearchRequest {
        brand: Some(ParsedName::brand("no-such")),
        ..searched("coffee")
    };
    let nothing = server.search(nothing).await.unwrap().as_json();
    assert!(nothing.starts_with(b"{\"data\":[],"), "{nothing:?}");
}

#[tokio::test]
async fn a_cursor_leads_on_in_its_own_list_and_in_no_other() {
    let market = Market::of(&small()).await;
    let server = &market.server;
    let page = |cursor| BrowseRequest {
        limit: Limit::new(2).unwrap(),
        cursor,
        ..BrowseRequest::first(BrowseOf::Brand(ParsedName::brand("blue-tokai")))
    };
    let mut titles = Vec::new();
    let mut cursor = None;
    loop {
        let answer = server.browse(page(cursor)).await.unwrap();
        let read: BrowseAnswer<'static> = serde_json::from_slice(&answer.as_json()).unwrap();
        titles.extend(read.data.items.into_iter().map(|card| card.title));
        let Some(next) = read.data.next_cursor else { break };
        cursor = Some(server.cursor(&next).unwrap());
    }
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), 4);
    let first = server.browse(page(None)).await.unwrap();
    let read: BrowseAnswer<'static> = serde_json::from_slice(&first.as_json()).unwrap();
    let text = read.data.next_cursor.unwrap();
    let elsewhere = BrandsRequest {
        cursor: server.cursor(&text),
        ..BrandsRequest::default()
    };
    let refused = server.brands(&elsewhere).unwrap_err();
    assert_eq!(refused, OperationError::ForeignCursor { cursor: text.into() });
    assert_eq!(refused.code(), ErrorCode::Validation);
    assert_eq!(server.cursor("made up"), None);
}

#[tokio::test]
async fn requests_that_ask_for_the_same_in_other_words_share_their_tag() {
    let market = Market::of(&small()).await;
    let tag = async |path: &str| market.get(path).await.headers["etag"].clone();
    for [one, other] in [
        [
            "/v1/search?q=coffee",
            "/v1/search?limit=20&sort=relevance&q=tea&q=c%6Fffee&unknown=1",
        ],
        ["/v1/brands", "/v1/brands?limit=50&q="],
        ["/v1/browse?brand=blue-tokai", "/v1/brands/blue-tokai/products"],
        [
            "/v1/browse?category=apparel-accessories",
            "/v1/browse?category=166&limit=24",
        ],
    ] {
        assert_eq!(tag(one).await, tag(other).await, "{one} {other}");
    }
    for [one, other] in [
        ["/v1/search?q=coffee", "/v1/search?q=coffees"],
        ["/v1/search?q=coffee", "/v1/search?q=coffee&mode=lexical"],
        ["/v1/search?q=coffee", "/v1/search?q=coffee&explain=1"],
        ["/v1/search?q=coffee", "/v1/search?q=coffee&brand=blue-tokai"],
        ["/v1/search?q=coffee&price_min=1", "/v1/search?q=coffee&price_max=1"],
        ["/v1/suggest?q=coffee", "/v1/search?q=coffee"],
        ["/v1/brands", "/v1/brands?limit=49"],
    ] {
        assert_ne!(tag(one).await, tag(other).await, "{one} {other}");
    }
}

#[test]
fn a_request_cannot_hold_a_wrong_value() {
    assert_eq!(Text::<512>::new("é".repeat(513)), None);
    assert_eq!(Text::<512>::new("é".repeat(512)).unwrap().as_str().len(), 1024);
    assert_eq!(BrowseOf::new(None, None), None);
    assert_eq!(ParsedName::brand("NO SLUG"), ParsedName::Nothing);
    assert_eq!(ParsedName::category("166"), ParsedName::category("apparel-accessories"));
    let clause = |values: usize| FacetClause {
        name: "size".to_owned(),
        values: vec!["M".to_owned(); values],
    };
    assert!(FacetFilter::new(vec![clause(50); 20]).is_some());
    assert_eq!(FacetFilter::new(vec![clause(1); 21]), None);
    assert_eq!(FacetFilter::new(vec![clause(51)]), None);
    assert_eq!(Include::default(), Include::ALL);
}

proptest! {
    #[test]
    fn numbers_of_a_request_are_within_their_bounds(wanted in prop_oneof![-5_i64..70, any::<i64>()], other in any::<i64>()) {
        let limit = Limit::<24, 60>::new(wanted);
        prop_assert_eq!(limit.map(|limit| limit.get() as i64), (1..=60).contains(&wanted).then_some(wanted));
        let limit = SearchLimit::new(wanted);
        prop_assert_eq!(limit.map(|limit| limit.get() as i64), (1..=40).contains(&wanted).then_some(wanted));
        let price = |minor: i64| (-PriceBounds::MINOR_MAX..=PriceBounds::MINOR_MAX).contains(&minor);
        let bounds = PriceBounds::new(Some(wanted), Some(other));
        prop_assert_eq!(bounds.is_some(), wanted <= other && price(wanted) && price(other));
        prop_assert_eq!(PriceBounds::new(None, Some(other)).is_some(), price(other));
    }
}

/// Returns the source code of a module's files up to `#[cfg(test)]`.
fn sources(module: &str) -> Vec<(String, String)> {
    let mut folders = vec![
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(module),
    ];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
            sources.push((path.display().to_string(), code));
        }
    }
    sources
}

#[test]
fn routes_look_into_no_release_and_operations_know_no_http() {
    let release = [
        "crate::served",
        "crate::render",
        ".served()",
        "at_once",
        "taxonomy::",
        "EntityTag::",
    ];
    let http = ["axum", "http::", "HeaderMap", "Problem", "Uri", "QueryReader", "utoipa"];
    for (module, words) in [("routes", release.as_slice()), ("operations", http.as_slice())] {
        let sources = sources(module);
        assert!(sources.len() > 12, "{module}");
        for (path, code) in sources {
            let found: Vec<_> = words.iter().filter(|word| code.contains(**word)).collect();
            assert!(found.is_empty(), "{path} names {found:?}");
        }
    }
}
