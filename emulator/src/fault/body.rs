//! Response bodies that no honest server sends.

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, write::GzEncoder};
use futures::stream::{self, Stream, StreamExt};

/// Maximum size of an endless body, in bytes.
const ENDLESS_BYTES: u64 = 16 << 30;

pub(super) type Chunk = io::Result<Bytes>;

/// Sends the body in chunks, with a pause before each.
pub(crate) fn drip(body: Bytes, chunk_bytes: usize, delay: Duration) -> impl Stream<Item = Chunk> + Send {
    stream::unfold(body, move |mut body| async move {
        if body.is_empty() {
            return None;
        }
        tokio::time::sleep(delay).await;
        let chunk = body.split_to(chunk_bytes.max(1).min(body.len()));
        Some((Ok(chunk), body))
    })
}

/// Sends the first part of the body and then fails, so that the server closes the connection.
pub(crate) fn truncated(mut body: Bytes, after_bytes: usize) -> impl Stream<Item = Chunk> + Send {
    body.truncate(after_bytes);
    // The pause lets the first part reach the client before the connection closes.
    let end = stream::once(async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(io::Error::from(io::ErrorKind::ConnectionAborted))
    });
    stream::iter([Ok(body)]).chain(end)
}

/// Returns a robots.txt with endless rules.
pub(crate) fn endless_robots() -> impl Stream<Item = Chunk> + Send {
    let block: Bytes = (0..1024)
        .map(|nth| format!("Disallow: /never/{nth}\n"))
        .collect::<String>()
        .into();
    let head = Bytes::from_static(b"User-agent: *\n");
    let blocks = ENDLESS_BYTES / block.len() as u64;
    stream::iter([Ok(head)]).chain(stream::iter((0..blocks).map(move |_| Ok(block.clone()))))
}

const BOMB_BLOCK: usize = 1 << 20;

/// Returns a gzip stream of an empty product list with `decoded_bytes` of white space.
///
/// Each block ends with a full flush, so its compressed bytes are the same at any position. One block is compressed and
/// sent as often as needed.
pub(crate) fn bomb(decoded_bytes: u64) -> io::Result<impl Stream<Item = Chunk> + Send> {
    let spaces = vec![b' '; BOMB_BLOCK];
    let blocks = decoded_bytes.div_ceil(BOMB_BLOCK as u64);
    let mut crc = Crc::new();
    crc.update(b"{\"products\":[");
    let mut block_crc = Crc::new();
    block_crc.update(&spaces);
    for _ in 0..blocks {
        crc.combine(&block_crc);
    }
    let mut end_crc = Crc::new();
    end_crc.update(b"]}");
    crc.combine(&end_crc);

    let mut packer = Compress::new(Compression::best(), false);
    // The header is that of an empty gzip file, without its deflate data and trailer.
    let mut head = GzEncoder::new(Vec::new(), Compression::best()).finish()?;
    head.truncate(10);
    head.write_all(&packed(&mut packer, b"{\"products\":[", FlushCompress::Full)?)?;
    let block = Bytes::from(packed(&mut packer, &spaces, FlushCompress::Full)?);
    let mut tail = packed(&mut packer, b"]}", FlushCompress::Finish)?;
    tail.extend_from_slice(&crc.sum().to_le_bytes());
    tail.extend_from_slice(&crc.amount().to_le_bytes());
    let middle = stream::iter((0..blocks).map(move |_| Ok(block.clone())));
    Ok(stream::iter([Ok(Bytes::from(head))])
        .chain(middle)
        .chain(stream::iter([Ok(Bytes::from(tail))])))
}

pub(super) fn packed(packer: &mut Compress, bytes: &[u8], flush: FlushCompress) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / 4 + 1024);
    packer.compress_vec(bytes, &mut out, flush).map_err(io::Error::other)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_bomb_is_valid_gzip_and_a_thousand_times_smaller() {
        let chunks: Vec<Chunk> = futures::executor::block_on(bomb(20 << 20).unwrap().collect());
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.unwrap()).collect();
        let mut decoded = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut decoded)
            .unwrap();
        assert_eq!(decoded.len(), (20 << 20) + 15);
        assert_eq!(decoded.replace(' ', ""), "{\"products\":[]}");
        assert!(bytes.len() < decoded.len() / 500);
    }
}
