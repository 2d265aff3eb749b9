//! Tests of verifiable statements: a quote that other programs verify, a cart that reports a changed price, and a watch
//! whose webhook other programs verify. The steps run once over HTTP and once with MCP tools.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use crate::documents::{document, printed, project};
use crate::mcp::{Market, market_of};
use crate::support::{Haat, get, has_program, post};

/// Protocol of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Http,
    Tools,
}

impl Door {
    /// Calls an operation, which must succeed, and returns the data of its response.
    fn ask(self, market: &Market, operation: Operation, arguments: &Value) -> Value {
        let answer = match self {
            Self::Tools => market.call(Some(&market.key), operation.tool, arguments)["structuredContent"].clone(),
            Self::Http if operation.path.contains('?') => {
                let path = operation.path.replace("{ident}", arguments["ident"].as_str().unwrap());
                get(&format!("{}{path}", market.base)).1
            }
            Self::Http => with_key(market, operation.path, arguments),
        };
        assert!(answer["data"].is_object(), "{self:?} {operation:?}: {answer}");
        answer["data"].clone()
    }
}

/// Operation: its MCP tool and its HTTP path.
#[derive(Debug, Clone, Copy)]
struct Operation {
    tool: &'static str,
    path: &'static str,
}

const PRICE: Operation = Operation {
    tool: "get_price",
    path: "/v1/products/{ident}/price?quote=true",
};
const CART: Operation = Operation {
    tool: "create_cart",
    path: "/v1/cart",
};
const WATCH: Operation = Operation {
    tool: "watch_product",
    path: "/v1/watches",
};

/// Sends a POST request with the market's key and returns the response.
fn with_key(market: &Market, path: &str, body: &Value) -> Value {
    let sent = Command::new("curl")
        .args(["-sS", "-H", "content-type: application/json", "-d", &body.to_string()])
        .args(["-H", &format!("x-service-key: {}", market.key)])
        .arg(format!("{}{path}", market.base))
        .output()
        .unwrap();
    serde_json::from_slice(&sent.stdout).unwrap_or_else(|_| panic!("{sent:?}"))
}

/// Runs a program with `input` on standard input and returns its JSON output.
fn told(command: &mut Command, input: &str) -> Value {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Verifies a quote with Node's crypto module and with OpenSSL, as docs/buying.md shows, and returns its claims.
fn verified_by_others(market: &Market, quote: &Value) -> Value {
    let quote = quote.as_str().unwrap();
    let mut node = Command::new("node");
    node.arg(project().join("docs/verify_token.mjs"))
        .args([market.base.as_str(), "haat-quote+jwt", quote]);
    let claims = told(&mut node, "");
    assert_eq!(claims["holds"], true);
    let blocks = document("docs/buying.md").blocks();
    let openssl = blocks
        .iter()
        .find(|block| block.text.contains("openssl pkeyutl"))
        .unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-eu", "-o", "pipefail", "-c", &openssl.text])
        .env("HAAT", &market.base)
        .env("quote", quote);
    assert!(printed(&openssl.at, &mut bash).contains("Signature Verified Successfully"));
    claims["claims"].clone()
}

/// POST request as its receiver got it.
struct Delivery {
    headers: Map<String, Value>,
    body: String,
}

/// Receives the next POST request and responds to it.
fn delivery(receiver: &TcpListener) -> Delivery {
    let (mut stream, _) = receiver.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("POST /hook "), "{line}");
    let mut headers = Map::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.into());
    }
    let mut body = vec![0; headers["content-length"].as_str().unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    stream
        .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        .unwrap();
    Delivery {
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

/// Packages `standardwebhooks` from npm and PyPI.
struct Verifiers {
    /// Folder of the npm package.
    npm: PathBuf,
    /// Python interpreter with the PyPI package.
    python: PathBuf,
}

/// Returns the verifiers. Prints a line and returns `None` if a package or another program is absent.
fn verifiers() -> Option<Verifiers> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.exists());
    let Some((npm, python)) = named("TEST_WEBHOOK_PEERS").zip(named("TEST_WEBHOOK_PYTHON")) else {
        let missing = "TEST_WEBHOOK_PEERS and TEST_WEBHOOK_PYTHON name no packages";
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        println!("skipped: {missing}");
        return None;
    };
    let programs = [
        ("curl", "--version"),
        ("jq", "--version"),
        ("node", "--version"),
        ("openssl", "version"),
    ];
    let has_all = programs
        .into_iter()
        .all(|(program, asked)| has_program(program, &[asked]));
    has_all.then_some(Verifiers { npm, python })
}

impl Verifiers {
    fn commands(&self) -> [Command; 2] {
        let scripts = project().join("tests/peers/webhooks");
        let (mut node, mut python) = (Command::new("node"), Command::new(&self.python));
        node.arg(scripts.join("verify.mjs")).arg(&self.npm);
        python.arg(scripts.join("verify.py"));
        [node, python]
    }

    /// Asserts that the packages verify a webhook, and refuse it if one character is changed.
    fn verify(&self, delivery: &Delivery, secret: &Value) {
        let message = |body: &str| json!({ "secret": secret, "headers": delivery.headers, "body": body }).to_string();
        let own: Value = serde_json::from_str(&delivery.body).unwrap();
        let changed = message(&delivery.body.replace("watch.fired", "watch.tired"));
        for mut verifier in self.commands() {
            assert_eq!(told(&mut verifier, &message(&delivery.body)), own);
        }
        for mut verifier in self.commands() {
            let mut child = verifier.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(changed.as_bytes()).unwrap();
            assert!(!child.wait().unwrap().success());
        }
    }
}

/// Runs all steps from the quote to the webhook over one protocol.
fn proof_travels(market: &Market, door: Door, card: &Value, verifiers: &Verifiers) {
    let ident = card["id"].as_str().unwrap();
    let (_, detail) = get(&format!("{}/v1/products/{ident}", market.base));
    let price = door.ask(market, PRICE, &json!({ "ident": ident, "quote": true }));
    let claims = verified_by_others(market, &price["quote"]);
    assert_eq!(
        (&claims["product_id"], &claims["iss"]),
        (&card["id"], &json!(market.base))
    );

    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", receiver.local_addr().unwrap());
    let wanted = json!({ "product_id": ident, "price_below": 200, "webhook": { "url": url } });
    let watch = door.ask(market, WATCH, &wanted);

    let address = detail["data"]["attributes"]["url"].as_str().unwrap();
    let (store, handle) = address.split_once("/products/").unwrap();
    let change = json!({ "kind": "reprice", "item": handle, "price": "1.00" });
    assert_eq!(post(&format!("{store}/emulator/change"), &change).0, 200);
    let item = json!({ "product_id": ident, "qty": 1, "quote": price["quote"] });
    let cart = door.ask(market, CART, &json!({ "items": [item] }));
    let line = &cart["groups"][0]["lines"][0];
    assert_eq!(
        (&line["price_held"], &line["price_changed"]["now_minor"]),
        (&json!(false), &json!(100)),
        "{cart}"
    );
    // A caller requests the current price. The store's response is an observation, on which watches are evaluated.
    assert_eq!(
        door.ask(market, PRICE, &json!({ "ident": ident, "quote": true }))["price_min_minor"],
        100
    );

    let delivery = delivery(&receiver);
    verifiers.verify(&delivery, &watch["secret"]);
    let message: Value = serde_json::from_str(&delivery.body).unwrap();
    let data = &message["data"];
    assert_eq!(
        (
            &message["type"],
            &data["watch_id"],
            &data["reasons"],
            &data["now"]["price_minor"]
        ),
        (
            &json!("watch.fired"),
            &watch["id"],
            &json!(["price_below"]),
            &json!(100)
        ),
        "{message}"
    );
    let claims = verified_by_others(market, &data["quote"]);
    assert_eq!(claims["variants"][0]["amount_minor"], 100);
}

#[test]
fn a_quote_is_verified_by_others_and_a_watch_tells_by_a_webhook_that_others_verify() {
    let Some(verifiers) = verifiers() else { return };
    let stores = ["--products", "60", "--stores", "2", "--seed", "5", "--control"];
    let market = market_of(Haat::new().with("HAAT_MCP__CART_TOOLS", "true"), &stores);
    let (_, found) = get(&format!("{}/v1/search?limit=40&in_stock=true", market.base));
    let cards = found["data"].as_array().unwrap();
    for (door, card) in [Door::Http, Door::Tools].into_iter().zip(cards) {
        proof_travels(&market, door, card, &verifiers);
    }
}
