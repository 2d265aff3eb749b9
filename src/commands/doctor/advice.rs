use std::io::{self, ErrorKind};

/// Returns advice if the disk or its permissions caused the error, not the data.
pub(super) fn of_disk(error: &anyhow::Error) -> Option<&'static str> {
    const DENIED: &str = "give this user, or the key of s3.access_key_id, write permission under home";
    error.chain().find_map(|cause| {
        if let Some(object_store::Error::PermissionDenied { .. }) = cause.downcast_ref() {
            return Some(DENIED);
        }
        match cause.downcast_ref::<io::Error>()?.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(
                "free some space on the disk; then `haat release gc` and `haat lake vacuum` remove files that are \
                     not needed",
            ),
            ErrorKind::ReadOnlyFilesystem => Some("make the disk writable"),
            ErrorKind::PermissionDenied => Some(DENIED),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use data_storage::StorageError;

    use super::*;

    fn unwritable(kind: ErrorKind) -> anyhow::Error {
        let source = object_store::Error::Generic {
            store: "test",
            source: Box::new(io::Error::from(kind)),
        };
        let path = "doctor/1".to_owned();
        anyhow::Error::new(StorageError::Write { path, source }).context("home")
    }

    #[test]
    fn each_fault_of_a_disk_has_advice_of_its_own_and_other_faults_have_none() {
        for (kind, told) in [
            (ErrorKind::StorageFull, Some("free some space")),
            (ErrorKind::QuotaExceeded, Some("free some space")),
            (ErrorKind::ReadOnlyFilesystem, Some("writable")),
            (ErrorKind::PermissionDenied, Some("give this user")),
            (ErrorKind::ConnectionRefused, None),
        ] {
            let advice = of_disk(&unwritable(kind));
            assert_eq!(advice.is_some(), told.is_some(), "{kind}: {advice:?}");
            assert!(
                advice.unwrap_or_default().contains(told.unwrap_or_default()),
                "{kind}: {advice:?}"
            );
        }
    }
}
