use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use data_model::{ErrorCode, ProductIdent, ResolvedProducts, StoredBrand};
use serde::Serialize;
use url::Url;

/// Source of stored products and of the stores that sell them. The gateway reads the catalogue only through this trait.
#[async_trait]
pub trait Catalogue: Send + Sync + fmt::Debug {
    /// Looks up at most 20 products, all in one release. Returns one entry for each ident, in the order of the idents.
    ///
    /// # Errors
    /// Returns a [`CatalogueError`].
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError>;

    /// Returns the brand with this slug or, if there is none, with this domain. Returns `None` if the release has
    /// neither.
    ///
    /// # Errors
    /// Returns a [`CatalogueError`]. A catalogue without brands always returns an error.
    async fn brand(&self, name: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        let _ = name;
        Err(CatalogueError::Answer(
            "this catalogue does not contain brands".to_owned(),
        ))
    }
}

/// Reasons why the catalogue does not respond.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// No release is open yet.
    #[error("no release is open yet")]
    NotReady,
    /// The catalogue cannot be reached.
    #[error("the query server does not answer")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The catalogue's response has an unexpected form.
    #[error("the query server's answer cannot be read: {0}")]
    Answer(String),
}

impl CatalogueError {
    /// Returns the error code for the caller: the catalogue is not ready yet, or an internal error.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::NotReady | Self::Unreachable(_) => ErrorCode::NotReady,
            Self::Answer(_) => ErrorCode::Internal,
        }
    }
}

/// Catalogue that is read from a query server's internal listener.
#[derive(Debug, Clone)]
pub struct HttpCatalogue {
    client: reqwest::Client,
    resolve: Url,
    brand: Url,
}

/// Maximum size of a response in bytes, enough for twenty products of 2,048 variants with their titles.
const ANSWER_BYTES_MAX: usize = 32 << 20;

#[derive(Serialize)]
struct Question {
    idents: Vec<String>,
}

impl HttpCatalogue {
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
        let at = |path| base.join(path).map_err(|error| unreachable(error.into()));
        Ok(Self {
            client,
            resolve: at("/internal/v1/resolve")?,
            brand: at("/internal/v1/brand")?,
        })
    }

    /// Returns the brand whose `slug` or `domain` (`by`) equals `name`.
    async fn named(&self, by: &str, name: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        let mut url = self.brand.clone();
        url.query_pairs_mut().append_pair(by, name);
        let sent = self.client.get(url).send().await;
        let response = sent.map_err(|error| CatalogueError::Unreachable(error.into()))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(None),
            503 => return Err(CatalogueError::NotReady),
            status => return Err(CatalogueError::Answer(format!("status {status}"))),
        }
        let brand = serde_json::from_slice(&whole(response).await?);
        brand.map_err(|error| CatalogueError::Answer(error.to_string()))
    }
}

/// Reads the body of a response. The size is limited.
pub(crate) async fn whole(mut response: reqwest::Response) -> Result<Vec<u8>, CatalogueError> {
    let mut bytes = Vec::new();
    let unreachable = |error: reqwest::Error| CatalogueError::Unreachable(error.into());
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(CatalogueError::Answer("too large".to_owned()));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[async_trait]
impl Catalogue for HttpCatalogue {
    async fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, CatalogueError> {
        let question = Question {
            idents: idents.iter().map(ToString::to_string).collect(),
        };
        let body = serde_json::to_vec(&question).map_err(|error| CatalogueError::Answer(error.to_string()))?;
        let sent = self
            .client
            .post(self.resolve.clone())
            .header("content-type", "application/json")
            .body(body)
            .send();
        let unreachable = |error: reqwest::Error| CatalogueError::Unreachable(error.into());
        let response = sent.await.map_err(unreachable)?;
        match response.status().as_u16() {
            200 => {}
            503 => return Err(CatalogueError::NotReady),
            status => return Err(CatalogueError::Answer(format!("status {status}"))),
        }
        let bytes = whole(response).await?;
        let resolved: ResolvedProducts =
            serde_json::from_slice(&bytes).map_err(|error| CatalogueError::Answer(error.to_string()))?;
        let known = |product: &data_model::StoredProduct| product.brand < resolved.brands.len();
        if resolved.products.len() != idents.len() || !resolved.products.iter().flatten().all(known) {
            return Err(CatalogueError::Answer("it does not match the request".to_owned()));
        }
        Ok(resolved)
    }

    async fn brand(&self, name: &str) -> Result<Option<StoredBrand>, CatalogueError> {
        match self.named("slug", name).await? {
            Some(brand) => Ok(Some(brand)),
            None => self.named("domain", name).await,
        }
    }
}
