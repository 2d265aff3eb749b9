//! Tests the limits that all stores share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pipeline_crawl::{CrawlJob, NoProgress, PageReader, scan_only};
use tokio_util::sync::CancellationToken;

use crate::support::{Rig, Shop};

#[tokio::test(flavor = "multi_thread")]
async fn no_more_pages_are_understood_at_once_than_there_is_room_for() {
    let mut rig = Rig::with(Shop::of(1..=6)).await;
    rig.config.scan_bytes_max = 1;
    let (crawler, now, most) = (rig.crawler(), AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&most);
    let reader: Arc<PageReader<()>> = Arc::new(move |_, body| {
        counted.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(20));
        now.fetch_sub(1, Ordering::SeqCst);
        scan_only(body)
    });
    let crawls = ["r1", "r2", "r3"].map(|run| run.parse().unwrap());
    let crawls = crawls.each_ref().map(|run| {
        let job = CrawlJob {
            run,
            brand: &rig.brand,
            known: None,
            anew: false,
            products_before: None,
            shown: None,
            context: "v1",
        };
        let (crawler, reader) = (&crawler, &reader);
        async move {
            let never = CancellationToken::new();
            let crawled = crawler.crawl_store(job, reader, &NoProgress, &never).await;
            crawled.map(|crawled| crawled.crawl.products())
        }
    });
    for products in futures::future::join_all(crawls).await {
        assert_eq!(products.unwrap(), 6);
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
}
