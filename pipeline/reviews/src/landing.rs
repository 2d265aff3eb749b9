//! Answers of review apps, as they are landed: `reviews/{store}/{microseconds}.jsonl.zst`, one object a reading of a store.

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

/// Most bytes of one reading that are landed, packed and unpacked. What is beyond is left out, which the end notes: such a
/// reading is not read again.
const PACKED_BYTES_MAX: usize = 32 << 20;
const UNPACKED_BYTES_MAX: u64 = 512 << 20;
/// The place of landings.
pub(crate) const ANSWERS: AnswerFolder = AnswerFolder {
    kind: "reviews",
    ending: "jsonl.zst",
};
/// Tightness of packed answers.
const LEVEL: i32 = 3;

/// The beginning of a reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) store: StoreHost,
    pub(crate) asked_at: Timestamp,
    /// The app; `None` where the store was seen to use none any more.
    pub(crate) key: Option<WidgetKey>,
    /// It begins the list anew, and does not go on with one that was cut short.
    pub(crate) begins: bool,
}

/// A question to an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AppQuestion {
    /// A page of the list.
    Page(Next),
    /// The ratings of a product.
    Product(u64),
}

/// One answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) asked: AppQuestion,
    /// Of the products that it names those that the store listed then.
    pub(crate) listed: StoreListing,
    /// Empty where the app does not know the product that it was asked for.
    pub(crate) body: String,
}

/// The end of a reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// The list was read to its end, so that what was not seen is gone.
    pub(crate) is_whole: bool,
    /// It was a reading of all of it, after which all ratings are asked for.
    pub(crate) sweeps: bool,
    /// Answers are left out.
    pub(crate) is_cut: bool,
    /// The reviews that it took away were not believed to be gone, and stay.
    #[serde(default)]
    pub(crate) is_doubted: bool,
}

/// A line of a landed object.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Head(Head),
    Answer(Answer),
    End(End),
}

/// A reading on its way to the landing.
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

    /// Adds an answer.
    pub(crate) fn add(&mut self, asked: AppQuestion, listed: StoreListing, body: &[u8]) {
        let body = String::from_utf8_lossy(body).into_owned();
        self.put(&Line::Answer(Answer { asked, listed, body }));
    }

    fn put(&mut self, line: &Line) {
        // The first answer that is left out ends it: a reading with a hole would be taken for a whole one.
        if !self.end.is_cut && self.write(line).is_none() {
            self.end.is_cut = true;
        }
    }

    /// `None` where there is no room. Writing into memory fails never else.
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

    /// The object; `None` where there is nothing to land.
    pub(crate) fn finish(mut self, is_gone: bool) -> Option<Vec<u8>> {
        if self.lines.is_none() && !is_gone {
            return None;
        }
        let end = Line::End(self.end);
        // The end is written whatever the room.
        self.bytes = 0;
        let _ = self.write(&end);
        self.lines?.finish().ok()
    }
}

/// Lands a reading: durable when this returns.
pub(crate) async fn land(
    storage: &Storage,
    store: &StoreHost,
    at: Timestamp,
    packed: Vec<u8>,
) -> Result<(), StorageError> {
    put_over(storage, &ANSWERS.path(store, at), packed).await
}

/// A landed reading, packed. Its head and its end are known to be readable.
#[derive(Debug, Clone)]
pub(crate) struct LandedReading {
    pub(crate) head: Head,
    pub(crate) end: End,
    pub(crate) path: Path,
}

/// The beginning and the end of a landed reading; `None` where it is damaged.
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
        // Answers are passed over unread.
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

/// The answers of a landed reading, to `take`, which says whether it goes on; whether all of them could be read.
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

/// The lines of an object; `None` for what cannot be unpacked, which is the last.
fn lines(packed: &[u8]) -> impl Iterator<Item = Option<Vec<u8>>> {
    let decoder = zstd::stream::Decoder::with_buffer(packed).ok();
    // The head and the end are beyond what is counted.
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
