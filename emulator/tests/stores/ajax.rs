//! Tests of the Ajax cart, called like a theme on the store's own pages.

use emulator::{DiscountRule, DiscountValue};
use serde_json::json;

use super::baskets::{discount, line, read, shop};
use super::*;

/// HTTP client with a cookie store.
struct Visitor<'s> {
    store: &'s StoreAddress,
    jar: std::collections::BTreeMap<String, String>,
}

impl<'s> Visitor<'s> {
    fn new(store: &'s StoreAddress) -> Self {
        Self {
            store,
            jar: std::collections::BTreeMap::new(),
        }
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Answer {
        let jar: Vec<String> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let response = request.header("cookie", jar.join("; ")).send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for cookie in headers.get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            self.jar
                .insert(name.to_owned(), rest.split(';').next().unwrap().to_owned());
        }
        Answer {
            status,
            headers,
            body: response.bytes().await.unwrap().to_vec(),
        }
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.send(client().get(format!("{}{path}", self.store.base_url))).await
    }

    async fn post(&mut self, path: &str, body: Value) -> Answer {
        let request = client().post(format!("{}{path}", self.store.base_url));
        self.send(
            request
                .header("content-type", "application/json")
                .body(body.to_string()),
        )
        .await
    }

    async fn cart(&mut self) -> Value {
        self.get("/cart.js").await.json()
    }
}

#[tokio::test]
async fn a_session_has_a_cart_once_something_enters_it() {
    let (_running, store, product, variant) = shop().await;
    let mut visitor = Visitor::new(&store);
    let empty = visitor.get("/cart.js").await;
    assert_eq!(
        (empty.json()["item_count"].clone(), empty.header("cache-control")),
        (json!(0), "")
    );
    assert!(!visitor.jar.contains_key("cart"));
    let bare = visitor
        .post(
            "/cart/add.js",
            json!({ "id": variant, "quantity": 2, "properties": { "engraving": "A" } }),
        )
        .await;
    assert_eq!(
        (
            bare.status,
            bare.json()["product_id"].clone(),
            bare.json()["quantity"].clone()
        ),
        (200, json!(product), json!(2))
    );
    let listed = visitor
        .post("/cart/add.js", json!({ "items": [{ "id": variant }] }))
        .await
        .json();
    assert_eq!(listed["items"][0]["quantity"], 1);
    let cart = visitor.cart().await;
    let items = cart["items"].as_array().unwrap();
    // The newest line comes first, and other attributes make another line.
    assert_eq!(
        (items.len(), &items[0]["properties"], &items[1]["properties"]),
        (2, &json!({}), &json!({ "engraving": "A" }))
    );
    assert_eq!(
        (cart["total_price"].clone(), cart["currency"].clone()),
        (json!(3750), json!("INR"))
    );
    let token = cart["token"].as_str().unwrap();
    assert_eq!(
        read(&store, &json!(format!("gid://shopify/Cart/{token}"))).await["totalQuantity"],
        3
    );

    let form = client()
        .post(format!("{}/cart/add.js", store.base_url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("id={variant}&quantity=1&properties%5Bengraving%5D=A"));
    assert_eq!(visitor.send(form).await.json()["quantity"], 3);
}

#[tokio::test]
async fn discounts_of_the_order_move_the_line_price_and_not_the_final_one() {
    let (_running, store, _, variant) = shop().await;
    let mut visitor = Visitor::new(&store);
    visitor
        .post("/cart/add.js", json!({ "id": variant, "quantity": 2 }))
        .await;
    let cart = visitor
        .post("/cart/update.js", json!({ "discount": "TAKE20,NOPE" }))
        .await
        .json();
    let item = &cart["items"][0];
    let prices = ["original_line_price", "line_price", "final_line_price"].map(|name| item[name].as_u64().unwrap());
    assert_eq!(
        (prices, cart["total_price"].clone(), cart["total_discount"].clone()),
        ([2500, 2000, 2500], json!(2000), json!(500))
    );
    assert_eq!(
        cart["discount_codes"],
        json!([{ "applicable": true, "code": "TAKE20" }, { "applicable": false, "code": "NOPE" }])
    );
    assert_eq!(
        cart["cart_level_discount_applications"][0]["total_allocated_amount"],
        500
    );
    let cleared = visitor.post("/cart/update.js", json!({ "discount": "" })).await.json();
    assert_eq!(
        (cleared["discount_codes"].clone(), cleared["total_price"].clone()),
        (json!([]), json!(2500))
    );

    // A code in a link is entered into the cart. The response does not reveal if the code exists.
    for (path, to) in [
        ("/discount/TAKE20?redirect=/collections/all", "/collections/all"),
        ("/discount/NOPE?redirect=https://elsewhere.example", "/"),
    ] {
        let sent = visitor.get(path).await;
        assert_eq!((sent.status, sent.header("location")), (302, to));
    }
    visitor.get("/discount/TAKE20").await;
    assert_eq!(visitor.cart().await["total_price"], 2000);
}

#[tokio::test]
async fn what_a_call_lacks_or_the_stock_does_not_have_is_an_error() {
    let (running, store, _, variant) = shop().await;
    let mut visitor = Visitor::new(&store);
    let mut told = Vec::new();
    let mut tell = |what: &str, answer: Answer| told.push(format!("{what}: {} {}", answer.status, answer.text()));
    tell("unknown", visitor.post("/cart/add.js", json!({ "id": 1 })).await);
    tell("nothing", visitor.post("/cart/add.js", json!({})).await);
    tell(
        "too many",
        visitor
            .post("/cart/add.js", json!({ "id": variant, "quantity": 9 }))
            .await,
    );
    tell(
        "no more",
        visitor
            .post("/cart/add.js", json!({ "id": variant, "quantity": 1 }))
            .await,
    );
    tell(
        "no line",
        visitor.post("/cart/change.js", json!({ "quantity": 1 })).await,
    );
    tell(
        "not there",
        visitor.post("/cart/update.js", json!({ "updates": { "7": 1 } })).await,
    );
    tell(
        "more than there is",
        visitor
            .post("/cart/change.js", json!({ "line": 1, "quantity": 8 }))
            .await,
    );
    running.set_stock(&store.slug, variant, 0).unwrap();
    tell(
        "sold out",
        Visitor::new(&store)
            .post("/cart/add.js", json!({ "id": variant }))
            .await,
    );
    let name = running.discounts(&store.slug).map(|_| crawl_name(&told)).unwrap();
    insta::assert_snapshot!(told.join("\n").replace(&name, "NAME"), @r#"
    unknown: 404 {"description":"Cannot find variant","message":"Cart Error","status":404}
    nothing: 400 {"description":"Required parameter missing or invalid: items","message":"Parameter Missing or Invalid","status":"bad_request"}
    too many: 422 {"description":"Only 5 items were added to your cart due to availability.","message":"Only 5 items were added to your cart due to availability.","status":422}
    no more: 422 {"description":"The maximum quantity of this item is already in your cart.","message":"The maximum quantity of this item is already in your cart.","status":422}
    no line: 400 {"description":"no valid id or line parameter","message":"Parameter Missing or Invalid","status":"bad_request"}
    not there: 404 {"description":"Cannot find variant","message":"Cart Error","status":404}
    more than there is: 422 {"description":"Only 5 items were added to your cart due to availability.","message":"Only 5 items were added to your cart due to availability.","status":422}
    sold out: 422 {"description":"The product 'NAME' is already sold out.","message":"The product 'NAME' is already sold out.","status":422}
    "#);
    assert_eq!(visitor.cart().await["item_count"], 5);
    assert_eq!(get(&store, "/cart/add.js").await.status, 404);
}

/// Returns the product's name in the message about a sold-out product.
fn crawl_name(told: &[String]) -> String {
    let last = told.last().unwrap();
    last.split("The product '")
        .nth(1)
        .unwrap()
        .split("' is")
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn lines_are_changed_updated_and_cleared() {
    let (running, store, _, variant) = shop().await;
    let mut visitor = Visitor::new(&store);
    visitor
        .post("/cart/add.js", json!({ "id": variant, "quantity": 2 }))
        .await;
    let key = visitor.cart().await["items"][0]["key"].clone();
    assert_eq!(
        visitor
            .post("/cart/change.js", json!({ "id": key, "quantity": 3 }))
            .await
            .json()["item_count"],
        3
    );
    visitor
        .post(
            "/cart/update.js",
            json!({ "note": "Ring", "attributes": { "gift": "yes" } }),
        )
        .await;
    // The stock is not checked again when a cart is updated.
    let updated = visitor
        .post("/cart/update.js", json!({ "updates": { (variant.to_string()): 9 } }))
        .await;
    assert_eq!(updated.json()["item_count"], 9);
    running.set_stock(&store.slug, variant, 20).unwrap();
    assert_eq!(
        visitor.post("/cart/update.js", json!({ "updates": [4] })).await.json()["item_count"],
        4
    );
    let cleared = visitor.post("/cart/clear.js", json!({})).await.json();
    assert_eq!(
        (
            cleared["items"].clone(),
            cleared["note"].clone(),
            cleared["attributes"].clone()
        ),
        (json!([]), json!("Ring"), json!({ "gift": "yes" }))
    );
}

#[tokio::test]
async fn rates_are_told_for_a_place_that_is_named_in_words() {
    let (_running, store, _, variant) = shop().await;
    let place = |country: &str, province: &str, zip: &str| {
        format!("shipping_address[zip]={zip}&shipping_address[country]={country}&shipping_address[province]={province}")
    };
    let here = place("India", "Karnataka", "560001");
    let mut visitor = Visitor::new(&store);
    assert_eq!(
        visitor.get(&format!("/cart/shipping_rates.json?{here}")).await.status,
        422
    );
    visitor.post("/cart/add.js", json!({ "id": variant })).await;
    let told = visitor.get(&format!("/cart/shipping_rates.json?{here}")).await;
    let rates = told.json()["shipping_rates"].clone();
    assert_eq!((told.status, rates.as_array().unwrap().len()), (200, 2));
    let price = rates[0]["price"].as_str().unwrap();
    assert!(price.split_once('.').unwrap().1.len() == 2, "{price}");
    let mut refused = Vec::new();
    for place in [place("Atlantis", "", ""), place("India", "Texas", "12")] {
        let answer = visitor.get(&format!("/cart/shipping_rates.json?{place}")).await;
        refused.push(format!("{} {}", answer.status, answer.text()));
    }
    insta::assert_snapshot!(refused.join("\n"), @r#"
    422 {"country":["is not supported"]}
    422 {"province":["is invalid"],"zip":["is not valid for India"]}
    "#);
    let abroad = visitor
        .get(&format!("/cart/shipping_rates.json?{}", place("Germany", "", "10115")))
        .await;
    assert_eq!((abroad.status, abroad.json()), (200, json!({ "shipping_rates": [] })));

    let asked = format!("/cart/async_shipping_rates.json?{here}");
    assert_eq!(visitor.get(&asked).await.status, 202);
    let prepared = visitor
        .post(&format!("/cart/prepare_shipping_rates.json?{here}"), json!({}))
        .await;
    assert_eq!((prepared.status, prepared.text()), (202, "null".to_owned()));
    assert_eq!(visitor.get(&asked).await.status, 202);
    let there = visitor.get(&asked).await;
    assert_eq!((there.status, there.json()["shipping_rates"].clone()), (200, rates));
}

#[tokio::test]
async fn a_permalink_makes_a_cart_and_leads_to_the_checkout() {
    let (_running, store, _, variant) = shop().await;
    let mut visitor = Visitor::new(&store);
    let path = format!(
        "/cart/{variant}:2,1:1?discount=TAKE20&note=Ring&attributes[gift]=yes&checkout[email]=asha@example.com"
    );
    let sent = visitor.get(&path).await;
    let to = sent
        .header("location")
        .strip_prefix(&store.base_url)
        .unwrap()
        .to_owned();
    assert!(sent.status == 302 && to.starts_with("/checkouts/cn/"), "{to}");
    let page = get(&store, &to).await.text();
    assert!(
        page.contains("asha@example.com") && page.contains("<strong>Rs. 20 INR</strong>"),
        "{page}"
    );
    let cart = visitor.cart().await;
    assert_eq!(
        (cart["item_count"].clone(), cart["attributes"].clone()),
        (json!(2), json!({ "gift": "yes" }))
    );
    let shown = visitor.get(&format!("/cart/{variant}:1?storefront=true")).await;
    assert_eq!(shown.header("location"), format!("{}/cart", store.base_url));
    assert!(visitor.get("/cart").await.text().contains("Your cart"));
}

#[tokio::test]
async fn both_faces_of_a_cart_agree() {
    let (running, store, product, variant) = shop().await;
    let rule = DiscountRule {
        products: vec![product],
        ..DiscountRule::code(
            "EACH3",
            DiscountValue::Amount {
                amount_minor: 300,
                each_item: true,
            },
        )
    };
    running.add_discount(&store.slug, rule).unwrap();
    let made = super::baskets::create(&store, json!({ "lines": [line(variant, 3)] })).await;
    let told = discount(&store, &made["cart"], &["EACH3"]).await;
    let cart = &told["cart"];
    assert_eq!(
        (
            &cart["cost"]["subtotalAmount"]["amount"],
            &cart["cost"]["totalAmount"]["amount"]
        ),
        (&json!("28.5"), &json!("28.5"))
    );
    let line = &cart["lines"]["nodes"][0];
    assert_eq!(
        (
            &line["cost"]["totalAmount"]["amount"],
            &line["discountAllocations"][0]["discountedAmount"]["amount"]
        ),
        (&json!("28.5"), &json!("9.0"))
    );
    assert_eq!(cart["discountAllocations"], json!([]));
    let id = cart["id"]
        .as_str()
        .unwrap()
        .trim_start_matches("gid://shopify/Cart/")
        .replace("?key=", "%3Fkey%3D");
    let cookie = format!("cart={id}");
    let script = get_with(&store, "/cart.js", &[("cookie", cookie.as_str())])
        .await
        .json();
    let prices =
        ["line_price", "final_line_price", "final_price"].map(|name| script["items"][0][name].as_u64().unwrap());
    assert_eq!(
        (prices, script["total_price"].clone()),
        ([2850, 2850, 950], json!(2850))
    );
}
