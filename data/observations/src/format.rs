//! Format of observation files: JSON lines compressed with zstd. The first line is a heading with the version and the
//! number of following lines. Each other line is one observation. The module does no I/O.

use std::io::{BufRead, BufReader, Read, Write};

use data_model::Observation;
use serde::{Deserialize, Serialize};

use crate::error::Fault;

const FORMAT: &str = "haat.observations";
/// Only this format version is written and read.
const VERSION: u32 = 1;
pub(crate) const PACKED_BYTES_MAX: u64 = 16 << 20;
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// Number of uncompressed bytes after which the next file begins.
const FILE_BYTES: usize = 8 << 20;
pub(crate) const OBSERVATIONS_MAX: usize = 10_000;
/// Maximum number of variants in one observation. Shopify allows 2,048 variants per product.
pub(crate) const VARIANTS_MAX: usize = 4_096;
/// A fast level suffices, because a file only exists for hours.
const LEVEL: i32 = 3;

#[derive(Debug, Serialize, Deserialize)]
struct Heading {
    format: String,
    version: u32,
    observations: usize,
}

#[derive(Debug)]
pub(crate) struct PackedFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) observations: usize,
}

/// Returns `true` if an observation has a permitted number of variants and no negative amount.
pub(crate) fn is_sound(observation: &Observation) -> bool {
    let variants = observation.variants.len().saturating_add(observation.gone.len());
    let amounts = observation.variants.iter();
    let mut amounts = amounts.flat_map(|variant| [Some(variant.price_minor), variant.compare_at_minor]);
    variants <= VARIANTS_MAX && amounts.all(|amount| amount.is_none_or(|amount| amount >= 0))
}

/// Compresses valid observations into as many files as they need.
pub(crate) fn pack(observations: &[Observation]) -> std::io::Result<Vec<PackedFile>> {
    let (mut files, mut text, mut lines) = (Vec::new(), Vec::new(), 0);
    for observation in observations {
        if lines == OBSERVATIONS_MAX || text.len() >= FILE_BYTES {
            files.push(pack_lines(&text, lines)?);
            text.clear();
            lines = 0;
        }
        serde_json::to_writer(&mut text, observation)?;
        text.push(b'\n');
        lines += 1;
    }
    if lines > 0 {
        files.push(pack_lines(&text, lines)?);
    }
    Ok(files)
}

fn pack_lines(text: &[u8], observations: usize) -> std::io::Result<PackedFile> {
    let heading = Heading {
        format: FORMAT.to_owned(),
        version: VERSION,
        observations,
    };
    let mut encoder = zstd::stream::Encoder::new(Vec::with_capacity(text.len() / 8), LEVEL)?;
    encoder.include_checksum(true)?;
    serde_json::to_writer(&mut encoder, &heading)?;
    encoder.write_all(b"\n")?;
    encoder.write_all(text)?;
    Ok(PackedFile {
        bytes: encoder.finish()?,
        observations,
    })
}

pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<Observation>, Fault> {
    let bytes_max = TEXT_BYTES_MAX;
    if bytes.len() as u64 > PACKED_BYTES_MAX {
        let bytes_max = PACKED_BYTES_MAX;
        return Err(Fault::TooLarge { bytes_max });
    }
    let mut decoder = zstd::stream::Decoder::with_buffer(bytes).map_err(|_| Fault::Packing)?;
    // A zstd frame may request a window of gigabytes.
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_| Fault::Packing)?;
    let mut text = BufReader::new(decoder.take(bytes_max + 1));
    let (mut line, mut read) = (Vec::new(), 0);
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        let length = text.read_until(b'\n', line).map_err(|_| Fault::Packing)?;
        read += length as u64;
        if read > bytes_max {
            return Err(Fault::TooLarge { bytes_max });
        }
        Ok(length > 0)
    };
    if !next(&mut line)? {
        return Err(Fault::Heading);
    }
    let heading: Heading = serde_json::from_slice(&line).map_err(|_| Fault::Heading)?;
    if heading.format != FORMAT {
        return Err(Fault::Heading);
    }
    if heading.version != VERSION {
        return Err(Fault::Version(heading.version));
    }
    if heading.observations > OBSERVATIONS_MAX {
        return Err(Fault::Count);
    }
    let mut observations = Vec::with_capacity(heading.observations);
    while next(&mut line)? {
        if observations.len() == heading.observations {
            return Err(Fault::Count);
        }
        let observation: Option<Observation> = serde_json::from_slice(&line).ok();
        let sound = observation.filter(is_sound);
        observations.push(sound.ok_or(Fault::Line(observations.len() + 2))?);
    }
    if observations.len() == heading.observations {
        Ok(observations)
    } else {
        Err(Fault::Count)
    }
}

/// Base-2 logarithm of 8 MiB, which is more than the compression level of the files needs.
const WINDOW_LOG_MAX: u32 = 23;

#[cfg(test)]
mod tests {
    use super::*;
    use data_model::{ObservedVariant, Timestamp, VariantId};
    use proptest::prelude::*;

    fn observation(product: u64, variants: usize) -> Observation {
        let variant = |id| ObservedVariant {
            id: VariantId(id),
            price_minor: 100 + product.cast_signed(),
            compare_at_minor: (id == 1).then_some(500),
            available: id % 2 == 0,
        };
        Observation {
            store: "alpha.myshopify.com".parse().unwrap(),
            product,
            observed_at: Timestamp::from_micros(1_795_219_200_000_000),
            currency: "INR".parse().unwrap(),
            variants: (0..variants as u64).map(variant).collect(),
            gone: vec![VariantId(u64::MAX)],
        }
    }

    fn packed_text(text: &str) -> Vec<u8> {
        zstd::encode_all(text.as_bytes(), 1).unwrap()
    }

    #[test]
    fn files_hold_what_was_packed_whatever_its_size() {
        let many: Vec<Observation> = (0..OBSERVATIONS_MAX as u64 + 3).map(|id| observation(id, 1)).collect();
        let files = pack(&many).unwrap();
        assert_eq!(files.len(), 2);
        let read: Vec<Observation> = files.iter().flat_map(|file| unpack(&file.bytes).unwrap()).collect();
        assert_eq!(read, many);
        let large: Vec<Observation> = (0..40).map(|id| observation(id, VARIANTS_MAX - 1)).collect();
        let files = pack(&large).unwrap();
        assert!(files.len() > 1, "a file ends by its bytes too");
        assert_eq!(files.iter().map(|file| file.observations).sum::<usize>(), 40);
        let read: Vec<Observation> = files.iter().flat_map(|file| unpack(&file.bytes).unwrap()).collect();
        assert_eq!(read, large);
    }

    #[test]
    fn what_no_recorder_wrote_is_refused_with_its_fault() {
        let line = serde_json::to_string(&observation(1, 1)).unwrap();
        let heading = |version: u32, count: usize| {
            format!("{{\"format\":\"haat.observations\",\"version\":{version},\"observations\":{count}}}\n")
        };
        let refused = |text: &str| unpack(&packed_text(text)).unwrap_err();
        assert_eq!(unpack(b"no zstd").unwrap_err(), Fault::Packing);
        assert_eq!(refused(""), Fault::Heading);
        assert_eq!(refused(&line), Fault::Heading);
        assert_eq!(
            refused("{\"format\":\"other\",\"version\":1,\"observations\":0}\n"),
            Fault::Heading
        );
        assert_eq!(refused(&heading(2, 0)), Fault::Version(2));
        assert_eq!(refused(&heading(1, usize::MAX)), Fault::Count);
        assert_eq!(refused(&format!("{}{line}\n", heading(1, 2))), Fault::Count);
        assert_eq!(refused(&format!("{}{line}\n{line}\n", heading(1, 1))), Fault::Count);
        assert_eq!(refused(&format!("{}{line}\n{{}}\n", heading(1, 2))), Fault::Line(3));
        let negative = line.replace("\"price_minor\":101", "\"price_minor\":-1");
        assert_ne!(negative, line);
        assert_eq!(refused(&format!("{}{negative}\n", heading(1, 1))), Fault::Line(2));
        let large = serde_json::to_string(&observation(1, VARIANTS_MAX)).unwrap();
        assert_eq!(refused(&format!("{}{large}\n", heading(1, 1))), Fault::Line(2));
        let bomb = packed_text(&" ".repeat(TEXT_BYTES_MAX as usize + 1));
        assert!(bomb.len() < 100_000);
        assert_eq!(
            unpack(&bomb).unwrap_err(),
            Fault::TooLarge {
                bytes_max: TEXT_BYTES_MAX
            }
        );
    }

    proptest! {
        #[test]
        fn a_file_that_was_cut_or_changed_is_refused_or_whole(at in 0_usize..400, flip in 1_u8..=255, cut: bool) {
            let written = vec![observation(1, 3), observation(2, 0)];
            let mut bytes = pack(&written).unwrap().remove(0).bytes;
            let at = at % bytes.len();
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= flip;
            }
            if let Ok(read) = unpack(&bytes) {
                prop_assert_eq!(read, written);
            }
        }
    }
}
