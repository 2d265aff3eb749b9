use std::io::Write;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

/// Compression algorithm that client and server both support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    pub(crate) const fn header(self) -> HeaderValue {
        match self {
            Self::Brotli => HeaderValue::from_static("br"),
            Self::Gzip => HeaderValue::from_static("gzip"),
        }
    }

    /// Returns the best coding that `Accept-Encoding` accepts (RFC 9110, 12.5.3). Brotli is first among equally
    /// accepted codings. Returns `None` if the header is absent or prefers no compression.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let mut brotli = None;
        let mut gzip = None;
        let mut any = None;
        let mut plain = None;
        for list in headers.get_all(header::ACCEPT_ENCODING) {
            for entry in list.to_str().unwrap_or_default().split(',') {
                let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
                let weight = weight_permille(weight);
                match name.trim().to_ascii_lowercase().as_str() {
                    "br" => brotli = Some(weight),
                    "gzip" | "x-gzip" => gzip = Some(weight),
                    "identity" => plain = Some(weight),
                    "*" => any = Some(weight),
                    _ => {}
                }
            }
        }
        let brotli = brotli.or(any).unwrap_or(0);
        let gzip = gzip.or(any).unwrap_or(0);
        match (brotli, gzip) {
            (0, 0) => None,
            // A coding that the header does not name ranks after all named ones.
            (brotli, gzip) if brotli.max(gzip) < plain.unwrap_or(0) => None,
            (brotli, gzip) if brotli >= gzip => Some(Self::Brotli),
            _ => Some(Self::Gzip),
        }
    }
}

/// Parses a weight such as `q=0.5` in thousandths. The weight is 1000 if absent, and 0 if invalid.
fn weight_permille(parameters: &str) -> u32 {
    let weight = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    let Some(weight) = weight else { return 1000 };
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = |text: &str| text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => 1000,
        "0" if digits(decimals) => format!("{decimals:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// Compresses in memory. Returns `None` if the compressor fails, which does not happen when it writes to a vector.
pub(crate) fn compressed(plain: &[u8], coding: Coding) -> Option<Bytes> {
    let out = Vec::with_capacity(plain.len() / 3 + 64);
    let out = match coding {
        Coding::Gzip => {
            let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::new(4));
            gzip.write_all(plain).ok()?;
            gzip.finish().ok()?
        }
        Coding::Brotli => {
            // Quality 4 and a window of 256 KiB keep the encoder's tables small, because they are cleared for each
            // response.
            let mut brotli = brotli::CompressorWriter::new(out, 16 * 1024, 4, 18);
            brotli.write_all(plain).ok()?;
            brotli.into_inner()
        }
    };
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(value: &str) -> Option<Coding> {
        Coding::accepted(&HeaderMap::from_iter([(
            header::ACCEPT_ENCODING,
            HeaderValue::from_str(value).unwrap(),
        )]))
    }

    #[test]
    fn the_clients_weights_decide() {
        assert_eq!(accepted("gzip, deflate, br, zstd"), Some(Coding::Brotli));
        assert_eq!(accepted("gzip;q=1.0, br;q=0.8"), Some(Coding::Gzip));
        assert_eq!(accepted("br;q=0, *;q=0.1"), Some(Coding::Gzip));
        assert_eq!(accepted("GZIP"), Some(Coding::Gzip));
        assert_eq!(accepted("br;q=0.1, identity;q=1"), None);
        assert_eq!(accepted("br;q=0.1, identity;q=0.1"), Some(Coding::Brotli));
        assert_eq!(accepted("identity, gzip"), Some(Coding::Gzip));
        for none in ["identity", "", "gzip;q=0", "deflate", "*;q=0", "gzip;q=x"] {
            assert_eq!(accepted(none), None, "{none}");
        }
        assert_eq!(Coding::accepted(&HeaderMap::new()), None);
    }

    #[test]
    fn what_is_compressed_comes_back_whole() {
        use std::io::Read;
        let plain = b"{\"title\":\"Cold brew\"}".repeat(400);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(&compressed(&plain, Coding::Gzip).unwrap()[..])
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, plain);
        back.clear();
        let short = compressed(&plain, Coding::Brotli).unwrap();
        brotli::Decompressor::new(&short[..], 4096)
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, plain);
    }
}
