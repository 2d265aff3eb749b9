use std::io::{self, Write};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};

use crate::memory::{MemoryBudget, OverBudget, Wire};
use crate::patience::OwnWait;
use crate::transport::TransportError;

/// The limit that a body exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// Number of bytes on the wire.
    Wire,
    /// Number of bytes after decompression.
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) wire_max: u64,
    pub(crate) decoded_max: u64,
    /// If true, reading stops at a limit. If false, a body over the limit is refused.
    pub(crate) cut: bool,
}

#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge { limit: BodyLimit, bytes_max: u64 },
    Truncated,
    Encoding,
    OverBudget(OverBudget),
    Transport(TransportError),
}

impl From<OverBudget> for BodyError {
    fn from(error: OverBudget) -> Self {
        Self::OverBudget(error)
    }
}

/// Initial size of a body's buffer in bytes. The headers of a response cannot raise it.
const WIRE_START: u64 = 8 << 10;
const DECODED_START: u64 = 4 << 20;
/// Maximum assumed compression ratio of a page. A page that compresses better is decompressed twice.
const SHRINKS: u64 = 16;
/// Number of compressed bytes that are decompressed before the task yields.
const PIECE: usize = 64 << 10;

/// Receives the whole body, then decodes it into one buffer, within the limits. The body stays compressed while it is
/// received, so that an endless body takes only the memory of the bytes sent. Memory for the compressed and the decoded
/// body is reserved first. The reservation of the decoded body ends when the body is dropped.
pub(crate) async fn collect(
    chunks: BoxStream<'static, Result<Bytes, TransportError>>,
    headers: &HeaderMap,
    limits: Limits,
    memory: &MemoryBudget,
    waited: &OwnWait,
) -> Result<Bytes, BodyError> {
    let encoding = Encoding::of(headers)?;
    let mut reserved = memory.wire();
    let wire = receive(chunks, headers, limits, &mut reserved, waited).await?;
    if wire.is_empty() {
        return Ok(wire);
    }
    let decoded_max = limits.decoded_max.min(memory.body_bytes_max());
    let first = match encoding {
        Encoding::Identity => wire.len() as u64,
        Encoding::Gzip => stated_length(&wire).unwrap_or(u64::MAX),
        Encoding::Brotli => (wire.len() as u64).saturating_mul(SHRINKS),
    };
    let bounds = [first.max(PIECE as u64).min(decoded_max), decoded_max];
    for bytes_max in bounds.into_iter().skip(usize::from(bounds[0] == decoded_max)) {
        let mut room = waited.during(memory.page(bytes_max)).await?;
        let decoded = match encoding {
            Encoding::Identity => identity(&wire, bytes_max, limits.cut),
            Encoding::Gzip | Encoding::Brotli => {
                let _turn = waited.during(memory.decoder()).await;
                decoded(encoding, &wire, bytes_max, limits.cut).await?
            }
        };
        if let Some(bytes) = decoded {
            room.shrink_to_page(bytes.len() as u64);
            return Ok(room.hold(bytes));
        }
    }
    if decoded_max < limits.decoded_max {
        return Err(OverBudget { bytes_max: decoded_max }.into());
    }
    Err(BodyError::TooLarge {
        limit: BodyLimit::Decoded,
        bytes_max: limits.decoded_max,
    })
}

/// Returns the next capacity of a full buffer after `received` bytes. The capacity doubles within `bytes_max`, so that
/// spare capacity does not cause a refusal of a body within the limit.
fn grown(capacity: u64, received: u64, bytes_max: u64) -> u64 {
    received.max(capacity.saturating_mul(2).max(WIRE_START).min(bytes_max))
}

/// The body stays as it is on the wire.
async fn receive(
    mut chunks: BoxStream<'static, Result<Bytes, TransportError>>,
    headers: &HeaderMap,
    limits: Limits,
    reserved: &mut Wire,
    waited: &OwnWait,
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
    let mut wire = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        let mut chunk = match chunk {
            Ok(chunk) => chunk,
            Err(TransportError::Truncated) => return Err(BodyError::Truncated),
            Err(error) => return Err(BodyError::Transport(error)),
        };
        let received = (wire.len() + chunk.len()) as u64;
        let is_cut = received > limits.wire_max;
        if is_cut && !limits.cut {
            return Err(too_long);
        }
        if is_cut {
            chunk.truncate(
                usize::try_from(limits.wire_max)
                    .unwrap_or(usize::MAX)
                    .saturating_sub(wire.len()),
            );
        }
        if wire.is_empty() && length == Some(received) {
            waited.during(reserved.grow(received)).await?;
            return Ok(chunk);
        }
        if wire.len() + chunk.len() > wire.capacity() {
            // A copy of the chunk does not keep a large buffer alive. The capacity grows geometrically.
            let capacity = grown(wire.capacity() as u64, received, reserved.bytes_max());
            waited.during(reserved.grow(capacity)).await?;
            wire.reserve(usize::try_from(capacity).unwrap_or(usize::MAX) - wire.len());
        }
        wire.extend_from_slice(&chunk);
        if is_cut {
            break;
        }
    }
    Ok(wire.freeze())
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

impl Encoding {
    fn of(headers: &HeaderMap) -> Result<Self, BodyError> {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let encoding = match (encodings.next(), encodings.next()) {
            (None, _) => "identity",
            (Some(encoding), None) => encoding.to_str().map_err(|_| BodyError::Encoding)?.trim_ascii(),
            (Some(_), Some(_)) => return Err(BodyError::Encoding),
        };
        let is = |name: &str| encoding.eq_ignore_ascii_case(name);
        if encoding.is_empty() || is("identity") {
            Ok(Self::Identity)
        } else if is("gzip") || is("x-gzip") {
            Ok(Self::Gzip)
        } else if is("br") {
            Ok(Self::Brotli)
        } else {
            Err(BodyError::Encoding)
        }
    }
}

/// Returns the decompressed length stated in a gzip body (RFC 1952, 2.3.1). If the length is wrong, the body is
/// decompressed twice.
fn stated_length(gzip: &[u8]) -> Option<u64> {
    gzip.last_chunk().map(|length| u64::from(u32::from_le_bytes(*length)))
}

/// Returns an uncompressed body, or `None` if it is too long and must not be truncated.
fn identity(wire: &Bytes, bytes_max: u64, cut: bool) -> Option<Bytes> {
    let kept = usize::try_from(bytes_max).unwrap_or(usize::MAX).min(wire.len());
    (cut || kept == wire.len()).then(|| wire.slice(..kept))
}

/// Decompresses a body. The encoding must mark the body as complete. Returns `None` if the body is longer than
/// `bytes_max` and must not be truncated.
async fn decoded(encoding: Encoding, wire: &[u8], bytes_max: u64, cut: bool) -> Result<Option<Bytes>, BodyError> {
    let sink = Sink::new(bytes_max.min(DECODED_START), bytes_max);
    let mut decoder = match encoding {
        Encoding::Brotli => Decoder::Brotli(Box::new(brotli::DecompressorWriter::new(sink, 64 << 10))),
        Encoding::Gzip | Encoding::Identity => Decoder::Gzip(Box::new(flate2::write::MultiGzDecoder::new(sink))),
    };
    for piece in wire.chunks(PIECE) {
        if decoder.push(piece).is_err() {
            return match (decoder.sink().is_full, cut) {
                (true, true) => Ok(Some(decoder.so_far())),
                (true, false) => Ok(None),
                (false, _) => Err(BodyError::Encoding),
            };
        }
        if wire.len() > PIECE {
            tokio::task::yield_now().await;
        }
    }
    match (decoder.end(), decoder.sink().is_full, cut) {
        (true, ..) | (false, true, true) => Ok(Some(decoder.so_far())),
        (false, true, false) => Ok(None),
        (false, false, _) => Err(BodyError::Truncated),
    }
}

enum Decoder {
    Gzip(Box<flate2::write::MultiGzDecoder<Sink>>),
    Brotli(Box<brotli::DecompressorWriter<Sink>>),
}

impl Decoder {
    fn sink(&self) -> &Sink {
        match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Brotli(decoder) => decoder.get_ref(),
        }
    }

    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Brotli(decoder) => decoder.write_all(piece),
        }
    }

    fn end(&mut self) -> bool {
        match self {
            Self::Gzip(decoder) => decoder.try_finish().is_ok(),
            Self::Brotli(decoder) => decoder.close().is_ok(),
        }
    }

    fn so_far(mut self) -> Bytes {
        let sink = match &mut self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Brotli(decoder) => decoder.get_mut(),
        };
        std::mem::take(&mut sink.bytes).freeze()
    }
}

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

#[cfg(test)]
mod tests {
    use super::grown;

    #[test]
    fn a_buffer_grows_to_what_there_is_room_for_and_no_further() {
        assert_eq!(grown(1 << 20, (1 << 20) + 1, 35_000_000), 2 << 20);
        assert_eq!(grown(20_000_000, 20_000_001, 35_000_000), 35_000_000);
        // A body is refused only for its own size, not for its buffer's.
        assert_eq!(grown(35_000_000, 35_000_001, 35_000_000), 35_000_001);
    }
}
