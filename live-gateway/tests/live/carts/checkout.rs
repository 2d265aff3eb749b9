use std::io::Write;
use std::process::{Command, Stdio};

use emulator::{Fault, FaultRule};
use live_gateway::{CartConfig, SigningAlgorithm, rotate_signing_key};
use serde_json::{Value, json};

use super::mall::{Call, Mall, Server, assert_sums, group, master_keys, minor, path};
use super::stores::prepare;

async fn jwks(server: &Server) -> Value {
    let (status, headers, keys) = server.send_whole(Call::get("/.well-known/jwks.json").by(None)).await;
    // Pages of any origin may read the keys, but only pages of this site may read carts.
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert_eq!(status, 200);
    assert_eq!(headers["cache-control"], "public, max-age=300");
    keys
}

/// Script that verifies a token with the key named in the token's header. The script uses Node's crypto module instead
/// of this program's code.
const VERIFY: &str = r#"
const { createPublicKey, verify } = require('node:crypto');
const { token, keys } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const [head, body, signature] = token.split('.');
const read = (part) => JSON.parse(Buffer.from(part, 'base64url'));
const header = read(head);
const jwk = keys.find((key) => key.kid === header.kid);
if (!jwk || header.alg !== jwk.alg) throw new Error('no key');
const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' };
const good = verify(jwk.alg === 'ES256' ? 'sha256' : null, Buffer.from(head + '.' + body), key, Buffer.from(signature, 'base64url'));
process.stdout.write(JSON.stringify({ good, claims: read(body) }));
"#;

/// Returns the script's result. Prints a line and returns `None` if Node is not available.
fn verified(token: &str, keys: &Value) -> Option<Value> {
    let spawned = Command::new("node")
        .args(["-e", VERIFY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut node) = spawned else {
        assert!(std::env::var_os("CI").is_none(), "node is not installed");
        println!("skipped: node is not installed, so no second program verifies the token");
        return None;
    };
    let input = json!({ "token": token, "keys": keys["keys"] }).to_string();
    node.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

async fn check_out(server: &Server, cart: &Value) -> Value {
    server
        .data(Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_has_each_brands_own_link_and_a_token_that_anyone_can_verify() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 2)]).await;
    let checkout = check_out(&server, &cart).await;
    assert_eq!(checkout["problems"], json!([]));
    for store in 0..2 {
        let told = &checkout["checkouts"][store];
        let group = group(&cart, &mall.brand(store));
        assert_eq!(told["brand_slug"], mall.brand(store));
        assert_eq!(told["checkout_url"], group["checkout_url"]);
        assert_eq!(minor(&told["total_minor"]), minor(&group["total_minor"]));
        assert_eq!(mall.calls(store, "cartAttributesUpdate"), 1);
        // The link opens a page.
        let page = reqwest::get(told["checkout_url"].as_str().unwrap()).await.unwrap();
        assert!(page.status().is_success(), "{}", page.status());
    }
    let token = checkout["attribution"]["token"].as_str().unwrap();
    assert_eq!(
        checkout["attribution"]["jwks_url"],
        "http://127.0.0.1:8080/.well-known/jwks.json"
    );
    let keys = jwks(&server).await;
    let Some(verified) = verified(token, &keys) else { return };
    assert_eq!(verified["good"], true);
    let claims = &verified["claims"];
    assert_eq!(claims["iss"], "http://127.0.0.1:8080");
    assert_eq!(claims["brands"], json!([mall.brand(0), mall.brand(1)]));
    assert_eq!(claims["aud"], json!([claims["iss"]]));
    assert_eq!(minor(&claims["exp"]) - minor(&claims["iat"]), 30 * 86_400);
    assert!(!token.contains(cart["cart_id"].as_str().unwrap()) && claims["cart"].as_str().unwrap().len() == 43);
    let (said, signature) = token.rsplit_once('.').unwrap();
    let first = if signature.starts_with('A') { "B" } else { "A" };
    let forged = format!("{said}.{first}{}", &signature[1..]);
    assert_eq!(self::verified(&forged, &keys).unwrap()["good"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_told_of_its_own_brand_alone() {
    let mall = Mall::open(2).await;
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1), mall.item(1, 0, 2)]).await;
    let checkout = check_out(&server, &cart).await;
    let keys = jwks(&server).await;
    for store in 0..2 {
        let token = checkout["checkouts"][store]["attribution_token"].as_str().unwrap();
        assert_ne!(token, checkout["attribution"]["token"]);
        let Some(verified) = verified(token, &keys) else { return };
        assert_eq!(verified["good"], true);
        let claims = &verified["claims"];
        let host = &mall.stores.stores()[store].myshopify_domain;
        assert_eq!(
            (&claims["brands"], &claims["aud"]),
            (&json!([mall.brand(store)]), &json!([host]))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attribution_names_the_brands_that_have_a_checkout() {
    let mall = Mall::open(3).await;
    let server = mall.server().await;
    let items: Vec<_> = (0..3).map(|store| mall.item(store, 0, 1)).collect();
    let cart = server.cart(&items).await;
    for left in [2, 1] {
        mall.stores
            .set_stock(&mall.slug(left), mall.goods(left)[0].1, 0)
            .unwrap();
        let checkout = check_out(&server, &cart).await;
        let open = checkout["checkouts"].as_array().unwrap().iter();
        let open: Vec<_> = open.map(|one| one["brand_slug"].clone()).collect();
        assert_eq!(open.len(), left, "{checkout}");
        let token = checkout["attribution"]["token"].as_str().unwrap();
        let Some(verified) = verified(token, &jwks(&server).await) else {
            return;
        };
        assert_eq!(
            (&verified["good"], &verified["claims"]["brands"]),
            (&json!(true), &json!(open))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_is_published_before_it_signs_and_the_old_one_until_its_tokens_are_over() {
    let mall = Mall::open(1).await;
    let config = CartConfig {
        signing_algorithm: SigningAlgorithm::Es256,
        ..CartConfig::default()
    };
    let server = mall.server().await;
    let cart = server.cart(&[mall.item(0, 0, 1)]).await;
    let old = check_out(&server, &cart).await["attribution"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let kid = |token: &str| {
        use base64::Engine as _;
        let header = token.split('.').next().unwrap();
        let header = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(header).unwrap();
        serde_json::from_slice::<Value>(&header).unwrap()["kid"].clone()
    };
    let now = data_model::Clock::now(mall.clock.as_ref());
    let keys = rotate_signing_key(&mall.state().await, &master_keys(), &config, now)
        .await
        .unwrap();
    assert_eq!(keys.len(), 2);
    // A new server reads both keys, and the old key still signs.
    let server = mall.server().await;
    let ids = |keys: &Value| {
        keys["keys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key["kid"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&jwks(&server).await), [json!(keys[0].id), json!(keys[1].id)]);
    let token = check_out(&server, &cart).await["attribution"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(kid(&token), kid(&old));
    mall.clock.advance_ms(3_600_000);
    let token = check_out(&server, &cart).await["attribution"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(kid(&token), json!(keys[0].id));
    let published = jwks(&server).await;
    assert_eq!(
        [&published["keys"][0]["alg"], &published["keys"][1]["alg"]],
        ["ES256", "EdDSA"]
    );
    for token in [&old, &token] {
        if let Some(read) = verified(token, &published) {
            assert_eq!(read["good"], true, "tokens of both algorithms hold");
        }
    }
    mall.clock.advance_ms(31 * 86_400_000);
    assert_eq!(ids(&jwks(&mall.server().await).await), [json!(keys[0].id)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_start_together_share_one_key() {
    let mall = Mall::open(1).await;
    let (one, other) = (mall.server().await, mall.server().await);
    let (first, second) = tokio::join!(jwks(&one), jwks(&other));
    assert_eq!(first, second);
    assert_eq!(first["keys"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_cart_has_nothing_to_check_out() {
    let mall = Mall::open(1).await;
    let server = mall.server().await;
    let cart = server.cart(&[]).await;
    assert_sums(&cart);
    let body = json!({ "cart_id": cart["cart_id"] });
    let (status, told) = server.send(Call::post("/v1/checkout", body)).await;
    assert_eq!(status, 422, "{told}");
    assert_eq!(told["detail"][0]["loc"], json!(["body", "cart_id"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_leads_to_what_was_asked_for_whenever_a_lost_addition_lands() {
    let mall = Mall::open(1).await;
    prepare(&mall);
    let server = mall.server().await;
    let goods = mall.goods(0);
    for requests in 1..12 {
        let cart = server.cart(&[mall.item(0, 0, 1)]).await;
        let late = FaultRule::from(Fault::Late { status: 504, requests });
        let late = late.on_operation("cartLinesAdd").first(1);
        mall.stores.set_faults(&mall.slug(0), [late]).unwrap();
        let more = json!({ "items": [mall.item(0, 1, 2)] });
        server.data(Call::post(path(&cart, "/lines"), more)).await;
        let told = check_out(&server, &cart).await;
        mall.stores.catch_up(&mall.slug(0)).unwrap();
        assert_eq!(told["problems"], json!([]), "{requests}");
        let total_minor = minor(&told["checkouts"][0]["total_minor"]);
        assert_eq!(total_minor, goods[0].2 + 2 * goods[1].2, "{requests}: {told}");
    }
}
