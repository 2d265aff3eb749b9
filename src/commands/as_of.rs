//! State of the lake for a command with `--as-of`.

use data_lake::{AsOf, Lake, LakeError, LakeSnapshot};

use crate::exit::usage;

/// Returns the state at `--as-of`, a time or the number of a tick, or by default the current state.
pub(crate) async fn snapshot(lake: &Lake, as_of: Option<&str>) -> anyhow::Result<LakeSnapshot> {
    let Some(text) = as_of else {
        return Ok(Box::pin(lake.snapshot()).await?);
    };
    let found = Box::pin(lake.snapshot_at(&moment(text)?)).await;
    found.map_err(|error| match error {
        LakeError::NoTickThen { .. } | LakeError::NoSuchTick { .. } | LakeError::EndMissing { .. } => {
            usage(anyhow::Error::new(error).context("--as-of"))
        }
        error => error.into(),
    })
}

fn moment(text: &str) -> anyhow::Result<AsOf> {
    if let Ok(tick) = text.parse() {
        return Ok(AsOf::Tick(tick));
    }
    let time = text.parse().map(AsOf::Timestamp);
    time.map_err(|_| {
        usage(anyhow::anyhow!(
            "--as-of: {text:?} is neither a time (RFC 3339) nor a tick number"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_tick_or_a_time() {
        assert_eq!(moment("12").unwrap(), AsOf::Tick(12));
        let time = "2026-11-22T06:00:00Z";
        assert_eq!(moment(time).unwrap(), AsOf::Timestamp(time.parse().unwrap()));
        for wrong in ["", "-1", "yesterday", "2026-11-22"] {
            assert!(moment(wrong).unwrap_err().to_string().contains("--as-of"), "{wrong}");
        }
    }
}
