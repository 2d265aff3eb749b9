use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::HeaderMap;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::RequestId;

/// First bytes of an HTTP/2 connection (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const NAME: &[u8] = b"x-request-id:";
/// Header that every response of the edge has.
const NOSNIFF: &[u8] = b"x-content-type-options: nosniff\r\n";

/// Connection that fails if its peer reads no byte for too long, or does not reveal its protocol in time. Otherwise
/// clients that never read or send would keep their connections open forever.
pub(super) struct StallGuard {
    stream: TcpStream,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Wait for the first bytes of the protocol. After that, the protocol's own timers apply.
    opening: Option<PrefaceWait>,
    refusal: Option<Refusal>,
}

/// Text to write instead of a response without a request id.
struct Refusal {
    text: Vec<u8>,
    written: usize,
}

impl Refusal {
    /// Adds a request id to a response head that the HTTP/1 library wrote for an invalid or incomplete request head.
    /// All other responses already have an id.
    fn of(bytes: &[u8]) -> Option<Self> {
        let line_end = memchr::memmem::find(bytes, b"\r\n").filter(|_| bytes.starts_with(b"HTTP/1.1 4"))? + 2;
        let head_end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
        let is_named = |line: &[u8]| line.len() >= NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME);
        if bytes[..head_end].split(|byte| *byte == b'\n').any(is_named) {
            return None;
        }
        let id = RequestId::of(&HeaderMap::new());
        tracing::debug!(
            request_id = id.as_str(),
            "a request whose headers cannot be read is refused"
        );
        let (line, rest) = bytes.split_at(line_end);
        let text = [line, NOSNIFF, NAME, b" ", id.as_str().as_bytes(), b"\r\n", rest].concat();
        Some(Self { text, written: 0 })
    }
}

/// Wait for the bytes that distinguish HTTP/1 from HTTP/2.
struct PrefaceWait {
    /// Number of bytes of the HTTP/2 preface that were read so far.
    read: usize,
    until: Pin<Box<Sleep>>,
}

impl PrefaceWait {
    /// True if the protocol is known after these bytes.
    fn is_over(&mut self, bytes: &[u8]) -> bool {
        let rest = PREFACE.get(self.read..).unwrap_or_default();
        self.read += bytes.len();
        bytes.len() >= rest.len() || !rest.starts_with(bytes)
    }
}

impl StallGuard {
    /// Wraps a stream. `write_limit` is the maximum time in which the peer reads no byte, and `open_limit` the maximum
    /// time until it reveals its protocol.
    pub(super) fn new(stream: TcpStream, write_limit: Duration, open_limit: Duration) -> Self {
        Self {
            stream,
            limit: write_limit,
            waiting: None,
            opening: Some(PrefaceWait {
                read: 0,
                until: Box::pin(tokio::time::sleep(open_limit)),
            }),
            refusal: None,
        }
    }

    /// Writes the replacement for `bytes`, if there is one.
    fn poll_refusal(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() {
            self.refusal = Refusal::of(bytes);
        }
        while let Some(refusal) = &mut self.refusal {
            let Some(left) = refusal.text.get(refusal.written..).filter(|left| !left.is_empty()) else {
                self.refusal = None;
                return Some(Poll::Ready(Ok(bytes.len())));
            };
            match Pin::new(&mut self.stream).poll_write(context, left) {
                Poll::Ready(Ok(written)) if written > 0 => refusal.written += written,
                other => return Some(other),
            }
        }
        None
    }

    fn guard(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(opening) = &mut self.opening else { return read };
        if read.is_ready() {
            let bytes = buffer.filled().get(before..).unwrap_or_default();
            if bytes.is_empty() || opening.is_over(bytes) {
                self.opening = None;
            }
            return read;
        }
        ready!(opening.until.as_mut().poll(context));
        Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut)))
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let refused = self.poll_refusal(context, bytes);
        let written = refused.unwrap_or_else(|| Pin::new(&mut self.stream).poll_write(context, bytes));
        self.guard(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let refused = self.poll_refusal(context, slices.first().map_or(&[][..], |first| first));
        let written = refused.unwrap_or_else(|| Pin::new(&mut self.stream).poll_write_vectored(context, slices));
        self.guard(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
