use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use object_store::{PutResult, Result};

#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}", path.display())]
struct LocalIoError {
    operation: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

pub(crate) fn failed(operation: &'static str, path: PathBuf, source: io::Error) -> object_store::Error {
    let (kind, name) = (source.kind(), path.display().to_string());
    let source = Box::new(LocalIoError {
        operation,
        path,
        source,
    });
    match kind {
        ErrorKind::NotFound => object_store::Error::NotFound { path: name, source },
        ErrorKind::AlreadyExists => object_store::Error::AlreadyExists { path: name, source },
        ErrorKind::PermissionDenied => object_store::Error::PermissionDenied { path: name, source },
        _ => object_store::Error::Generic {
            store: "DurableLocal",
            source,
        },
    }
}

/// A put and a read of the same file return the same tag: inode, modification time and size.
pub(crate) fn put_result(file: &File) -> io::Result<PutResult> {
    let meta = file.metadata()?;
    let changed = meta
        .modified()?
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let e_tag = Some(format!("{:x}-{:x}-{:x}", meta.ino(), changed.as_micros(), meta.len()));
    Ok(PutResult { e_tag, version: None })
}

/// Runs blocking work on a blocking thread, or in place if there is no runtime.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await?,
        Err(_) => work(),
    }
}
