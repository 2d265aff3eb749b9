use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

use data_model::Secret;
use emulator::Fault;
use live_gateway::seal_storefront_token;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::mall::{Call, Mall, group, master_keys, path};

/// Captured log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Searches all files of the state and all logs for known secrets. The search runs in a process of its own, because a
/// process has only one log.
#[test]
fn no_secret_lies_open_at_rest_or_in_a_log() {
    let search = [
        "--exact",
        "carts::secrets::searches_for_planted_secrets",
        "--ignored",
        "--nocapture",
    ];
    let output = Command::new(std::env::current_exe().unwrap())
        .args(search)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told} {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "run by `no_secret_lies_open_at_rest_or_in_a_log`"]
fn searches_for_planted_secrets() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (secrets, files) = runtime.block_on(shop());
    drop(runtime);
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(
        logged.contains("store answered"),
        "what the client of stores logs is there"
    );
    assert!(files.iter().any(|bytes| bytes.starts_with(b"SQLite format 3")));
    for secret in &secrets {
        let lies_open = |bytes: &Vec<u8>| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!files.iter().any(lies_open), "{secret} lies open in the state");
    }
    for secret in &secrets {
        assert!(!logged.contains(secret.as_str()), "{secret} stands in the log");
    }
}

/// Makes a purchase that uses secrets, such as a password. Returns the secrets and the contents of the state's files,
/// which are read while the state is in use.
async fn shop() -> (Vec<String>, Vec<Vec<u8>>) {
    let mall = Mall::open(1).await;
    let slug = mall.slug(0);
    mall.stores.set_passwords(&slug, true).unwrap();
    let token = mall.stores.storefront_token(&slug).unwrap();
    let store = &mall.shelf.brands[0].store;
    let sealed = seal_storefront_token(&master_keys(), store, &Secret::new(&token)).unwrap();
    mall.state()
        .await
        .put_storefront_token(store, sealed, data_model::Clock::now(mall.clock.as_ref()))
        .await
        .unwrap();
    let server = mall.server().await;
    let (password, email) = ("planted-pass-8261", "planted-8261@example.com");
    let body = json!({ "email": email, "password": password, "brand": mall.brand(0) });
    server
        .data(Call::post("/v1/account/register", body.clone()).once("planted-key-8261"))
        .await;
    let (status, _) = server.send(Call::post("/v1/account/register", body).by("ravi")).await;
    assert_eq!(status, 422, "the address is taken");
    let cart = json!({ "items": [mall.item(0, 0, 1)], "email": email });
    let cart = server
        .data(Call::post("/v1/cart", cart).once("planted-cart-8261"))
        .await;
    server
        .data(Call::post(
            path(&cart, "/address"),
            json!({ "zip": "826182", "city": "Plantedville" }),
        ))
        .await;
    let checkout = Call::post("/v1/checkout", json!({ "cart_id": cart["cart_id"] })).once("planted-out-8261");
    let checkout = server.data(checkout).await;
    mall.stores.set_fault(&slug, Fault::BrokenJson).unwrap();
    server.data(Call::get(path(&cart, ""))).await;
    // The token and the key in the checkout link open the store's cart.
    let link = group(&cart, &mall.brand(0))["checkout_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let (at, key) = link.rsplit_once("?key=").unwrap();
    let cart_token = at.rsplit('/').next().unwrap();
    let secrets = [
        password,
        email,
        &token,
        cart_token,
        key,
        "Plantedville",
        "planted-key-8261",
        "planted-cart-8261",
        checkout["attribution"]["token"].as_str().unwrap(),
    ];
    let entries = std::fs::read_dir(mall.folder.path()).unwrap();
    let files = entries
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    (secrets.map(str::to_owned).to_vec(), files)
}
