//! Rules for outgoing requests: addresses, headers, and limits of responses.

use http::header::{ACCEPT, ACCEPT_ENCODING, COOKIE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use url::Url;

use crate::address::{Zone, check_url};
use crate::body::Limits;
use crate::error::{RedirectFault, StoreError};
use crate::exchange::Exchange;
use crate::hosts::authority;
use crate::page::Accept;
use crate::terms::Priority;

/// Returns the host of an address, or its scheme if it has no host.
fn place(url: &Url) -> String {
    match url.host_str() {
        Some(_) => authority(url),
        None => format!("a {}: address", url.scheme()),
    }
}

impl Exchange {
    pub(crate) fn checked(&self, mut url: Url) -> Result<Url, StoreError> {
        if let Some(name) = url
            .host_str()
            .filter(|host| host.ends_with('.'))
            .map(|host| host.trim_end_matches('.').to_owned())
        {
            url.set_host(Some(&name)).map_err(|_| StoreError::Url {
                reason: "the URL has no usable host",
            })?;
        }
        let refuse = |reason| StoreError::AddressRefused {
            host: place(&url),
            reason,
        };
        check_url(&url, self.config.allow_loopback).map_err(refuse)?;
        url.set_fragment(None);
        Ok(url)
    }

    /// A redirect must not change from https to http, or from a public host to this machine.
    pub(crate) fn follow(&self, from: &Url, to: Url) -> Result<Url, StoreError> {
        let to = self.checked(to).map_err(|error| match error {
            StoreError::AddressRefused { host, reason } => StoreError::AddressRefused {
                host: format!("{host}, to which {} redirects,", authority(from)),
                reason,
            },
            other => other,
        })?;
        let zone = |url: &Url| check_url(url, self.config.allow_loopback).ok();
        let fault = if zone(&to) == Some(Zone::Loopback) && zone(from) != Some(Zone::Loopback) {
            RedirectFault::Inward
        } else if from.scheme() == "https" && to.scheme() == "http" && zone(&to) != Some(Zone::Loopback) {
            RedirectFault::Downgrade
        } else {
            return Ok(to);
        };
        Err(StoreError::Redirect {
            host: authority(from),
            to: Some(place(&to)),
            fault,
        })
    }

    pub(crate) fn headers(&self, accept: Accept, country: Option<&str>, if_none_match: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(6);
        let mut set = |name, value: &str| {
            // A validator that is not a valid header value is not sent, so that the store returns the full page.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        set(USER_AGENT, &self.config.user_agent);
        set(ACCEPT, accept.header());
        set(ACCEPT_ENCODING, "gzip, br");
        if let Some(country) = country {
            set(COOKIE, &format!("localization={country}"));
        }
        if let Some(validator) = if_none_match {
            set(IF_NONE_MATCH, validator);
        }
        headers
    }

    pub(crate) fn page_limits(&self, priority: Priority) -> Limits {
        let config = &self.config;
        let (wire_max, decoded_max) = match priority {
            Priority::Crawl => (u64::MAX, u64::MAX),
            Priority::Interactive => (config.interactive_body_bytes_max, config.interactive_decoded_bytes_max),
        };
        Limits {
            wire_max: wire_max.min(config.body_bytes_max),
            decoded_max: decoded_max.min(config.decoded_bytes_max),
            cut: false,
        }
    }

    pub(crate) fn graphql_limits(&self) -> Limits {
        let config = &self.config;
        Limits {
            wire_max: config.graphql_bytes_max.min(config.body_bytes_max),
            decoded_max: config.graphql_bytes_max.min(config.decoded_bytes_max),
            cut: false,
        }
    }
}
