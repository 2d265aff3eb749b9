//! Landed answers of review apps: `reviews/{store}/{microseconds}.jsonl.zst`, one object per reading of a store.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use object_store::path::Path;
use pipeline_crawl::AnswerFolder;
use pipeline_widgets::{Next, WidgetKey};
use serde::{Deserialize, Serialize};
use zstd::stream::write::Encoder;

use crate::walk::StoreListing;

/// Maximum size in bytes of one landed reading, compressed and decompressed. Answers beyond the limit are left out, and
/// the end record notes that answers are missing. An incomplete reading is not replayed.
const PACKED_BYTES_MAX: usize = 32 << 20;
const UNPACKED_BYTES_MAX: u64 = 512 << 20;
pub(crate) const ANSWERS: AnswerFolder = AnswerFolder {
    kind: "reviews",
    ending: "jsonl.zst",
};
const LEVEL: i32 = 3;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) store: StoreHost,
    pub(crate) asked_at: Timestamp,
    /// Review app of the store. `None` if the store no longer uses one.
    pub(crate) key: Option<WidgetKey>,
    /// True if the reading starts at the beginning of the list, and false if it continues an interrupted one.
    pub(crate) begins: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AppQuestion {
    Page(Next),
    Product(u64),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) asked: AppQuestion,
    /// Listed products of the store that the answer names, at the time of the answer.
    pub(crate) listed: StoreListing,
    /// Body of the answer, which is empty if the app does not know the requested product.
    pub(crate) body: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// True if the list was read to its end, so that unseen reviews are gone.
    pub(crate) is_whole: bool,
    /// True if the whole list was read. All ratings are requested only then.
    pub(crate) sweeps: bool,
    /// True if the size limit cut off some answers.
    pub(crate) is_cut: bool,
    /// True if the reading would have removed reviews but was not trusted.
    #[serde(default)]
    pub(crate) is_doubted: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Head(Head),
    Answer(Answer),
    End(End),
}

pub(crate) struct LandingBuilder {
    pub(crate) head: Head,
    pub(crate) end: End,
    lines: Option<Encoder<'static, Vec<u8>>>,
    bytes: u64,
}

impl fmt::Debug for LandingBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Landing")
            .field("head", &self.head)
            .field("end", &self.end)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl LandingBuilder {
    pub(crate) fn new(store: &StoreHost, asked_at: Timestamp) -> Self {
        Self {
            head: Head {
                store: store.clone(),
                asked_at,
                key: None,
                begins: false,
            },
            end: End::default(),
            lines: None,
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, asked: AppQuestion, listed: StoreListing, body: &[u8]) {
        let body = String::from_utf8_lossy(body).into_owned();
        self.put(&Line::Answer(Answer { asked, listed, body }));
    }

    fn put(&mut self, line: &Line) {
        // The landed reading ends at the first omitted answer, because a reading with a gap would look complete.
        if !self.end.is_cut && self.write(line).is_none() {
            self.end.is_cut = true;
        }
    }

    /// Returns `None` if there is no space. Writing into memory cannot fail otherwise.
    fn write(&mut self, line: &Line) -> Option<()> {
        let mut json = serde_json::to_vec(line).ok()?;
        json.push(b'\n');
        self.bytes += json.len() as u64;
        if self.bytes > UNPACKED_BYTES_MAX {
            return None;
        }
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => {
                let mut lines = Encoder::new(Vec::new(), LEVEL).ok()?;
                serde_json::to_writer(&mut lines, &Line::Head(self.head.clone())).ok()?;
                lines.write_all(b"\n").ok()?;
                none.insert(lines)
            }
        };
        lines.write_all(&json).ok()?;
        (lines.get_ref().len() <= PACKED_BYTES_MAX).then_some(())
    }

    /// Returns `None` if there is nothing to land.
    pub(crate) fn finish(mut self, is_gone: bool) -> Option<Vec<u8>> {
        if self.lines.is_none() && !is_gone {
            return None;
        }
        let end = Line::End(self.end);
        // The end record is written regardless of the size limit.
        self.bytes = 0;
        let _ = self.write(&end);
        self.lines?.finish().ok()
    }
}

/// The reading is durable when this function returns.
pub(crate) async fn land(
    storage: &Storage,
    store: &StoreHost,
    at: Timestamp,
    packed: Vec<u8>,
) -> Result<(), StorageError> {
    put_over(storage, &ANSWERS.path(store, at), packed).await
}

/// A landed reading, compressed. Its head and its end are readable.
#[derive(Debug, Clone)]
pub(crate) struct LandedReading {
    pub(crate) head: Head,
    pub(crate) end: End,
    pub(crate) path: Path,
}

/// Returns the head and the end of a landed reading, or `None` if it is damaged.
pub(crate) async fn outline(
    storage: &Storage,
    store: &StoreHost,
    path: &Path,
) -> Result<Option<LandedReading>, StorageError> {
    let Some(packed) = get_bytes(storage, path).await? else {
        return Ok(None);
    };
    let (mut head, mut end) = (None, None);
    for line in lines(&packed) {
        // Answers are skipped without parsing.
        match line {
            Some(line) if line.starts_with(br#"{"answer""#) && head.is_some() => {}
            Some(line) => match serde_json::from_slice(&line) {
                Ok(Line::Head(one)) if head.is_none() => head = Some(one),
                Ok(Line::End(one)) => end = Some(one),
                _ => return Ok(None),
            },
            None => return Ok(None),
        }
    }
    let (Some(head), Some(end)) = (head, end) else {
        return Ok(None);
    };
    let path = path.clone();
    Ok((head.store == *store).then_some(LandedReading { head, end, path }))
}

/// Passes the answers of a landed reading to `take`, which returns true to continue. Returns true if all answers could
/// be read.
pub(crate) async fn answers(
    storage: &Storage,
    landed: &LandedReading,
    mut take: impl FnMut(Answer) -> bool + Send,
) -> Result<bool, StorageError> {
    let Some(packed) = get_bytes(storage, &landed.path).await? else {
        return Ok(false);
    };
    for line in lines(&packed) {
        match line.and_then(|line| serde_json::from_slice(&line).ok()) {
            Some(Line::Answer(answer)) => {
                if !take(answer) {
                    return Ok(false);
                }
            }
            Some(Line::Head(_) | Line::End(_)) => {}
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Ends with `None` if decompression fails.
fn lines(packed: &[u8]) -> impl Iterator<Item = Option<Vec<u8>>> {
    let decoder = zstd::stream::Decoder::with_buffer(packed).ok();
    // The head and the end do not count towards the limit.
    let mut reader = decoder.map(|decoder| BufReader::new(decoder.take(UNPACKED_BYTES_MAX + (1 << 20))));
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let mut line = Vec::new();
        let read = reader.as_mut().map(|reader| reader.read_until(b'\n', &mut line));
        match read {
            Some(Ok(0)) => {
                is_over = true;
                None
            }
            Some(Ok(_)) => Some(Some(line)),
            Some(Err(_)) | None => {
                is_over = true;
                Some(None)
            }
        }
    })
}
