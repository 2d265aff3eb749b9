use std::io::{self, Write};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};

use crate::transport::TransportError;

/// Which limit a body broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// Bytes on the wire.
    Wire,
    /// Bytes after decompression.
    Decoded,
}

impl std::fmt::Display for BodyLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wire => "on the wire",
            Self::Decoded => "decoded",
        })
    }
}

/// What is read of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) wire_max: u64,
    pub(crate) decoded_max: u64,
    /// What happens at a limit: the rest is left unread (true), or the whole body is refused.
    pub(crate) cut: bool,
}

#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge { limit: BodyLimit, bytes_max: u64 },
    Truncated,
    Encoding,
    Transport(TransportError),
}

/// What a body's first buffer may take before a byte of it has come, whatever its headers promise.
const CAPACITY_MAX: u64 = 4 << 20;

/// Collects a body into one buffer, decoding as it comes in, and never holds more than the limits allow.
pub(crate) async fn collect(
    mut chunks: BoxStream<'static, Result<Bytes, TransportError>>,
    headers: &HeaderMap,
    limits: Limits,
) -> Result<Bytes, BodyError> {
    let length: Option<u64> = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let too_long = BodyError::TooLarge {
        limit: BodyLimit::Wire,
        bytes_max: limits.wire_max,
    };
    if !limits.cut && length.is_some_and(|length| length > limits.wire_max) {
        return Err(too_long);
    }
    let mut decoder = Decoder::new(headers, length, limits)?;
    let mut wire = 0_u64;
    while let Some(chunk) = chunks.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(TransportError::Truncated) => return Err(BodyError::Truncated),
            Err(error) => return Err(BodyError::Transport(error)),
        };
        wire += chunk.len() as u64;
        if wire > limits.wire_max {
            return if limits.cut {
                Ok(decoder.so_far())
            } else {
                Err(too_long)
            };
        }
        if length == Some(wire)
            && chunk.len() as u64 == wire
            && matches!(decoder, Decoder::Identity(_))
            && wire <= limits.decoded_max
        {
            return Ok(chunk);
        }
        match decoder.push(&chunk) {
            Ok(()) => {}
            Err(BodyError::TooLarge { .. }) if limits.cut => return Ok(decoder.so_far()),
            Err(error) => return Err(error),
        }
    }
    if wire == 0 {
        return Ok(Bytes::new());
    }
    decoder.finish(limits.cut)
}

enum Decoder {
    Identity(Sink),
    Gzip(Box<flate2::write::MultiGzDecoder<Sink>>),
    Brotli(Box<brotli::DecompressorWriter<Sink>>),
}

impl Decoder {
    fn new(headers: &HeaderMap, length: Option<u64>, limits: Limits) -> Result<Self, BodyError> {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let encoding = match (encodings.next(), encodings.next()) {
            (None, _) => "identity",
            (Some(encoding), None) => encoding.to_str().map_err(|_| BodyError::Encoding)?.trim_ascii(),
            (Some(_), Some(_)) => return Err(BodyError::Encoding),
        };
        let is = |name: &str| encoding.eq_ignore_ascii_case(name);
        let wire = length.unwrap_or(16 << 10).min(limits.wire_max);
        let sink = |capacity: u64| Sink::new(capacity.min(limits.decoded_max).min(CAPACITY_MAX), limits.decoded_max);
        if encoding.is_empty() || is("identity") {
            Ok(Self::Identity(sink(wire)))
        } else if is("gzip") || is("x-gzip") {
            // Product pages shrink to a sixth or less.
            Ok(Self::Gzip(Box::new(flate2::write::MultiGzDecoder::new(sink(
                wire.saturating_mul(8),
            )))))
        } else if is("br") {
            Ok(Self::Brotli(Box::new(brotli::DecompressorWriter::new(
                sink(wire.saturating_mul(8)),
                64 << 10,
            ))))
        } else {
            Err(BodyError::Encoding)
        }
    }

    fn sink(&self) -> &Sink {
        match self {
            Self::Identity(sink) => sink,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Brotli(decoder) => decoder.get_ref(),
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Result<(), BodyError> {
        let written = match self {
            Self::Identity(sink) => sink.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
            Self::Brotli(decoder) => decoder.write_all(chunk),
        };
        written.map_err(|_| self.fault())
    }

    /// Whether it was the limit or the encoding that stopped the decoder.
    fn fault(&self) -> BodyError {
        let sink = self.sink();
        if sink.is_full {
            BodyError::TooLarge {
                limit: BodyLimit::Decoded,
                bytes_max: sink.bytes_max,
            }
        } else {
            BodyError::Encoding
        }
    }

    /// What has been decoded when the rest is not wanted.
    fn so_far(self) -> Bytes {
        match self {
            Self::Identity(sink) => sink.bytes.freeze(),
            Self::Gzip(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes).freeze(),
            Self::Brotli(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes).freeze(),
        }
    }

    /// The whole body, if the encoding says that it is whole.
    fn finish(mut self, cut: bool) -> Result<Bytes, BodyError> {
        let ended = match &mut self {
            Self::Identity(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.close(),
        };
        match ended {
            Ok(()) => Ok(self.so_far()),
            Err(_) if self.sink().is_full && cut => Ok(self.so_far()),
            Err(_) if self.sink().is_full => Err(self.fault()),
            Err(_) => Err(BodyError::Truncated),
        }
    }
}

/// A buffer that takes no more than its limit.
struct Sink {
    bytes: BytesMut,
    bytes_max: u64,
    is_full: bool,
}

impl Sink {
    fn new(capacity: u64, bytes_max: u64) -> Self {
        Self {
            bytes: BytesMut::with_capacity(usize::try_from(capacity).unwrap_or(0)),
            bytes_max,
            is_full: false,
        }
    }
}

impl Write for Sink {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let room = usize::try_from(self.bytes_max)
            .unwrap_or(usize::MAX)
            .saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
