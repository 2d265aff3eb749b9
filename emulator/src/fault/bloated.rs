//! Response bodies that need much more memory than their size on the wire.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, write::GzEncoder};
use futures::stream::{self, Stream, StreamExt};

use super::body::{Chunk, bomb, packed};

/// Block size of a body that is sent uncompressed, in bytes.
const BLOCK: usize = 1 << 20;

/// Returns the lists of one product, with as many items as the reader accepts, each of a few bytes. Without long lists
/// a page could have many products.
fn lists(many_records: bool) -> String {
    let of_texts = |tags: Vec<String>, images: Vec<&str>| {
        format!("\"images\":[{}],\"tags\":[{}]}}", images.join(","), tags.join(","))
    };
    if many_records {
        let tags = (0..500).map(|nth| format!("\"{nth}\"")).collect();
        return of_texts(tags, vec!["\"\""; 250]);
    }
    let values = vec!["\"\""; 2048].join(",");
    let option = format!("{{\"name\":\"\",\"values\":[{values}]}}");
    let numbers = vec!["1"; 2048].join(",");
    let image = format!("{{\"src\":\"\",\"variant_ids\":[{numbers}]}}");
    let options = vec![option; 16].join(",");
    let rest = of_texts(vec!["\"\"".to_owned(); 500], vec![image.as_str(); 2]);
    format!("\"options\":[{options}],{rest}")
}

/// Returns the keys of a product before its lists.
fn head(nth: u64) -> String {
    let before = if nth == 1 { "{\"products\":[" } else { "," };
    let id = 800_000_000_000 + nth;
    format!(
        "{before}{{\"id\":{id},\"title\":\"Bloated {nth}\",\"handle\":\"bloated-{nth}\",\
         \"variants\":[{{\"id\":{id},\"price\":\"1.00\"}}],"
    )
}

/// Compresses short records as one stream, so that the compressor finds each record in the previous ones.
fn packed_through(products: u64, lists: &str) -> io::Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    for nth in 1..=products {
        write!(out, "{}{lists}", head(nth))?;
    }
    out.write_all(b"]}")?;
    out.finish()
}

/// Compresses a long list once. After a full flush, its compressed bytes are always the same.
fn packed_once(products: u64, lists: &str) -> io::Result<Vec<u8>> {
    let mut packer = Compress::new(Compression::best(), false);
    packed(&mut packer, b"", FlushCompress::Full)?;
    let packed_lists = packed(&mut packer, lists.as_bytes(), FlushCompress::Full)?;
    let mut lists_crc = Crc::new();
    lists_crc.update(lists.as_bytes());

    let mut out = GzEncoder::new(Vec::new(), Compression::best()).finish()?;
    out.truncate(10);
    let mut packer = Compress::new(Compression::best(), false);
    let mut crc = Crc::new();
    for nth in 1..=products {
        let head = head(nth);
        crc.update(head.as_bytes());
        crc.combine(&lists_crc);
        out.extend(packed(&mut packer, head.as_bytes(), FlushCompress::Full)?);
        out.extend_from_slice(&packed_lists);
    }
    crc.update(b"]}");
    out.extend(packed(&mut packer, b"]}", FlushCompress::Finish)?);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    Ok(out)
}

/// Returns the gzip stream of a product page with long lists, about `decoded_bytes` long.
pub(crate) fn bloated(decoded_bytes: u64, many_records: bool) -> io::Result<impl Stream<Item = Chunk> + Send> {
    let lists = lists(many_records);
    let products = (decoded_bytes / lists.len() as u64).max(1);
    let pack = if many_records { packed_through } else { packed_once };
    Ok(stream::iter([Ok(Bytes::from(pack(products, &lists)?))]))
}

/// Returns a body whose last bytes never arrive.
pub(crate) fn withheld(decoded_bytes: u64, is_packed: bool) -> io::Result<impl Stream<Item = Chunk> + Send> {
    let body = if is_packed {
        let blocks = usize::try_from(decoded_bytes.div_ceil(BLOCK as u64)).unwrap_or(usize::MAX);
        // The stream has the header and the blocks, but no end.
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

    /// Returns the products of a two-MiB page that is `times` times smaller on the wire.
    fn products(many_records: bool, times: usize) -> Vec<serde_json::Value> {
        let chunks = bloated(2 << 20, many_records).unwrap();
        let chunks: Vec<Chunk> = futures::executor::block_on(chunks.collect());
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.unwrap()).collect();
        let mut decoded = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut decoded)
            .unwrap();
        assert!(
            decoded.len() > 1 << 20 && bytes.len() < decoded.len() / times,
            "{}",
            bytes.len()
        );
        let page: serde_json::Value = serde_json::from_str(&decoded).unwrap();
        let products = page["products"].as_array().unwrap().clone();
        assert_ne!(products[0]["id"], products[1]["id"]);
        products
    }

    #[test]
    fn a_bloated_page_is_json_of_many_small_values() {
        let long = products(false, 150);
        assert_eq!(long[0]["options"][15]["values"].as_array().unwrap().len(), 2048);
        let many = products(true, 40);
        assert!(many.len() > 500 && long.len() < 20, "{} {}", many.len(), long.len());
        let length = |list: &str| many[0][list].as_array().unwrap().len();
        assert_eq!((length("images"), length("tags")), (250, 500));
    }
}
