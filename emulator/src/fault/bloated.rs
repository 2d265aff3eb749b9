//! Bodies that take much more memory than they take on the wire.

use std::io;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, write::GzEncoder};
use futures::stream::{self, Stream, StreamExt};

use super::body::{Chunk, bomb, packed};

/// What is sent of a body that is not packed at a time.
const BLOCK: usize = 1 << 20;

/// The lists of one product: as many items as are read, each of a few bytes.
fn lists() -> String {
    let values = vec!["\"\""; 2048].join(",");
    let option = format!("{{\"name\":\"\",\"values\":[{values}]}}");
    let numbers = vec!["1"; 2048].join(",");
    let image = format!("{{\"src\":\"\",\"variant_ids\":[{numbers}]}}");
    format!(
        "\"options\":[{}],\"images\":[{}],\"tags\":[{}]}}",
        vec![option; 16].join(","),
        vec![image; 2].join(","),
        vec!["\"\""; 500].join(",")
    )
}

/// A gzip stream of a page of products with long lists, about `decoded_bytes` long.
pub(crate) fn bloated(decoded_bytes: u64) -> io::Result<impl Stream<Item = Chunk> + Send> {
    let lists = lists();
    let products = (decoded_bytes / lists.len() as u64).max(1);
    let mut packer = Compress::new(Compression::best(), false);
    // Behind a full flush the same lists are always the same packed bytes.
    packed(&mut packer, b"", FlushCompress::Full)?;
    let packed_lists = packed(&mut packer, lists.as_bytes(), FlushCompress::Full)?;
    let mut lists_crc = Crc::new();
    lists_crc.update(lists.as_bytes());

    let mut out = GzEncoder::new(Vec::new(), Compression::best()).finish()?;
    out.truncate(10);
    let mut packer = Compress::new(Compression::best(), false);
    let mut crc = Crc::new();
    for nth in 1..=products {
        let before = if nth == 1 { "{\"products\":[" } else { "," };
        let id = 800_000_000_000 + nth;
        let head = format!(
            "{before}{{\"id\":{id},\"title\":\"Bloated {nth}\",\"handle\":\"bloated-{nth}\",\
             \"variants\":[{{\"id\":{id},\"price\":\"1.00\"}}],"
        );
        crc.update(head.as_bytes());
        crc.combine(&lists_crc);
        out.extend(packed(&mut packer, head.as_bytes(), FlushCompress::Full)?);
        out.extend_from_slice(&packed_lists);
    }
    crc.update(b"]}");
    out.extend(packed(&mut packer, b"]}", FlushCompress::Finish)?);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    Ok(stream::iter([Ok(Bytes::from(out))]))
}

/// A body whose last bytes never come.
pub(crate) fn withheld(decoded_bytes: u64, is_packed: bool) -> io::Result<impl Stream<Item = Chunk> + Send> {
    let body = if is_packed {
        let blocks = usize::try_from(decoded_bytes.div_ceil(BLOCK as u64)).unwrap_or(usize::MAX);
        // Head and blocks, without the end.
        bomb(decoded_bytes)?.take(blocks.saturating_add(1)).boxed()
    } else {
        let block = Bytes::from(vec![b' '; BLOCK]);
        let blocks = decoded_bytes / BLOCK as u64;
        let head = stream::iter([Ok(Bytes::from_static(b"{\"products\":["))]);
        head.chain(stream::iter((0..blocks).map(move |_| Ok(block.clone()))))
            .boxed()
    };
    Ok(body.chain(stream::pending()))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_bloated_page_is_json_of_many_small_values_and_two_hundred_times_smaller() {
        let chunks: Vec<Chunk> = futures::executor::block_on(bloated(2 << 20).unwrap().collect());
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.unwrap()).collect();
        let mut decoded = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut decoded)
            .unwrap();
        let page: serde_json::Value = serde_json::from_str(&decoded).unwrap();
        let products = page["products"].as_array().unwrap();
        assert!(
            decoded.len() > 1 << 20 && bytes.len() < decoded.len() / 150,
            "{}",
            bytes.len()
        );
        assert_eq!(products[0]["options"][15]["values"].as_array().unwrap().len(), 2048);
        assert_ne!(products[0]["id"], products[1]["id"]);
    }
}
