//! Frames between a server and its workers: a kind, a length, and so many bytes.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::encode::Format;
use crate::{SqlConfig, SqlError};

/// Largest frame of an answer, so that a server never has more of a worker's answer in memory than a few of them.
const PIECE_BYTES_MAX: usize = 256 << 10;
/// Largest frame at all: a statement of as many characters as are read, escaped.
const FRAME_BYTES_MAX: usize = 4 << 20;
const HEAD_BYTES: usize = 5;

/// The first frame that a worker gets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) config: SqlConfig,
    /// The worker's own folder for data that does not fit into memory.
    pub(crate) spill: PathBuf,
    /// The name of the state that it reads for as long as it lives.
    pub(crate) state: String,
    /// The words of the program that starts it.
    pub(crate) own: serde_json::Value,
}

/// Each further frame: a statement, answered before the next.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) as_of: Option<String>,
    pub(crate) timeout_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Opens the tables, so that the first statement finds them open.
    Open,
    Rows {
        statement: String,
        format: Format,
    },
    /// Rows as messages of `DoGet`.
    #[cfg(feature = "flight")]
    FlightRows {
        statement: String,
    },
    /// The columns that a statement would answer with, as a message of the stream format.
    #[cfg(feature = "flight")]
    Columns {
        statement: String,
    },
    /// The tables, as an Arrow stream.
    #[cfg(feature = "flight")]
    Catalogue,
}

/// A frame that a worker answers with.
#[derive(Debug)]
pub(crate) enum Reply {
    Piece(Bytes),
    Ended,
    Failed(SqlError),
}

const PIECE: u8 = 0;
const ENDED: u8 = 1;
const FAILED: u8 = 2;

fn frame(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(HEAD_BYTES + bytes.len());
    out.push(kind);
    out.extend(length.to_le_bytes());
    out.extend_from_slice(bytes);
    out
}

fn length(head: [u8; HEAD_BYTES]) -> io::Result<usize> {
    let [_, length @ ..] = head;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(length)
}

/// A frame for a worker.
pub(crate) fn message(value: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(frame(PIECE, &serde_json::to_vec(value)?))
}

/// The next frame that a worker gets.
pub(crate) fn read<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head)?;
    let mut bytes = vec![0; length(head)?];
    stream.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Writes a part of an answer, in frames.
pub(crate) fn write(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(PIECE_BYTES_MAX) {
        stream.write_all(&frame(PIECE, piece))?;
    }
    Ok(())
}

/// Writes the end of an answer.
pub(crate) fn end(stream: &mut impl Write, answered: Result<(), SqlError>) -> io::Result<()> {
    stream.write_all(&match answered {
        Ok(()) => frame(ENDED, &[]),
        Err(error) => frame(FAILED, &serde_json::to_vec(&error)?),
    })
}

/// The next frame that a worker answers with.
pub(crate) async fn told(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Reply> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head).await?;
    let mut bytes = vec![0; length(head)?];
    stream.read_exact(&mut bytes).await?;
    match head {
        [PIECE, ..] => Ok(Reply::Piece(bytes.into())),
        [ENDED, ..] => Ok(Reply::Ended),
        [FAILED, ..] => Ok(Reply::Failed(serde_json::from_slice(&bytes)?)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
