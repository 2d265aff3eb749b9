use std::path::{Path, PathBuf};

use emulator::EmulatorError;
use serde_json::value::RawValue;

use super::*;

/// Returns a folder of recordings outside the project. Prints a line and returns `None` if it is absent.
pub(crate) fn recordings(folder: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    assert!(
        option_env!("CI") != Some("true") || !beside.exists(),
        "no recordings at {}",
        path.display()
    );
    println!("skipped: no recordings at {}", path.display());
    None
}

#[derive(serde::Deserialize)]
struct Page {
    products: Vec<Box<RawValue>>,
}

fn raw(body: &[u8]) -> Vec<String> {
    let page: Page = serde_json::from_slice(body).unwrap();
    page.products
        .into_iter()
        .map(|product| product.get().to_owned())
        .collect()
}

/// Returns the products in a store's files, in the order of the files.
fn recorded(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with("products"));
    files.sort_by_key(|file| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        name.rsplit_once('-')
            .map_or(1, |(_, number)| number.parse::<u32>().unwrap())
    });
    files
        .iter()
        .flat_map(|file| raw(&std::fs::read(file).unwrap()))
        .collect()
}

async fn served(store: &StoreAddress, limit: usize) -> Vec<String> {
    let mut products = Vec::new();
    for page in 1.. {
        let listed = raw(&get(store, &format!("/products.json?limit={limit}&page={page}"))
            .await
            .body);
        if listed.is_empty() {
            return products;
        }
        assert!(listed.len() <= limit);
        products.extend(listed);
    }
    products
}

#[tokio::test]
async fn recorded_products_are_served_byte_for_byte() {
    let Some(folder) = recordings("recorded") else { return };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder.clone())))
        .await
        .unwrap();
    let stores = running.stores();
    assert!(
        stores.len() >= 15
            && !stores
                .iter()
                .any(|store| store.slug == "fixtures" || store.slug == "graphql")
    );
    for store in &stores {
        let expected = recorded(&folder.join(&store.slug));
        assert_eq!(store.products, expected.len() as u64);
        assert!(served(store, 250).await == expected, "{}", store.slug);
    }
    let store = running.store("blue-tokai").unwrap();
    assert!(served(&store, 7).await == recorded(&folder.join("blue-tokai")));
    let meta = get(&store, "/meta.json").await.json();
    assert_eq!(meta["name"], "Blue Tokai");
    assert_eq!(meta["myshopify_domain"], "blue-tokai.myshopify.com");
    assert_eq!(
        (&meta["currency"], &meta["published_products_count"]),
        (&"INR".into(), &95.into())
    );
}

#[tokio::test]
async fn recorded_products_have_all_their_views() {
    let Some(folder) = recordings("recorded") else { return };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder)))
        .await
        .unwrap();
    for store in running.stores() {
        for product in get(&store, "/products.json?limit=2").await.json()["products"]
            .as_array()
            .unwrap()
        {
            let handle = product["handle"].as_str().unwrap();
            let script = get(&store, &format!("/products/{handle}.js")).await.json();
            assert_eq!(script["id"], product["id"], "{} {handle}", store.slug);
            let detail = get(&store, &format!("/products/{handle}.json")).await.json();
            assert_eq!(detail["product"]["id"], product["id"]);
            assert_eq!(get(&store, &format!("/products/{handle}")).await.status, 200);
        }
    }
}

#[tokio::test]
async fn stores_described_by_another_meta_keep_their_name_and_currency() {
    let Some(folder) = recordings("relevance/homedepot/stores") else {
        return;
    };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder.clone())))
        .await
        .unwrap();
    assert_eq!(running.stores().len(), 40);
    let store = running.store("brand-13").unwrap();
    assert_eq!((store.name.as_str(), store.currency.as_str()), ("Brand 13", "USD"));
    assert_eq!(
        served(&store, 250).await.len(),
        recorded(&folder.join("brand-13")).len()
    );
    let meta = get(&store, "/meta.json").await.json();
    assert_eq!(meta["domain"], store.domain.as_str());
    assert_eq!(meta["country"], "US");
}

/// Folder that is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("haat-emulator-{}-{name}", std::process::id()));
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Self(path)
    }

    async fn start(&self) -> Result<RunningStores, EmulatorError> {
        Emulator::start(EmulatorConfig::new(Source::Recorded(self.0.clone()))).await
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn page(ids: &[u64]) -> String {
    let products: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{ "id" : {id}, "price": 1.10 }}"#))
        .collect();
    format!(r#"{{"products": [{}]}}"#, products.join(", "))
}

#[tokio::test]
async fn pages_stand_in_the_order_of_their_numbers_and_repetitions_stay() {
    let meta = r#"{"id":58,"name":"DaviDan","currency":"MDL","domain":"davidan.md","url":"https:\/\/davidan.md",
        "myshopify_domain":"ladanutmd.myshopify.com","ships_to_countries":["MD"]}"#;
    let folder = Folder::new(
        "order",
        &[
            ("Shop_One/products-10.json", &page(&[5, 1])),
            ("Shop_One/products-2.json", &page(&[3, 4])),
            ("Shop_One/products.json", &page(&[1, 2])),
            ("Shop_One/products-11.json", "{\"products\": []}"),
            ("davidan/products-2.json", &page(&[9])),
            ("davidan/meta.json", meta),
            ("notes/readme.txt", "no store"),
            ("stray.json", "{}"),
        ],
    );
    let running = folder.start().await.unwrap();
    let stores = running.stores();
    assert_eq!(
        stores.iter().map(|store| store.slug.as_str()).collect::<Vec<_>>(),
        ["shop-one", "davidan"]
    );
    let body = get(&stores[0], "/products.json").await.text();
    let spaced = |ids: &[u64]| {
        let products: Vec<String> = ids
            .iter()
            .map(|id| format!(r#"{{ "id" : {id}, "price": 1.10 }}"#))
            .collect();
        format!("{{\"products\":[{}]}}", products.join(","))
    };
    assert_eq!(body, spaced(&[1, 2, 3, 4, 5, 1]));
    let meta = get(&stores[1], "/meta.json").await.json();
    assert_eq!(
        (&meta["id"], &meta["currency"], &meta["ships_to_countries"][0]),
        (&58.into(), &"MDL".into(), &"MD".into())
    );
    assert_eq!(meta["myshopify_domain"], "ladanutmd.myshopify.com");
    assert_eq!(meta["url"], stores[1].base_url.as_str());
}

#[tokio::test]
async fn a_malformed_recording_is_named() {
    let folder = Folder::new("malformed", &[("a/products.json", "{\"products\": [{]}")]);
    let error = folder.start().await.unwrap_err();
    assert!(
        matches!(&error, EmulatorError::Malformed { file, .. } if file.ends_with("a/products.json")),
        "{error}"
    );
    let empty = Folder::new("empty", &[("a/other.json", "{}")]);
    assert!(matches!(
        empty.start().await.unwrap_err(),
        EmulatorError::NoStores { .. }
    ));
    let absent = Folder(PathBuf::from("/nonexistent/recordings"));
    assert!(matches!(
        absent.start().await.unwrap_err(),
        EmulatorError::Folder { .. }
    ));
}

#[tokio::test]
async fn recorded_stores_change_with_the_epochs_too() {
    let Some(folder) = recordings("recorded") else { return };
    let running = Emulator::start(EmulatorConfig::new(Source::Recorded(folder.clone())))
        .await
        .unwrap();
    let store = running.store("stock-outlet").unwrap();
    let before = served(&store, 250).await;
    running.advance(4);
    let after = served(&store, 250).await;
    assert!(after.len() < before.len() && after.len() > before.len() * 8 / 10);
    let same = after.iter().filter(|product| before.contains(product)).count();
    assert!(same > after.len() / 3 && same < after.len());
    assert!(
        after
            .iter()
            .all(|product| serde_json::from_str::<Value>(product).is_ok())
    );
    running.advance(0);
    assert!(served(&store, 250).await == before);
}

#[tokio::test]
async fn recorded_stores_can_go_wrong_too() {
    let folder = Folder::new("wrong", &[("a/products.json", &page(&[1, 2]))]);
    let running = folder.start().await.unwrap();
    let store = running.store("a").unwrap();
    running.set_fault("a", emulator::Fault::EndlessPages).unwrap();
    let products = get(&store, "/products.json?limit=250&page=900").await.json();
    assert_eq!(products["products"].as_array().unwrap().len(), 250);
}
