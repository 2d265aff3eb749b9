//! Limits on many stores together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pipeline_crawl::{CrawlJob, NoProgress, PageReader, PageScan, ScanOnly, StoreFacts};
use pipeline_parse::ParseError;
use tokio_util::sync::CancellationToken;

use crate::support::{Rig, Shop};

/// Notes how many pages are understood at once at most.
#[derive(Debug, Default)]
struct PageCounter {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl PageReader for PageCounter {
    fn scan(&self, facts: &StoreFacts, sha256: &str, body: &[u8]) -> Result<PageScan, ParseError> {
        self.most
            .fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(20));
        self.now.fetch_sub(1, Ordering::SeqCst);
        ScanOnly.scan(facts, sha256, body)
    }

    fn forget(&self, _: &str) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_pages_are_understood_at_once_than_there_is_room_for() {
    let mut rig = Rig::with(Shop::of(1..=6)).await;
    rig.config.scan_bytes_max = 1;
    let (crawler, counting) = (rig.crawler(), Arc::new(PageCounter::default()));
    let reader: Arc<dyn PageReader> = Arc::<PageCounter>::clone(&counting);
    let crawls = ["r1", "r2", "r3"].map(|run| run.parse().unwrap());
    let crawls = crawls.each_ref().map(|run| {
        let job = CrawlJob {
            run,
            brand: &rig.brand,
            known: None,
            anew: false,
            products_before: None,
            context: "v1",
            reader: &reader,
        };
        let crawler = &crawler;
        async move {
            crawler
                .crawl_store(job, &NoProgress, &CancellationToken::new())
                .await
                .map(|crawl| crawl.products())
        }
    });
    for products in futures::future::join_all(crawls).await {
        assert_eq!(products.unwrap(), 6);
    }
    assert_eq!(counting.most.load(Ordering::SeqCst), 1);
}
