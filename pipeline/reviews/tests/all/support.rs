use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_lake::{AsOf, Lake, LakeConfig, TableName};
use data_model::{Clock, ReviewWidget, StoreHost, Timestamp};
use data_storage::Storage;
use emulator::{Emulator, EmulatorConfig, ReviewsTruth, RunningStores, Source, StoreAddress};
use futures::TryStreamExt;
use kit::ShiftedClock;
use pipeline_crawl::{NewBrand, NoProgress, Registry};
use pipeline_refresh::{OtherCrawls, RefreshConfig, RefreshDeps, RunOptions, refresh};
use pipeline_reviews::{
    BrandReviews, RereadReviews, ReviewsConfig, ReviewsOptions, ReviewsReport, Widgets, refresh_reviews, reread_reviews,
};
use pipeline_task::{RereadOptions, StoreDeps};
use storefront::{Storefront, StorefrontConfig};

/// A review for the comparison with the truth: the app's id, product, stars, author, headline, text, and whether it is
/// verified.
pub(crate) type ExpectedReview = (String, u64, u8, Option<String>, Option<String>, String, Option<bool>);

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct StoreReviews {
    pub(crate) reviews: BTreeSet<ExpectedReview>,
    /// Number of ratings and average by product.
    pub(crate) ratings: BTreeMap<u64, (u32, f64)>,
}

/// Ten emulated stores that were crawled: two for each app and two without an app.
pub(crate) struct Market {
    pub(crate) running: RunningStores,
    pub(crate) storage: Storage,
    clock: Arc<ShiftedClock>,
    pub(crate) config: ReviewsConfig,
    pub(crate) storefront: StorefrontConfig,
}

impl Market {
    pub(crate) async fn open() -> Self {
        let source = Source::Generated {
            products: 200,
            stores: 10,
            seed: 7,
        };
        let emulated = EmulatorConfig {
            widgets: true,
            ..EmulatorConfig::new(source)
        };
        let running = Emulator::start(emulated).await.unwrap();
        let (storage, clock) = (Storage::memory(), ShiftedClock::new());
        let brands: Vec<_> = running
            .stores()
            .into_iter()
            .map(|store| NewBrand {
                store: Some(store.myshopify_domain.parse().unwrap()),
                name: Some(store.name),
                ..NewBrand::at(store.base_url.parse().unwrap())
            })
            .collect();
        let mut registry = Registry::load(&storage).await.unwrap();
        registry.add(&storage, &brands, clock.now()).await.unwrap();
        let url = |widget| running.widget_url(widget).unwrap();
        let market = Self {
            config: ReviewsConfig {
                judgeme_url: url(ReviewWidget::Judgeme),
                yotpo_url: url(ReviewWidget::Yotpo),
                stamped_url: url(ReviewWidget::Stamped),
                okendo_url: url(ReviewWidget::Okendo),
                rate_start_per_s: f64::INFINITY,
                ..ReviewsConfig::default()
            },
            storefront: StorefrontConfig {
                retries_max: 0,
                ..StorefrontConfig::loopback()
            },
            running,
            storage,
            clock,
        };
        let deps = RefreshDeps {
            stores: market.deps().await,
            others: OtherCrawls::Absent,
            progress: Arc::new(NoProgress),
        };
        Box::pin(refresh(&RunOptions::default(), &RefreshConfig::default(), &deps))
            .await
            .unwrap();
        market
    }

    /// Opens a market in which the passing of time causes no new check of a store and no new reading of a list.
    pub(crate) async fn undated() -> Self {
        let mut market = Self::open().await;
        (market.config.look_after_s, market.config.sweep_after_s) = (u64::MAX, u64::MAX);
        market
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    fn storefront(&self) -> Storefront {
        Storefront::new(self.storefront.clone(), self.clock()).unwrap()
    }

    pub(crate) fn later(&self, hours: i64) {
        self.clock.advance_ms(hours * 3_600_000);
    }

    pub(crate) async fn lake(&self) -> Lake {
        let config = LakeConfig {
            buckets: 2,
            ..LakeConfig::default()
        };
        Lake::open(self.storage.child("lake"), config, self.clock())
            .await
            .unwrap()
    }

    pub(crate) fn of(&self, widget: ReviewWidget) -> (StoreAddress, ReviewsTruth) {
        let with = |store: StoreAddress| Some((store.clone(), self.running.reviews(&store.slug).unwrap()?));
        let mut stores = self.running.stores().into_iter().filter_map(with);
        stores.find(|(_, truth)| truth.widget == widget).unwrap()
    }

    /// Runs a refresh one day later, with a client that has no state of the hosts.
    pub(crate) async fn run(&self) -> ReviewsReport {
        self.run_with(&ReviewsOptions::default()).await
    }

    pub(crate) async fn run_with(&self, options: &ReviewsOptions) -> ReviewsReport {
        self.later(25);
        let widgets = Widgets::new(self.config.clone(), &self.storefront, self.clock()).unwrap();
        let refreshed = refresh_reviews(options, &self.deps().await, &widgets).await;
        refreshed.unwrap()
    }

    pub(crate) async fn reread(&self, options: &RereadOptions) -> RereadReviews {
        reread_reviews(options, &self.deps().await).await.unwrap()
    }

    async fn deps(&self) -> StoreDeps {
        StoreDeps::new(self.storage.clone(), self.lake().await, self.storefront(), self.clock())
    }

    pub(crate) async fn restore(&self, moment: Timestamp) {
        let tables = TableName::WIDGETS.into_iter().collect();
        let as_of = AsOf::Timestamp(moment);
        self.lake().await.restore(&tables, &as_of, false).await.unwrap();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) async fn all_held(&self) -> BTreeMap<String, StoreReviews> {
        let slugs: BTreeMap<StoreHost, String> = self
            .running
            .stores()
            .into_iter()
            .map(|store| (store.myshopify_domain.parse().unwrap(), store.slug))
            .collect();
        let (snapshot, hosts) = (
            self.lake().await.snapshot().await.unwrap(),
            slugs.keys().cloned().collect(),
        );
        let mut reviews = snapshot.widget_reviews(&hosts).await.unwrap();
        let mut ratings = snapshot.widget_ratings(&hosts).await.unwrap();
        let held = slugs.into_iter().map(|(host, slug)| {
            let reviews = reviews.remove(&host).into_iter().flatten().map(|one| {
                let review = one.review;
                let stars = review.rating as u8;
                (
                    one.id,
                    one.product,
                    stars,
                    review.author,
                    review.title,
                    review.body,
                    one.is_verified,
                )
            });
            let ratings = ratings.remove(&host).into_iter().flatten();
            let held = StoreReviews {
                reviews: reviews.collect(),
                ratings: ratings.map(|one| (one.product, (one.count, one.average))).collect(),
            };
            (slug, held)
        });
        held.collect()
    }

    /// Returns subject, reason and excerpt of each record.
    pub(crate) async fn refused(&self, store: &StoreAddress) -> Vec<(String, String, String)> {
        let host: data_model::StoreHost = store.myshopify_domain.parse().unwrap();
        let snapshot = self.lake().await.snapshot().await.unwrap();
        let refused = snapshot
            .refused_reviews(&[host.clone()].into())
            .await
            .unwrap()
            .remove(&host);
        let refused = refused.into_iter().flatten();
        refused.map(|one| (one.subject, one.reason, one.excerpt)).collect()
    }

    pub(crate) async fn landed(&self, store: &StoreAddress) -> usize {
        let prefix = object_store::path::Path::from(format!("reviews/{}", store.myshopify_domain));
        let listed: Vec<_> = self.storage.store().list(Some(&prefix)).try_collect().await.unwrap();
        listed.len()
    }

    pub(crate) async fn held(&self, store: &StoreAddress) -> StoreReviews {
        self.all_held().await.remove(&store.slug).unwrap()
    }

    /// Compares the lake with the true reviews of every store.
    pub(crate) async fn check(&self) {
        let mut held = self.all_held().await;
        for store in self.running.stores() {
            let truth = self.running.reviews(&store.slug).unwrap();
            let StoreReviews { reviews, ratings } = held.remove(&store.slug).unwrap();
            let Some(truth) = truth else {
                assert!(reviews.is_empty() && ratings.is_empty(), "{}", store.slug);
                continue;
            };
            let wanted = truth.reviews.into_iter().map(|one| {
                let title = Some(one.title).filter(|title| !title.is_empty());
                (
                    one.id,
                    one.product,
                    one.stars,
                    Some(one.author),
                    title,
                    one.text,
                    Some(one.verified),
                )
            });
            assert_eq!(reviews, wanted.collect(), "{} of {}", truth.widget, store.slug);
            assert_eq!(ratings, truth.ratings, "{} of {}", truth.widget, store.slug);
        }
    }

    /// Returns the number of requests, without those for robots.txt.
    pub(crate) fn asked(&self) -> u64 {
        let of = |widget| {
            let asked = self.running.widget_requests(widget);
            asked.count() - asked.count_of("/robots.txt")
        };
        ReviewWidget::ALL.into_iter().map(of).sum()
    }

    pub(crate) async fn versions(&self) -> BTreeMap<String, u64> {
        self.lake().await.snapshot().await.unwrap().versions().clone()
    }
}

pub(crate) fn one<'a>(report: &'a ReviewsReport, store: &StoreAddress) -> &'a BrandReviews {
    let mut asked = report.asked.iter();
    asked.find(|one| one.brand.as_str() == store.slug).unwrap()
}
