use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::redirect::Policy;
use url::Url;

use super::error::HttpError;
use crate::config::DashboardConfigError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(8);
/// Maximum size of a provider's response in bytes. Configuration, keys and tokens have only a few kilobytes.
const BODY_BYTES_MAX: usize = 512 * 1024;

/// HTTP client for the provider, which uses TLS, limits the time and size of responses, and follows no redirects.
#[derive(Debug, Clone)]
pub(super) struct ProviderHttp(reqwest::Client);

impl ProviderHttp {
    pub(super) fn new(issuer: &Url) -> Result<Self, DashboardConfigError> {
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            // Plain HTTP is allowed only for a provider on this machine.
            .https_only(issuer.scheme() == "https")
            .user_agent("haat")
            .build();
        client
            .map(Self)
            .map_err(|error| DashboardConfigError::Client(error.to_string()))
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = reqwest::Request::try_from(request).map_err(HttpError::Failed)?;
        let mut answer = self.0.execute(request).await.map_err(HttpError::Failed)?;
        let mut response = HttpResponse::new(Vec::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        while let Some(part) = answer.chunk().await.map_err(HttpError::Failed)? {
            let body = response.body_mut();
            if body.len() + part.len() > BODY_BYTES_MAX {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&part);
        }
        Ok(response)
    }
}

impl<'c> AsyncHttpClient<'c> for ProviderHttp {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.exchange(request))
    }
}
