use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use data_model::{BrandSlug, StoredShop};
use url::Url;

use crate::catalogue::{CatalogueError, whole};

/// Key by which a brand is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ShopKey {
    /// Slug of the brand.
    Slug(BrandSlug),
    /// Host of the brand's store, in any spelling.
    Domain(String),
}

/// Source of the known brands, with the data that is needed to test codes at their stores.
#[async_trait]
pub trait Shops: Send + Sync + fmt::Debug {
    /// Returns the brand, or `None` if the current release has no such brand. No store is queried.
    ///
    /// # Errors
    /// Returns a [`CatalogueError`].
    async fn shop(&self, key: &ShopKey) -> Result<Option<StoredShop>, CatalogueError>;
}

/// Brands from a query server's internal listener.
#[derive(Debug, Clone)]
pub struct HttpShops {
    client: reqwest::Client,
    shop: Url,
}

impl HttpShops {
    /// Builds a client for the internal listener at `base`. Each request may take up to `timeout`. No request is sent
    /// yet.
    ///
    /// # Errors
    /// Fails if the address is invalid or the client cannot be built.
    pub fn new(base: &Url, timeout: Duration) -> Result<Self, CatalogueError> {
        let unreachable = |error: Box<dyn std::error::Error + Send + Sync>| CatalogueError::Unreachable(error);
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|error| unreachable(error.into()))?;
        let shop = base
            .join("/internal/v1/shop")
            .map_err(|error| unreachable(error.into()))?;
        Ok(Self { client, shop })
    }
}

#[async_trait]
impl Shops for HttpShops {
    async fn shop(&self, key: &ShopKey) -> Result<Option<StoredShop>, CatalogueError> {
        let mut url = self.shop.clone();
        match key {
            ShopKey::Slug(slug) => url.query_pairs_mut().append_pair("slug", slug.as_str()),
            ShopKey::Domain(domain) => url.query_pairs_mut().append_pair("domain", domain),
        };
        let sent = self.client.get(url).send().await;
        let response = sent.map_err(|error| CatalogueError::Unreachable(error.into()))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(None),
            503 => return Err(CatalogueError::NotReady),
            status => return Err(CatalogueError::Answer(format!("status {status}"))),
        }
        let bytes = whole(response).await?;
        let shop = serde_json::from_slice(&bytes);
        shop.map(Some)
            .map_err(|error| CatalogueError::Answer(error.to_string()))
    }
}
