use std::io::{self, Write};

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION,
    RETRY_AFTER, SET_COOKIE, VARY,
};
use http::{Response, StatusCode};

use crate::ask::{Ask, Coding};
use crate::config::Encoding;
use crate::generated::dice::{fold, fold_bytes};

/// Values of `Cache-Control` in a response, as measured on the platform's own stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    /// For pages and JSON.
    Revalidate,
    /// For missing pages and redirects.
    Never,
    /// For pictures.
    Forever,
    /// For the cart, which sends no `Cache-Control`.
    Unsaid,
}

/// Response before it is compressed and sent.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    pub(crate) etag: Option<String>,
    pub(crate) cache: Cache,
    pub(crate) location: Option<String>,
    pub(crate) retry_after_s: Option<u64>,
    pub(crate) challenge: bool,
    pub(crate) api_version: Option<&'static str>,
    /// Currency of the cart's amounts, sent in the cookie `cart_currency` (platform: markets).
    pub(crate) cart_currency: Option<String>,
    /// Other values of `Set-Cookie`.
    pub(crate) cookies: Vec<String>,
}

impl Reply {
    fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            content_type,
            body: body.into(),
            etag: None,
            cache: if status < 300 { Cache::Revalidate } else { Cache::Never },
            location: None,
            retry_after_s: None,
            challenge: false,
            api_version: None,
            cart_currency: None,
            cookies: Vec::new(),
        }
    }

    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self::new(200, "application/json; charset=utf-8", body)
    }

    /// Creates the response to a POST request.
    pub(crate) fn posted(status: u16, json: String) -> Self {
        Self {
            cache: Cache::Never,
            ..Self::new(status, "application/json; charset=utf-8", json)
        }
    }

    /// Creates a response like `posted` from a JSON value.
    pub(crate) fn json_of(status: u16, body: &serde_json::Value) -> Self {
        Self::posted(status, body.to_string())
    }

    pub(crate) fn script(body: impl Into<Bytes>) -> Self {
        Self::new(200, "text/javascript; charset=utf-8", body)
    }

    pub(crate) fn html(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    pub(crate) fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(crate) fn xml(body: impl Into<Bytes>) -> Self {
        Self::new(200, "application/xml; charset=utf-8", body)
    }

    pub(crate) fn svg(body: impl Into<Bytes>) -> Self {
        Self {
            cache: Cache::Forever,
            ..Self::new(200, "image/svg+xml", body)
        }
    }

    pub(crate) fn redirect(status: u16, location: impl Into<String>) -> Self {
        let location = location.into();
        let body = "<html><body>You are being redirected.</body></html>";
        Self {
            location: Some(location),
            ..Self::html(status, body)
        }
    }

    pub(crate) fn not_modified(etag: String) -> Self {
        Self {
            etag: Some(etag),
            cache: Cache::Revalidate,
            ..Self::new(304, "", Bytes::new())
        }
    }

    pub(crate) fn validated(self) -> Self {
        Self {
            etag: Some(etag(fold_bytes(&self.body))),
            ..self
        }
    }

    /// Returns 304 if the client already has this response.
    pub(crate) fn conditional(self, ask: &Ask) -> Self {
        match self.etag {
            Some(etag) if self.status == 200 && ask.has(&etag) => Self::not_modified(etag),
            _ => self,
        }
    }

    /// True for JSON and HTML pages, which are worth compressing.
    fn is_packable(&self) -> bool {
        self.status == 200 && self.body.len() >= 512
    }

    /// Builds the HTTP response: adds the store's headers and compresses the body as the client accepts.
    pub(crate) fn finish(self, shop_id: u64, ask: &Ask, encoding: Encoding) -> io::Result<Response<Bytes>> {
        let coding = ask
            .coding()
            .filter(|_| encoding == Encoding::AsAsked && self.is_packable());
        let body = match coding {
            Some(Coding::Gzip) => gzip(&self.body)?.into(),
            Some(Coding::Brotli) => brotli(&self.body)?.into(),
            None => self.body.clone(),
        };
        let length = body.len();
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.append(name, value);
            }
        };
        if !self.content_type.is_empty() {
            put(CONTENT_TYPE, self.content_type);
        }
        match coding {
            Some(Coding::Gzip) => put(CONTENT_ENCODING, "gzip"),
            Some(Coding::Brotli) => put(CONTENT_ENCODING, "br"),
            None => {}
        }
        if let Some(etag) = &self.etag {
            // A compressed body is a different sequence of bytes, so its validator is weak, as on the platform's edge.
            put(
                ETAG,
                &if coding.is_some() {
                    format!("W/{etag}")
                } else {
                    etag.clone()
                },
            );
        }
        match self.cache {
            Cache::Revalidate => put(CACHE_CONTROL, "private, max-age=0, must-revalidate"),
            Cache::Never => put(CACHE_CONTROL, "private, no-store"),
            Cache::Forever => put(CACHE_CONTROL, "public, max-age=31557600"),
            Cache::Unsaid => {}
        }
        if let Some(location) = &self.location {
            put(LOCATION, location);
        }
        if let Some(seconds) = self.retry_after_s {
            put(RETRY_AFTER, &seconds.to_string());
        }
        if self.challenge {
            put(HeaderName::from_static("cf-mitigated"), "challenge");
        }
        if let Some(version) = self.api_version {
            put(HeaderName::from_static("x-shopify-api-version"), version);
        }
        if let Some(currency) = &self.cart_currency {
            put(SET_COOKIE, &format!("cart_currency={currency}; path=/; SameSite=Lax"));
        }
        for cookie in &self.cookies {
            put(SET_COOKIE, cookie);
        }
        put(VARY, "Accept, Accept-Encoding");
        identify(shop_id, &mut put);
        if self.status != 304 {
            put(CONTENT_LENGTH, &length.to_string());
        }
        Ok(response)
    }
}

pub(crate) fn uncached(reply: Reply) -> Reply {
    Reply {
        cache: Cache::Unsaid,
        ..reply
    }
}

/// Adds the headers by which clients recognise the platform.
fn identify(shop_id: u64, put: &mut impl FnMut(HeaderName, &str)) {
    let shop_id = shop_id.to_string();
    put(HeaderName::from_static("server"), "cloudflare");
    put(HeaderName::from_static("powered-by"), "Shopify");
    put(HeaderName::from_static("x-shopid"), &shop_id);
    put(HeaderName::from_static("x-sorting-hat-shopid"), &shop_id);
    put(HeaderName::from_static("x-sorting-hat-podid"), "245");
    put(HeaderName::from_static("x-storefront-renderer-rendered"), "1");
    put(HeaderName::from_static("x-shopify-stage"), "production");
}

pub(crate) fn etag(number: u64) -> String {
    format!("\"cacheable:{number:016x}{:016x}\"", fold(&[number]))
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 5), flate2::Compression::fast());
    packer.write_all(body)?;
    packer.finish()
}

fn brotli(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(body.len() / 5);
    let params = brotli::enc::BrotliEncoderParams {
        quality: 3,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*body, &mut out, &params)?;
    Ok(out)
}
