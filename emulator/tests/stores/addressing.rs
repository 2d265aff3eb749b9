use emulator::{Addressing, Emulator, EmulatorConfig, EmulatorError, Source};

use super::*;

fn config(addressing: Addressing, stores: u32) -> EmulatorConfig {
    let source = Source::Generated {
        products: u64::from(stores) * 2,
        stores,
        seed: 1,
    };
    EmulatorConfig {
        addressing,
        ..EmulatorConfig::new(source)
    }
}

async fn name_at(store: &StoreAddress) -> Value {
    get(store, "/meta.json").await.json()["name"].clone()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn five_thousand_stores_share_one_socket_and_each_has_its_own_address() {
    let running = Emulator::start(config(Addressing::IpPerStore, 5_000)).await.unwrap();
    let stores = running.stores();
    for nth in [0, 1, 249, 250, 4_999] {
        assert_eq!(name_at(&stores[nth]).await, stores[nth].name);
    }
    let nobody = format!("http://127.0.0.1:{}/meta.json", stores[0].connect.port());
    assert_eq!(client().get(nobody).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_port_per_store_works_everywhere() {
    let running = Emulator::start(config(Addressing::PortPerStore, 3)).await.unwrap();
    for store in running.stores() {
        assert!(store.base_url.starts_with("http://127.0.0.1:"));
        assert_eq!(name_at(&store).await, store.name);
    }
}

#[tokio::test]
async fn a_host_per_store_is_told_apart_by_the_host_header() {
    let running = Emulator::start(config(Addressing::HostPerStore, 3)).await.unwrap();
    for store in running.stores() {
        let host = store.domain.split(':').next().unwrap();
        let client = reqwest::Client::builder()
            .no_proxy()
            .resolve(host, store.connect)
            .build()
            .unwrap();
        let meta = client
            .get(format!("{}/meta.json", store.base_url))
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&meta).unwrap()["name"], store.name);
    }
}

#[tokio::test]
async fn what_cannot_be_emulated_is_refused() {
    let started = Emulator::start(config(Addressing::PortPerStore, 501)).await;
    assert!(matches!(started, Err(EmulatorError::TooMany { what: "stores", .. })));
    let open = EmulatorConfig {
        bind: "0.0.0.0:0".parse().unwrap(),
        ..config(Addressing::HostPerStore, 1)
    };
    assert!(matches!(
        Emulator::start(open).await,
        Err(EmulatorError::NotLoopback { .. })
    ));
    let none = Emulator::start(config(Addressing::default(), 0)).await;
    assert!(matches!(none, Err(EmulatorError::NoStores { .. })));
    let running = market(2, 1).await;
    assert!(matches!(
        running.set_fault("nobody", None),
        Err(EmulatorError::UnknownStore { .. })
    ));
}

#[tokio::test]
async fn nothing_listens_after_the_shutdown() {
    let (running, store) = store(3).await;
    assert_eq!(get(&store, "/meta.json").await.status, 200);
    running.shutdown().await;
    assert!(client().get(&store.base_url).send().await.unwrap_err().is_connect());
}

#[tokio::test]
async fn connections_above_the_bound_are_closed_after_an_answer() {
    let config = EmulatorConfig {
        keep_alive_max: 0,
        ..config(Addressing::default(), 1)
    };
    let running = Emulator::start(config).await.unwrap();
    assert_eq!(
        get(&running.stores()[0], "/meta.json").await.header("connection"),
        "close"
    );
    let (_running, store) = store(1).await;
    assert_eq!(get(&store, "/meta.json").await.header("connection"), "");
}
