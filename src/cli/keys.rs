use clap::{Subcommand, ValueEnum};
use state::Plan;

use super::examples;

/// Names and ids are read by the commands themselves: a refusal by the parser would show what was given, which may be a key.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key and print it, this once
    #[command(after_help = examples::KEYS_CREATE)]
    Create {
        /// The name of the key: 1 to 64 characters
        name: String,
        /// The plan, which sets the limits
        #[arg(long, value_enum, value_name = "PLAN", default_value_t = PlanArg::Free)]
        plan: PlanArg,
    },
    /// List every key that was made, with its plan, when it was last used, and whether it is taken
    #[command(after_help = examples::KEYS_LIST)]
    List,
    /// End a key; running servers refuse it within seconds
    #[command(after_help = examples::KEYS_REVOKE)]
    Revoke {
        /// The key's id, as `keys list` shows it
        id: String,
    },
    /// Take keys again that came back from a backup; until then they are refused, since they may have been revoked after it
    #[command(after_help = examples::KEYS_CONFIRM)]
    Confirm {
        /// The keys' ids, as `keys list` shows them
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
    },
    /// Make a new key in place of an old one, and print it, this once
    #[command(after_help = examples::KEYS_ROTATE)]
    Rotate {
        /// The old key's id, as `keys list` shows it
        id: String,
        /// For how many hours the old key is still taken
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=720))]
        grace_hours: u64,
    },
    /// Print a link that signs somebody in to the dashboard, once
    #[command(after_help = examples::KEYS_DASHBOARD)]
    Dashboard {
        /// The account that signs in: the same name has the same keys each time
        #[arg(long, value_name = "NAME", default_value = "operator")]
        account: String,
    },
    /// Make a new key that signs the tokens of checkouts; it is published before it signs, and the old one verifies on
    #[command(after_help = examples::KEYS_ROTATE_SIGNING)]
    RotateSigning,
    /// Show who did what to which key or account, oldest first
    #[command(after_help = examples::KEYS_AUDIT)]
    Audit {
        /// Of this key alone (its id)
        #[arg(long, value_name = "ID")]
        key: Option<String>,
        /// Only the newest N entries [default: all of them]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
}

/// The plan of a key.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlanArg {
    /// The limits for everybody
    Free,
    /// The limits that the operator grants to some
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
