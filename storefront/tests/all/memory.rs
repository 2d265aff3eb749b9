//! Tests of the memory limit for response bodies of all stores together.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, StatusCode};
use storefront::{
    MemoryBudget, Reservation, StoreError, Storefront, Transport, TransportError, TransportRequest, TransportResponse,
};
use tokio::time::Instant;

use crate::support::{clock, page, unpaced};

/// Transport whose responses have as many mebibytes as the path states. The body of `/withheld…` never ends.
#[derive(Debug)]
struct Heavy;

#[async_trait]
impl Transport for Heavy {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse, TransportError> {
        let path = request.url.path();
        let blocks = path
            .trim_matches(|sign: char| !sign.is_ascii_digit())
            .parse()
            .unwrap_or(0);
        let body = futures::stream::iter((0..blocks).map(|_| Ok(Bytes::from(vec![b' '; 1 << 20]))));
        let body = if path.starts_with("/withheld") {
            body.chain(futures::stream::pending()).boxed()
        } else {
            body.boxed()
        };
        Ok(TransportResponse {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body,
        })
    }
}

fn storefront(memory: &MemoryBudget) -> Storefront {
    let config = storefront::StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    Storefront::with_transport(config, clock(), Arc::new(Heavy))
        .unwrap()
        .with_memory(memory.clone())
}

async fn get(front: &Storefront, nth: usize, path: &str) -> Result<storefront::Page, StoreError> {
    let store = front.store(&format!("https://brand-{nth}.example").parse().unwrap())?;
    store.get(path, storefront::Accept::Any).await.map(page)
}

#[tokio::test(start_paused = true)]
async fn large_pages_wait_for_each_other_and_all_of_them_come() {
    let memory = MemoryBudget::new(64 << 20, 16);
    let front = storefront(&memory);
    let pages = (0..16).map(|nth| {
        let front = &front;
        async move {
            let page = get(front, nth, "/4").await.unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
            page.bytes.len()
        }
    });
    assert_eq!(futures::future::join_all(pages).await, [4 << 20; 16]);
    let usage = memory.usage();
    assert!(usage.waits > 0 && usage.reserved_bytes_peak <= 64 << 20, "{usage:?}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_fits_fails_by_the_name_of_what_bounds_it() {
    let memory = MemoryBudget::new(64 << 20, 16);
    let error = get(&storefront(&memory), 1, "/12").await.unwrap_err();
    assert!(matches!(error, StoreError::OverBudget { .. }), "{error:?}");
    assert!(error.to_string().contains("refresh.memory_bytes_max"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn withheld_pages_take_no_more_than_there_is_and_hold_up_no_small_one() {
    let memory = MemoryBudget::new(64 << 20, 16);
    let front = storefront(&memory);
    let withheld = (0..15).map(|nth| get(&front, nth, "/withheld/4"));
    let small = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let begun = Instant::now();
        get(&front, 99, "/small").await.unwrap();
        begun.elapsed()
    };
    let (withheld, took) = tokio::join!(futures::future::join_all(withheld), small);
    assert!(took < Duration::from_secs(1), "{took:?}");
    for outcome in withheld {
        assert!(matches!(outcome, Err(StoreError::Timeout { .. })), "{outcome:?}");
    }
    let usage = memory.usage();
    assert!(usage.reserved_bytes_peak <= 16 << 20, "{usage:?}");
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_page_waits_for_memory_is_not_its_stores() {
    let memory = MemoryBudget::new(64 << 20, 16);
    let front = storefront(&memory);
    // The page is kept for longer than any request timeout.
    let held = get(&front, 1, "/4").await.unwrap();
    let waiting = get(&front, 2, "/4");
    let later = async {
        tokio::time::sleep(Duration::from_secs(300)).await;
        drop(held);
    };
    let (page, ()) = tokio::join!(waiting, later);
    assert_eq!(page.unwrap().bytes.len(), 4 << 20);
}

#[tokio::test]
async fn whoever_keeps_rows_learns_that_somebody_waits_for_them() {
    let memory = MemoryBudget::new(64 << 20, 16);
    let told = memory.rows_waiting();
    let kept = memory.rows(memory.rows_bytes_max(), None).await.unwrap();
    assert_eq!(*told.borrow(), 0);
    let mut more = std::pin::pin!(memory.rows(1 << 20, None));
    assert!(futures::poll!(more.as_mut()).is_pending());
    assert_eq!(*told.borrow(), 1);
    drop(kept);
    more.await.unwrap();
    assert_eq!(*told.borrow(), 0);
}

/// The store has many small pages, each slightly larger than whole permits.
#[tokio::test]
async fn a_store_that_holds_all_the_room_is_told_so_and_does_not_wait_for_itself() {
    let memory = MemoryBudget::new(64 << 20, 4);
    let page = (16 << 10) + 1;
    let mut held: Option<Reservation> = None;
    let mut pages = 0_u64;
    let over = loop {
        let reserved = tokio::time::timeout(Duration::from_secs(60), memory.rows(page, held.as_ref())).await;
        match reserved.expect("waits for itself") {
            Ok(more) => match &mut held {
                Some(held) => held.merge(more),
                none => *none = Some(more),
            },
            Err(over) => break over,
        }
        pages += 1;
    };
    assert_eq!(over.bytes_max, memory.rows_bytes_max());
    // Rounding pages up to whole permits costs almost no memory.
    assert!((pages + 2) * page > memory.rows_bytes_max(), "{pages}");
    drop(held);
    assert!(memory.rows(memory.rows_bytes_max(), None).await.is_ok());
}
