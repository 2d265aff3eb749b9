//! Test that runs the platform's own client against an emulated store.

use std::path::{Path, PathBuf};

use emulator::{Fault, FaultRule};

use super::baskets::shop;
use super::*;

/// Returns the folder of the client. Prints a line and returns `None` if it is not installed. In CI it is always
/// installed.
#[expect(clippy::disallowed_methods, reason = "the build in CI says where it put the client")]
fn client_folder() -> Option<PathBuf> {
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/peers/storefront-client"));
    let folder = std::env::var_os("TEST_STOREFRONT_CLIENT").map_or(beside.to_owned(), PathBuf::from);
    let has_node = std::process::Command::new("node").arg("--version").output().is_ok();
    if has_node && folder.join("node_modules/@shopify/storefront-api-client").is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "no node, or no client of the platform in {}",
        folder.display()
    );
    println!("skipped: no node, or no client of the platform in {}", folder.display());
    None
}

#[tokio::test]
async fn the_platforms_own_client_walks_from_the_first_line_to_the_checkout_page() {
    let Some(folder) = client_folder() else { return };
    let (running, store, _, variant) = shop().await;
    let products = crawl(&store, 250).await;
    let second = products[1]["variants"][0]["id"].as_u64().unwrap();
    running.reprice(&store.slug, second, "100.00").unwrap();
    running.set_stock(&store.slug, second, 5).unwrap();
    // The client retries after a response that requests a wait.
    let busy = Fault::Status {
        status: 429,
        retry_after_s: Some(1),
    };
    let rule = FaultRule::from(busy).on_operation("cartLinesAdd").first(1);
    running.set_faults(&store.slug, [rule]).unwrap();

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stores/client.mjs");
    let token = running.storefront_token(&store.slug).unwrap();
    let ended = tokio::task::spawn_blocking({
        let base = store.base_url.clone();
        move || {
            let mut node = std::process::Command::new("node");
            node.arg(script).arg(folder).arg(base).arg(token);
            node.args([variant.to_string(), second.to_string(), "take20".to_owned()]);
            node.output().unwrap()
        }
    })
    .await
    .unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{errors}");
    let walked: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(walked["created"]["cost"]["totalAmount"]["amount"], "25.0");
    assert_eq!(walked["added"]["cost"]["totalAmount"]["amount"], "125.0");
    let discounted = &walked["discounted"];
    assert_eq!(
        (
            discounted["cost"]["subtotalAmount"]["amount"].as_str(),
            discounted["cost"]["totalAmount"]["amount"].as_str()
        ),
        (Some("125.0"), Some("100.0"))
    );
    let mut told = discounted.clone();
    for own in ["id", "checkoutUrl", "lines"] {
        told.as_object_mut().unwrap().remove(own);
    }
    insta::assert_snapshot!(told, @r#"
    {"cost":{"subtotalAmount":{"amount":"125.0","currencyCode":"INR"},"totalAmount":{"amount":"100.0"}},"discountAllocations":[{"code":"TAKE20","discountedAmount":{"amount":"20.0"},"targetType":"LINE_ITEM"},{"code":"TAKE20","discountedAmount":{"amount":"5.0"},"targetType":"LINE_ITEM"}],"discountCodes":[{"applicable":true,"code":"take20"},{"applicable":false,"code":"NO-SUCH-CODE"}],"totalQuantity":3}
    "#);
    assert_eq!(walked["isTheSame"], true);
    assert_eq!(walked["wrong"][0], "Field 'nmae' doesn't exist on type 'Shop'");
    assert_eq!(
        walked["page"],
        serde_json::json!({ "status": 200, "takesNothing": true })
    );
    assert_eq!(running.calls(&store.slug).unwrap()["cartLinesAdd"], 1);
}
