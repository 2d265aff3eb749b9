use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Haat, get, has_program, post};

/// Flags of Chromium that restrict a page to this machine.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
    "--dump-dom",
];

/// Returns Chromium's DOM of a page after its scripts ran.
fn shown(haat: &Haat, address: &str) -> String {
    let shown = Command::new("chromium")
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", haat.path().join("profile").display()))
        .arg(address)
        .output()
        .unwrap();
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

/// Returns the text of a page from the element with this id on.
#[track_caller]
fn part<'a>(dom: &'a str, id: &str) -> &'a str {
    let at = dom
        .find(&format!("id=\"{id}\""))
        .unwrap_or_else(|| panic!("no {id}: {dom}"));
    dom.get(at..).unwrap()
}

#[track_caller]
fn shows(dom: &str, text: &str) {
    let escaped = text.replace('&', "&amp;");
    assert!(dom.contains(&escaped), "{text:?} is not shown:\n{dom}");
}

fn titles(cards: &Value) -> Vec<&str> {
    cards
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["title"].as_str().unwrap())
        .collect()
}

/// Asserts that the start page first describes the market, in its only top-level heading.
fn shows_the_start(haat: &Haat, base: &str) {
    let start = shown(haat, &format!("{base}/"));
    let headings: Vec<&str> = start.split("<h1").skip(1).collect();
    assert_eq!(headings.len(), 1, "{start}");
    shows(headings.first().unwrap(), "Every store, one search.</h1>");
    let (_, stats) = get(&format!("{base}/v1/stats"));
    shows(part(&start, "data"), stats["data"]["release"]["id"].as_str().unwrap());
}

/// Asserts that the histogram has a bar for each price range.
fn shows_prices(histogram: &str, bins: &Value) {
    let bars = histogram.split("</svg>").next().unwrap();
    assert_eq!(bars.matches("<title>").count(), bins.as_array().unwrap().len());
    for bin in bins.as_array().unwrap() {
        let products = if bin["count"] == 1 { "product" } else { "products" };
        shows(bars, &format!(": {} {products}</title>", bin["count"]));
    }
}

/// Asserts that the page suggests completions of a typed word.
fn shows_suggestions(haat: &Haat, base: &str, word: &str) {
    let (_, suggested) = get(&format!("{base}/v1/suggest?q={word}&limit=6"));
    let opened = shown(haat, &format!("{base}/?q={word}#q"));
    let list = part(&opened, "suggestions").split("suggestions-said").next().unwrap();
    let products = titles(&suggested["data"]["products"]);
    assert!(!products.is_empty());
    for title in products {
        shows(list, title);
    }
    assert!(
        opened.contains("aria-expanded=\"true\" aria-controls=\"suggestions\""),
        "{opened}"
    );
}

#[test]
fn the_page_shows_what_the_server_answers() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let args = [
        "demo",
        "--products",
        "400",
        "--stores",
        "8",
        "--seed",
        "2",
        "--listen",
        "127.0.0.1:0",
    ];
    let (_demo, ready) = haat.serve(&args);
    let base = ready["address"].as_str().unwrap();
    let (_, first) = get(&format!("{base}/v1/search?limit=1"));
    let product = &first["data"][0];
    let title = product["title"].as_str().unwrap();
    let id = product["id"].as_str().unwrap();
    let last_word = title.split(' ').next_back().unwrap();

    shows_the_start(&haat, base);

    // A search page shows its products, and its facets with counts.
    let query: String = title.split(' ').collect::<Vec<_>>().join("+");
    let listed = shown(&haat, &format!("{base}/?q={query}"));
    shows(part(&listed, "grid"), title);
    let (_, counted) = get(&format!(
        "{base}/v1/search?q={query}&facet_counts=true&limit=40&fold=color"
    ));
    let facets = counted["provenance"]["facets"].as_array().unwrap();
    let facet = facets
        .iter()
        .find(|facet| facet["name"] == "color" && facet["values"].as_array().unwrap().len() > 1)
        .unwrap();
    let value = &facet["values"][0];
    let group = part(&listed, "facets");
    let row = group
        .split("<label")
        .find(|row| row.contains(value["label"].as_str().unwrap()))
        .unwrap();
    shows(row, &format!("</span>{}</span>", value["count"]));

    shows_prices(part(&listed, "histogram"), &counted["provenance"]["price"]["histogram"]);

    // A brand's pages show its facets, and there are several pages.
    let brand = product["brand_slug"].as_str().unwrap();
    let (_, walk) = get(&format!("{base}/v1/browse?brand={brand}&limit=36&fold=color"));
    let walked = shown(&haat, &format!("{base}/?brand={brand}"));
    for title in titles(&walk["data"]["items"]) {
        shows(part(&walked, "grid"), title);
    }

    shows_suggestions(&haat, base, last_word);

    // A product page shows the product and similar ones.
    let (_, related) = get(&format!("{base}/v1/recommend?product_id={id}&limit=12"));
    let opened = shown(&haat, &format!("{base}/?product={id}"));
    let dialog = opened.split("<dialog").nth(1).unwrap_or_default();
    shows(dialog, title);
    shows(&opened, &format!("<title>{title} · haat</title>"));
    let rows = part(dialog, "product-more");
    let related = titles(&related["data"]);
    assert!(!related.is_empty());
    for title in related {
        shows(rows, title);
    }
}

#[track_caller]
fn between<'a>(dom: &'a str, from: &str, to: &str) -> &'a str {
    let rest = dom.split_once(from).unwrap_or_else(|| panic!("no {from:?}: {dom}")).1;
    rest.split(to).next().unwrap()
}

#[test]
fn the_page_puts_into_the_cart_what_can_be_bought_and_nothing_else() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let args = [
        "demo",
        "--products",
        "120",
        "--stores",
        "3",
        "--seed",
        "2",
        "--listen",
        "127.0.0.1:0",
    ];
    let (_demo, ready) = haat.serve(&args);
    let base = ready["address"].as_str().unwrap();

    // A sold-out product cannot be added from its card.
    let (_, brands) = get(&format!("{base}/v1/brands?limit=1"));
    let brand = brands["data"][0]["slug"].as_str().unwrap();
    let (_, walk) = get(&format!("{base}/v1/browse?brand={brand}&limit=36&fold=color"));
    let listed = shown(&haat, &format!("{base}/?brand={brand}"));
    let cards = walk["data"]["items"].as_array().unwrap();
    assert!(!cards.is_empty());
    for card in cards {
        let add = format!("data-add=\"{}\"", card["id"].as_str().unwrap());
        let button = between(part(&listed, "grid"), &add, ">");
        assert_eq!(
            button.contains("disabled"),
            card["in_stock"] == false,
            "{card}: {button}"
        );
    }

    // On a product page, values without a variant in stock cannot be selected.
    let (_, in_stock) = get(&format!("{base}/v1/search?in_stock=true&limit=40"));
    let mut closed = 0;
    for card in in_stock["data"].as_array().unwrap().iter().take(8) {
        let id = card["id"].as_str().unwrap();
        let (_, detail) = get(&format!("{base}/v1/products/{id}"));
        let opened = shown(&haat, &format!("{base}/?product={id}"));
        let choice = between(&opened, "class=\"choice\"", "See it at");
        shows(choice, ">Add to cart</button>");
        let missing = unsold_values(&detail["data"]);
        assert_eq!(choice.matches("disabled=\"\"").count(), missing, "{detail}\n{choice}");
        closed += missing;
    }
    println!("{closed} values cannot be chosen");

    // A new visitor's cart can be opened and explains what to do.
    let cart = shown(&haat, &format!("{base}/#cart"));
    let drawer = between(&cart, "<dialog class=\"cart\"", "</dialog>");
    assert!(drawer.split('>').next().unwrap().contains("open"), "{drawer}");
    shows(drawer, "Your cart is empty");
}

/// Returns the number of option values that no variant in stock has.
fn unsold_values(product: &Value) -> usize {
    let offers = product["offers"].as_array().unwrap();
    let available = |variant: &Value| {
        let own = |offer: &&Value| offer["variant_id"] == variant["id"];
        offers.iter().find(own).is_some_and(|offer| offer["available"] == true)
    };
    let mut all = std::collections::BTreeSet::new();
    let mut sold = std::collections::BTreeSet::new();
    for variant in product["variants"].as_array().unwrap() {
        for (name, value) in variant["options"].as_object().unwrap() {
            let one = (name.clone(), value.as_str().unwrap_or_default().to_owned());
            if available(variant) {
                sold.insert(one.clone());
            }
            all.insert(one);
        }
    }
    all.difference(&sold).count()
}

/// Tests the live price on the page, for an unchanged product and for one whose price changed.
#[test]
fn the_page_shows_what_the_store_says_now() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "60", "--stores", "2", "--seed", "5", "--control"]);
    haat.run(&["crawl", "--release"]).json();
    let env = haat.with("HAAT_LIVE_GATEWAY__ASK__REUSE_MS", "0");
    let (_server, served) = env.serve(&["up", "--listen", "127.0.0.1:0"]);
    let base = served["address"].as_str().unwrap();
    let (_, first) = get(&format!("{base}/v1/search?limit=1&in_stock=true"));
    let id = first["data"][0]["id"].as_str().unwrap();
    let checked = || {
        let opened = shown(&env, &format!("{base}/?product={id}#check"));
        let at = opened.find("class=\"live\"").unwrap_or_else(|| panic!("{opened}"));
        opened.get(at..).unwrap().split("</section>").next().unwrap().to_owned()
    };
    let told = checked();
    shows(&told, "Verified at the store");
    shows(&told, "Nothing changed since the last crawl.");
    let (_, detail) = get(&format!("{base}/v1/products/{id}"));
    let url = detail["data"]["attributes"]["url"].as_str().unwrap();
    let (store, handle) = url.split_once("/products/").unwrap();
    let change = json!({ "kind": "reprice", "item": handle, "price": "4321.00" });
    let (status, answer) = post(&format!("{store}/emulator/change"), &change);
    assert_eq!(status, 200, "{answer}");
    let told = checked();
    shows(&told, "changed in price since the last crawl.");
    shows(&told, "4,321");
    // The store no longer responds.
    let faults = json!({ "kind": "faults", "rules": [{ "fault": { "kind": "reset" } }] });
    assert_eq!(post(&format!("{store}/emulator/change"), &faults).0, 200);
    let told = checked();
    shows(&told, "Not verified");
    shows(&told, "The store cannot be reached right now.");
}

#[test]
fn the_page_draws_how_a_price_went() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let recorded = haat.path().join("recorded");
    std::fs::create_dir_all(recorded.join("tea")).unwrap();
    let args = [
        "demo",
        "--recorded",
        recorded.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ];
    for (price, steps, told) in [
        ("12.00", 1, None),
        ("9.50", 2, Some("Lowest €9.50, highest €12, now €9.50.")),
        ("11.00", 3, Some("Lowest €9.50, highest €12, now €11.")),
    ] {
        let page = json!({"products": [{
            "id": 7, "title": "Assam Tea", "handle": "assam-tea", "vendor": "Tea", "product_type": "Tea", "tags": [],
            "body_html": "", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            "published_at": "2026-01-01T00:00:00Z", "images": [], "options": [{"name": "Title", "position": 1, "values": ["Default Title"]}],
            "variants": [{"id": 70, "title": "Default Title", "option1": "Default Title", "sku": "A", "available": true,
                "price": price, "compare_at_price": null, "position": 1, "product_id": 7}],
        }]});
        let meta = json!({"id": 1, "name": "Tea", "currency": "EUR", "country": "DE", "domain": "tea.example",
            "myshopify_domain": "tea.myshopify.com", "published_products_count": 1});
        std::fs::write(recorded.join("tea/products.json"), page.to_string()).unwrap();
        std::fs::write(recorded.join("tea/meta.json"), meta.to_string()).unwrap();
        let (_demo, ready) = haat.serve(&args);
        let base = ready["address"].as_str().unwrap();
        let (_, found) = get(&format!("{base}/v1/search?q=assam"));
        let id = found["data"][0]["id"].as_str().unwrap().to_owned();
        let (_, history) = get(&format!("{base}/v1/products/{id}/price-history"));
        assert_eq!(history["data"].as_array().map(Vec::len), Some(steps), "{history}");
        let opened = shown(&haat, &format!("{base}/?product={id}"));
        // A price that never changed is drawn without a line.
        assert_eq!(
            opened.matches("class=\"line\"").count(),
            usize::from(told.is_some()),
            "{opened}"
        );
        let Some(told) = told else { continue };
        shows(&opened, told);
        // The line has steps: horizontal at each price, then vertical to the next one.
        let line = opened
            .split("class=\"line\" d=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(
            (line.matches('H').count(), line.matches('V').count()),
            (steps, steps - 1),
            "{line}"
        );
        let figure = opened.split("class=\"history\"").nth(1).unwrap();
        let listed = figure.split("</figure>").next().unwrap();
        assert_eq!(listed.matches("<time").count(), steps, "{listed}");
    }
}

/// `tests/peers/browser/market.mjs` contains the steps, by mouse and by keyboard. `TEST_SHOTS=DIR` saves screenshots.
#[test]
fn the_page_serves_visitors_on_a_phone_and_at_a_desk() {
    if !has_program("chromium", &["--version"]) || !has_program("node", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let args = ["demo", "--products", "1500", "--stores", "12", "--seed", "3"];
    let (_demo, ready) = haat.serve(&[&args[..], &["--listen", "127.0.0.1:0"]].concat());
    let peers = std::env::var_os("TEST_BROWSER_PEERS").map(std::path::PathBuf::from);
    let axe = peers.map(|folder| folder.join("node_modules/axe-core/axe.min.js"));
    let visited = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/browser/market.mjs"))
        .arg(ready["address"].as_str().unwrap())
        .arg(haat.path().join("visitor"))
        .arg(axe.filter(|file| file.is_file()).unwrap_or_default())
        .arg(std::env::var_os("TEST_SHOTS").unwrap_or_default())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&visited.stdout);
    println!("{told}");
    let complaint = String::from_utf8_lossy(&visited.stderr);
    assert!(visited.status.success(), "{told}{complaint}");
    assert!(
        told.lines().filter(|line| line.starts_with("ok: ")).count() > 15,
        "{told}{complaint}"
    );
}

/// Records a check of each brand as a crawl does: `outcome` at `checked_at`, as event `seq` of the record.
fn record_checks(haat: &Haat, seq: u64, checked_at: &str, outcome: impl Fn(usize) -> &'static str) {
    let registered = haat.run(&["brands", "list"]).json();
    let brands = registered["brands"].as_array().unwrap().iter();
    let checks = brands.enumerate().map(|(at, brand)| {
        let check = json!({"slug": brand["slug"], "run": "20260101T000000Z-00000000", "checked_at": checked_at, "outcome": outcome(at)});
        (brand["store"].as_str().unwrap().to_owned(), check)
    });
    let event = json!({"last_run": null, "brands": checks.collect::<serde_json::Map<_, _>>()});
    let storage = data_storage::Storage::from_path(haat.path()).unwrap();
    let record = data_storage::EventLog::new(&storage, "checks");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert!(runtime.block_on(record.append_at(seq, &event)).unwrap());
}

#[test]
fn the_page_says_when_stores_were_last_checked_and_warns_when_none_was_for_days() {
    if !has_program("chromium", &["--version"]) {
        return;
    }
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "60", "--stores", "4", "--seed", "2"]);
    haat.run(&["crawl", "--release"]).json();
    let outcomes = ["failed", "held_back", "unchanged", "changed"];
    let said = [
        "It could not be read then. Its earlier catalogue is shown here.",
        "What it showed then looked doubtful.",
        "Nothing had changed.",
        "What was found then is shown here.",
    ];
    // The number is larger than any that a run records.
    record_checks(&haat, 1000, "2020-05-17T12:00:00Z", |at| outcomes[at % 4]);
    let (server, ready) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let base = ready["address"].as_str().unwrap();

    let start = shown(&haat, &format!("{base}/"));
    let warning = part(&start, "stale").split("</p>").next().unwrap();
    shows(warning, "No store has been checked since May 17, 2020");
    assert!(!warning.contains("hidden"), "{warning}");
    let told = part(&start, "data").split("</details>").next().unwrap();
    shows(told, "<dt>Stores last checked</dt><dd>May 17, 2020");
    shows(told, "<dt>Could not be read</dt><dd>1 store, shown as last read</dd>");
    shows(
        told,
        "<dt>Held back</dt><dd>1 store, until a doubtful change is confirmed</dd>",
    );

    let (_, brands) = get(&format!("{base}/v1/brands"));
    let mut seen = Vec::new();
    for brand in brands["data"].as_array().unwrap() {
        let at = outcomes.iter().position(|one| brand["check_outcome"] == *one).unwrap();
        let page = shown(&haat, &format!("{base}/?brand={}", brand["slug"].as_str().unwrap()));
        let line = part(&page, "brand-check").split("</p>").next().unwrap();
        shows(line, "Store last checked May 17, 2020");
        shows(line, said[at]);
        assert!(!line.contains("hidden"), "{line}");
        seen.push(at);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3]);
    drop(server);

    // The brands were checked recently, so there is no warning.
    let now = data_model::Timestamp::from_micros(
        i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_micros()).unwrap(),
    );
    record_checks(&haat, 1001, &now.to_string(), |_| "unchanged");
    let (_server, ready) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let start = shown(&haat, &format!("{}/", ready["address"].as_str().unwrap()));
    let warning = part(&start, "stale").split('>').next().unwrap();
    assert!(warning.contains("hidden"), "{warning}");
    let told = part(&start, "data").split("</details>").next().unwrap();
    assert!(
        !told.contains("Could not be read") && !told.contains("Held back"),
        "{told}"
    );
}
