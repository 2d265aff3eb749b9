//! Frames between a server and its workers: a kind, a length, and a payload of that many bytes.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::encode::Format;
use crate::{SqlConfig, SqlError};

/// Maximum payload of a response frame, in bytes. The server's memory is limited, because only a few frames are
/// buffered.
const PIECE_BYTES_MAX: usize = 256 << 10;
/// Maximum payload of any frame, in bytes: enough for the longest accepted statement with JSON escapes.
const FRAME_BYTES_MAX: usize = 4 << 20;
const HEAD_BYTES: usize = 5;

/// First frame that the server sends to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) config: SqlConfig,
    /// Folder of the worker for data that does not fit into memory.
    pub(crate) spill: PathBuf,
    /// Name of the release or lake state that the worker reads during its whole life.
    pub(crate) state: String,
    /// Additional settings from the program that starts the worker.
    pub(crate) own: serde_json::Value,
}

/// Request, which follows the first frame. The worker answers each request before it reads the next.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) as_of: Option<String>,
    pub(crate) timeout_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Opens the tables in advance, so that the first statement need not wait.
    Open,
    Rows {
        statement: String,
        format: Format,
    },
    /// Returns the rows of a statement as Flight `DoGet` messages.
    #[cfg(feature = "flight")]
    FlightRows {
        statement: String,
    },
    /// Returns the result columns of a statement as an Arrow IPC schema message.
    #[cfg(feature = "flight")]
    Columns {
        statement: String,
    },
    /// Returns the list of tables as an Arrow stream.
    #[cfg(feature = "flight")]
    Catalogue,
}

/// Frame that a worker sends back.
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

pub(crate) fn message(value: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(frame(PIECE, &serde_json::to_vec(value)?))
}

pub(crate) fn read<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head)?;
    let mut bytes = vec![0; length(head)?];
    stream.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Writes part of an answer, split into frames.
pub(crate) fn write(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(PIECE_BYTES_MAX) {
        stream.write_all(&frame(PIECE, piece))?;
    }
    Ok(())
}

/// Writes the frame that ends an answer.
pub(crate) fn end(stream: &mut impl Write, answered: Result<(), SqlError>) -> io::Result<()> {
    stream.write_all(&match answered {
        Ok(()) => frame(ENDED, &[]),
        Err(error) => frame(FAILED, &serde_json::to_vec(&error)?),
    })
}

/// Reads the next frame from a worker.
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
