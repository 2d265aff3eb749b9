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

/// Time for which an answer may be kept, as measured on the platform's own stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    /// Pages and JSON.
    Revalidate,
    /// Missing pages, and redirects.
    Never,
    /// Pictures.
    Forever,
    /// The cart says nothing.
    Unsaid,
}

/// An answer before it is packed and sent.
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
    /// The version of the API that answered.
    pub(crate) api_version: Option<&'static str>,
    /// The currency of its amounts, told by the cookie `cart_currency` (platform: markets).
    pub(crate) cart_currency: Option<String>,
    /// Further cookies, as they are sent.
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

    /// The answer to something that was posted.
    pub(crate) fn posted(status: u16, json: String) -> Self {
        Self {
            cache: Cache::Never,
            ..Self::new(status, "application/json; charset=utf-8", json)
        }
    }

    /// The same, of a value.
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

    /// With a validator that follows from the body.
    pub(crate) fn validated(self) -> Self {
        Self {
            etag: Some(etag(fold_bytes(&self.body))),
            ..self
        }
    }

    /// 304 where the client has this very answer.
    pub(crate) fn conditional(self, ask: &Ask) -> Self {
        match self.etag {
            Some(etag) if self.status == 200 && ask.has(&etag) => Self::not_modified(etag),
            _ => self,
        }
    }

    /// True for JSON and for HTML pages: they are worth compressing.
    fn is_packable(&self) -> bool {
        self.status == 200 && self.body.len() >= 512
    }

    /// The answer of a store with its headers, its body packed as the client asked.
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
            // A packed body is another sequence of bytes: its validator is weak, as the platform's edge makes it.
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

/// The same, without a word of how long it may be kept.
pub(crate) fn uncached(reply: Reply) -> Reply {
    Reply {
        cache: Cache::Unsaid,
        ..reply
    }
}

/// The headers by which the platform is known.
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

/// A validator in the platform's form.
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
