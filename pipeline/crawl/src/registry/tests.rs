use data_storage::Storage;

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn new(url: &str, name: &str) -> NewBrand {
    NewBrand {
        name: Some(name.into()),
        ..NewBrand::at(url.parse().unwrap())
    }
}

#[tokio::test]
async fn a_crawl_of_nobody_is_refused_and_one_of_a_brand_that_nobody_knows() {
    let storage = Storage::memory();
    let mut registry = Registry::load(&storage).await.unwrap();
    let (tea, other) = ("tea".parse().unwrap(), "other".parse().unwrap());
    assert_eq!(registry.check_named([]), Err(NotRegistered::Any));
    registry
        .add(&storage, &[new("https://tea.example", "Tea")], NOW)
        .await
        .unwrap();
    assert_eq!(registry.check_named([&tea]), Ok(()));
    assert_eq!(
        registry.check_named([&tea, &other]),
        Err(NotRegistered::Brand(other.clone()))
    );
}

fn slugs(registry: &Registry) -> Vec<&str> {
    registry.brands().iter().map(|brand| brand.slug.as_str()).collect()
}

#[tokio::test]
async fn brands_are_kept_in_one_event_for_each_batch() {
    let storage = Storage::memory();
    let mut registry = Registry::load(&storage).await.unwrap();
    let batch = [
        new("https://Tea.example/?x=1#y", "Tea"),
        new("http://user:pw@127.0.0.1:8080/shop/", "Tea"),
    ];
    let additions = registry.add(&storage, &batch, NOW).await.unwrap();
    assert!(additions.iter().all(|addition| matches!(addition, Addition::Added(_))));
    assert_eq!(registry.last_seq, 1);
    let loaded = Registry::load(&storage).await.unwrap();
    assert_eq!(loaded, registry);
    let seen: Vec<_> = loaded
        .brands()
        .iter()
        .map(|brand| {
            format!(
                "{} {} {} {}",
                brand.slug,
                brand.store,
                brand.domain,
                brand.base_url_text()
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            "tea tea.example tea.example https://tea.example",
            "tea-127 127.0.0.1:8080 127.0.0.1:8080 http://127.0.0.1:8080/shop"
        ]
    );
}

#[tokio::test]
async fn a_brand_is_known_again_by_its_address_and_keeps_its_key_and_its_slug() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    registry
        .add(&storage, &[new("https://tea.example", "Tea")], NOW)
        .await
        .unwrap();
    let same = [new("https://tea.example", "Tea"), new("https://tea.example/", "Tea")];
    let again = registry.add(&storage, &same, NOW).await.unwrap();
    assert!(
        again.iter().all(|addition| matches!(addition, Addition::Unchanged(_))),
        "{again:?}"
    );
    assert_eq!(registry.last_seq, 1, "nothing to change writes nothing");

    let store = Some("tea.myshopify.com".parse().unwrap());
    let changed = NewBrand {
        store,
        ..new("http://tea.example", "Chai")
    };
    let changed = registry.add(&storage, &[changed], NOW.plus_millis(5)).await.unwrap();
    let Addition::Updated(brand) = &changed[0] else {
        panic!("{changed:?}")
    };
    assert_eq!(
        (brand.slug.as_str(), brand.store.as_str(), brand.name.as_str()),
        ("tea", "tea.example", "Chai")
    );
    assert_eq!((brand.base_url_text(), brand.added_at), ("http://tea.example", NOW));
}

#[tokio::test]
async fn a_store_cannot_take_a_brand_over_by_claiming_its_permanent_host() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let at = |url: &str| NewBrand {
        store: Some("tea.myshopify.com".parse().unwrap()),
        ..new(url, "Tea")
    };
    registry.add(&storage, &[at("https://tea.example")], NOW).await.unwrap();
    let claimed = registry
        .add(&storage, &[at("https://evil.example"), at("https://evil.example")], NOW)
        .await
        .unwrap();
    assert!(
        claimed
            .iter()
            .all(|one| matches!(one, Addition::Taken(holder) if holder.domain == "tea.example"))
    );
    assert_eq!(
        Registry::load(&storage).await.unwrap().brands()[0].domain,
        "tea.example"
    );

    // The operator removes a moved brand and adds it at its new address.
    registry.remove(&storage, &"tea".parse().unwrap(), NOW).await.unwrap();
    let moved = registry
        .add(&storage, &[at("https://chai.example")], NOW)
        .await
        .unwrap();
    assert!(matches!(&moved[0], Addition::Restored(brand) if brand.slug.as_str() == "tea"));
}

#[tokio::test]
async fn a_store_whose_permanent_host_was_renamed_keeps_its_brand() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let at = |url: &str, host: &str, shop_id: Option<u64>| NewBrand {
        store: Some(host.parse().unwrap()),
        shop_id,
        ..new(url, "Tea")
    };
    let first = at("https://tea.example", "tea.myshopify.com", Some(7));
    registry.add(&storage, &[first], NOW).await.unwrap();
    let mut add = async |brand: NewBrand| registry.add(&storage, &[brand], NOW).await.unwrap().remove(0);

    // Another id means another store, even if the operator says that the brand moved.
    let other = NewBrand {
        moved: true,
        ..at("https://tea.example", "chai.myshopify.com", Some(8))
    };
    assert!(matches!(add(other).await, Addition::AnotherStore(_)));
    let renamed = add(at("https://tea.example", "chai.myshopify.com", Some(7))).await;
    let Addition::Updated(brand) = &renamed else {
        panic!("{renamed:?}")
    };
    assert_eq!(
        (brand.store.as_str(), brand.slug.as_str()),
        ("tea.myshopify.com", "tea")
    );

    // From now on, the new host identifies the brand, or its id if the operator says that it moved.
    let elsewhere = add(at("https://chai.example", "chai.myshopify.com", None)).await;
    assert!(
        matches!(&elsewhere, Addition::Taken(holder) if holder.domain == "tea.example"),
        "{elsewhere:?}"
    );
    let moved = NewBrand {
        moved: true,
        ..at("https://chai.example", "cha.myshopify.com", Some(7))
    };
    let moved = add(moved).await;
    let Addition::Updated(brand) = &moved else {
        panic!("{moved:?}")
    };
    assert_eq!(
        (brand.store.as_str(), brand.domain.as_str()),
        ("tea.myshopify.com", "chai.example")
    );
    assert_eq!(Registry::load(&storage).await.unwrap().brands(), [brand]);
}

#[tokio::test]
async fn a_store_that_was_added_before_it_described_itself_is_no_second_brand_later() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let brands = [new("https://tea.example", "Tea"), new("https://shop.example", "Shop")];
    registry.add(&storage, &brands, NOW).await.unwrap();
    let stated = registry.brands().into_iter().rev().map(|brand| {
        let facts = StoreFacts {
            permanent_host: "tea.myshopify.com".parse().ok(),
            ..StoreFacts::default()
        };
        let store = brand.store.clone();
        StatedFacts { store, facts }
    });
    let stated: Vec<_> = stated.collect();
    for _ in 0..2 {
        let others = registry.identify(&storage, &stated, NOW).await.unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|(store, holder)| (store.as_str(), holder.as_str()))
            .collect();
        assert_eq!(others, [("shop.example", "tea")]);
    }
    let again = NewBrand {
        store: "tea.myshopify.com".parse().ok(),
        ..new("https://tea.myshopify.com", "Tea")
    };
    let again = registry.add(&storage, &[again], NOW).await.unwrap();
    assert!(
        matches!(&again[0], Addition::Taken(holder) if holder.domain == "tea.example"),
        "{again:?}"
    );
}

#[tokio::test]
async fn a_brand_is_not_renamed_after_another_store_that_answers_at_its_address_now() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let at = |url: &str, name: &str, store: &str| NewBrand {
        store: Some(store.parse().unwrap()),
        ..new(url, name)
    };
    let tea = at("https://tea.example", "Tea", "tea.myshopify.com");
    registry.add(&storage, std::slice::from_ref(&tea), NOW).await.unwrap();
    let before = registry.clone();
    for moved in [false, true] {
        let other = NewBrand {
            moved,
            currency: Some("USD".parse().unwrap()),
            ..at("https://tea.example", "Coffee", "coffee.myshopify.com")
        };
        let additions = registry.add(&storage, &[other.clone(), other], NOW).await.unwrap();
        assert!(
            additions
                .iter()
                .all(|one| matches!(one, Addition::AnotherStore(brand) if brand.name == "Tea")),
            "{additions:?}"
        );
    }
    assert_eq!(registry, before);
    assert_eq!(Registry::load(&storage).await.unwrap(), before);
    // The same store is added with its facts, and the same address without any.
    let again = registry
        .add(&storage, &[tea, new("https://tea.example", "Tea")], NOW)
        .await
        .unwrap();
    assert!(
        again.iter().all(|one| matches!(one, Addition::Unchanged(_))),
        "{again:?}"
    );
    let own = "https://mate.myshopify.com";
    registry.add(&storage, &[new(own, "Mate")], NOW).await.unwrap();
    let other = registry
        .add(&storage, &[at(own, "Yerba", "yerba.myshopify.com")], NOW)
        .await
        .unwrap();
    assert!(matches!(&other[0], Addition::AnotherStore(_)), "{other:?}");

    // After the brand is removed, the other store can be registered as a separate brand.
    registry.remove(&storage, &"tea".parse().unwrap(), NOW).await.unwrap();
    let coffee = at("https://tea.example", "Coffee", "coffee.myshopify.com");
    let added = registry.add(&storage, &[coffee], NOW).await.unwrap();
    assert!(
        matches!(&added[0], Addition::Added(brand) if brand.slug.as_str() == "coffee"),
        "{added:?}"
    );
}

#[tokio::test]
async fn a_brand_that_moved_keeps_what_the_operator_gave() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let at = |url: &str| NewBrand {
        store: Some("tea.myshopify.com".parse().unwrap()),
        ..NewBrand::at(url.parse().unwrap())
    };
    let first = NewBrand {
        currency: Some("USD".parse().unwrap()),
        ..at("https://tea.example").named("The Tea House")
    };
    registry.add(&storage, &[first], NOW).await.unwrap();
    let later = Timestamp::from_micros(NOW.micros() + 1);
    let moved = NewBrand {
        name: Some("Chai".to_owned()),
        moved: true,
        ..at("https://chai.example")
    };
    let moved = registry.add(&storage, &[moved], later).await.unwrap();
    let [Addition::Updated(brand)] = moved.as_slice() else {
        panic!("{moved:?}");
    };
    assert_eq!(
        (
            brand.slug.as_str(),
            brand.name.as_str(),
            brand.domain.as_str(),
            brand.added_at
        ),
        ("the-tea-house", "The Tea House", "chai.example", NOW)
    );
    assert_eq!(
        (brand.name_pinned, brand.currency),
        (true, Some("USD".parse().unwrap()))
    );
    assert_eq!(Registry::load(&storage).await.unwrap().brands(), [brand]);
}

#[tokio::test]
async fn a_name_that_the_operator_gave_is_not_replaced_by_the_stores_own() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let address = || NewBrand::at("https://tea.example".parse().unwrap());
    registry
        .add(&storage, &[address().named("The Tea House")], NOW)
        .await
        .unwrap();
    let again = registry
        .add(&storage, &[new("https://tea.example", "TEA Pvt Ltd")], NOW)
        .await
        .unwrap();
    assert_eq!(again[0].brand().name, "The Tea House");
    let again = registry.add(&storage, &[address().named("Tea")], NOW).await.unwrap();
    assert_eq!(
        (again[0].brand().name.as_str(), again[0].brand().slug.as_str()),
        ("Tea", "the-tea-house")
    );
}

#[tokio::test]
async fn the_slug_of_a_removed_brand_is_given_to_no_other_and_back_to_itself() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    registry
        .add(&storage, &[new("https://tea.example", "Tea")], NOW)
        .await
        .unwrap();
    let tea = "tea".parse().unwrap();
    registry.remove(&storage, &tea, NOW).await.unwrap();
    assert!(registry.is_empty() && registry.brand(&tea).is_none());
    assert!(matches!(
        registry.remove(&storage, &tea, NOW).await,
        Err(RegistryError::Unknown(_))
    ));
    registry
        .add(&storage, &[new("https://other.example", "Tea")], NOW)
        .await
        .unwrap();
    let back = registry
        .add(&storage, &[new("https://tea.example", "Tea, again")], NOW)
        .await
        .unwrap();
    assert!(matches!(&back[0], Addition::Restored(brand) if brand.slug == tea));
    assert_eq!(slugs(&Registry::load(&storage).await.unwrap()), ["tea", "tea-other"]);
}

#[tokio::test]
async fn programs_that_add_at_the_same_time_lose_nothing_and_give_no_slug_twice() {
    let storage = Storage::memory();
    let adding: Vec<_> = (0..12)
        .map(|number| {
            let storage = storage.clone();
            tokio::spawn(async move {
                // Each registry starts empty and has not loaded the others' changes.
                let brand = new(&format!("https://shop{number}.example"), "Tea");
                Registry::default().add(&storage, &[brand], NOW).await.unwrap();
            })
        })
        .collect();
    for task in adding {
        task.await.unwrap();
    }
    let registry = Registry::load(&storage).await.unwrap();
    assert_eq!((registry.len(), registry.last_seq), (12, 12));
    let mut all = slugs(&registry);
    all.dedup();
    assert_eq!(all.len(), 12);
    assert!(all.contains(&"tea"));
}

#[tokio::test]
async fn an_address_that_is_none_changes_nothing() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    for wrong in [
        "ftp://tea.example",
        "data:text/plain,x",
        "file:///etc/passwd",
        "http://[::1]/",
    ] {
        let batch = [new("https://fine.example", "Fine"), new(wrong, "Wrong")];
        let refused = registry.add(&storage, &batch, NOW).await;
        assert!(
            matches!(refused, Err(RegistryError::Address(_))),
            "{wrong}: {refused:?}"
        );
    }
    assert!(Registry::load(&storage).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_that_is_another_brands_gets_the_domain_beside_it_unless_the_operator_gave_it() {
    let storage = Storage::memory();
    let mut registry = Registry::default();
    let batch = [
        new("https://kith.example", "Kith"),
        new("https://fake.example", "KITH"),
        new("https://other.example", "Ｋｉｔｈ"),
        new("https://kiths.example", "Kiths"),
    ];
    registry.add(&storage, &batch, NOW).await.unwrap();
    let later = [
        new("https://third.example", "ki\u{200d}th "),
        // Both are added again with the name that their store uses, and neither takes over the other.
        new("https://fake.example", "Kith"),
        new("https://kith.example", "Kith"),
        new("https://own.example", "x").named("kith"),
    ];
    registry.add(&storage, &later, NOW.plus_millis(5)).await.unwrap();
    let mut named: Vec<_> = registry
        .brands()
        .iter()
        .map(|brand| format!("{} {}", brand.domain, brand.name))
        .collect();
    named.sort();
    assert_eq!(
        named,
        [
            "fake.example Kith (fake.example)",
            "kith.example Kith",
            "kiths.example Kiths",
            "other.example Ｋｉｔｈ (other.example)",
            "own.example kith",
            "third.example ki\u{200d}th (third.example)",
        ]
    );
}
