use clap::{Subcommand, ValueEnum};
use state::Plan;

use super::examples;

/// The commands parse names and ids themselves, because a parser error would show the given text, which may be a key.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it; it cannot be shown again
    #[command(after_help = examples::KEYS_CREATE)]
    Create {
        /// Name of the key: 1 to 64 characters
        name: String,
        /// Plan, which sets the limits
        #[arg(long, value_enum, value_name = "PLAN", default_value_t = PlanArg::Free)]
        plan: PlanArg,
    },
    /// List every key that was ever created, with its plan, last use and status
    #[command(after_help = examples::KEYS_LIST)]
    List,
    /// Revoke a key; running servers refuse it within seconds
    #[command(after_help = examples::KEYS_REVOKE)]
    Revoke {
        /// Id of the key, as `keys list` shows it
        id: String,
    },
    /// Accept keys again that were restored from a backup; until then they are refused, because they may have been
    /// revoked after it
    #[command(after_help = examples::KEYS_CONFIRM)]
    Confirm {
        /// Ids of the keys, as `keys list` shows them
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// All keys
        #[arg(long)]
        all: bool,
    },
    /// Create a new key that replaces an old one, and print it; it cannot be shown again
    #[command(after_help = examples::KEYS_ROTATE)]
    Rotate {
        /// Id of the old key, as `keys list` shows it
        id: String,
        /// Number of hours for which the old key is still accepted
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=720))]
        grace_hours: u64,
    },
    /// Print a link that signs somebody in to the dashboard once
    #[command(after_help = examples::KEYS_DASHBOARD)]
    Dashboard {
        /// Account that signs in: the same name always has the same keys
        #[arg(long, value_name = "NAME", default_value = "operator")]
        account: String,
    },
    /// Create a new key to sign checkout tokens; it is published before it is used, and the old key still verifies
    #[command(after_help = examples::KEYS_ROTATE_SIGNING)]
    RotateSigning,
    /// Show who changed which key or account, oldest first
    #[command(after_help = examples::KEYS_AUDIT)]
    Audit {
        /// Only entries about this key (its id)
        #[arg(long, value_name = "ID")]
        key: Option<String>,
        /// Only the newest N entries [default: all]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
}

/// The plan of a key.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlanArg {
    /// The default limits
    Free,
    /// The higher limits that the operator grants
    Granted,
}

impl From<PlanArg> for Plan {
    fn from(plan: PlanArg) -> Self {
        match plan {
            PlanArg::Free => Self::Free,
            PlanArg::Granted => Self::Granted,
        }
    }
}
