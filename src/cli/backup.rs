use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use data_backup::BackupId;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Copy the home, and the state of its servers, to a folder or bucket; what an earlier backup has is not copied again
    #[command(after_help = examples::BACKUP_CREATE)]
    Create {
        /// The place of the backups: a folder, or s3://bucket/prefix, outside the home
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        to: String,
        /// Leave raw pages (landing/) out: smaller, but what they hold cannot be parsed again after a restore
        #[arg(long)]
        without_landing: bool,
        /// Copy state/master.key too; whoever has the backup can then read carts and customers' tokens
        #[arg(long)]
        with_master_key: bool,
        /// Count what would be copied, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the backups at a place, oldest first
    #[command(after_help = examples::BACKUP_LIST)]
    List {
        /// The place of the backups
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
    },
    /// Read a backup through and compare the hash of every object (exit code 1: something is lost or damaged)
    #[command(after_help = examples::BACKUP_VERIFY)]
    Verify {
        /// The place of the backup
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
        /// The backup [default: the newest]
        #[arg(long, value_name = "ID")]
        backup: Option<BackupId>,
        /// Move damaged objects to the folder `damaged` there: the next backup copies them again where the home has them
        #[arg(long)]
        set_aside: bool,
    },
    /// Remove all backups but the newest, and what only they need
    #[command(after_help = examples::BACKUP_PRUNE)]
    Prune {
        /// The place of the backups
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
        /// The number of backups that stay
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        keep: u32,
        /// Say what would go, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The place of the backup: a folder, or s3://bucket/prefix
    #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
    pub(crate) from: String,
    /// The backup [default: the newest]
    #[arg(long, value_name = "ID")]
    pub(crate) backup: Option<BackupId>,
    /// Restore what is left of a backup that has lost objects; the rest is named
    #[arg(long)]
    pub(crate) accept_loss: bool,
    /// Leave out what the master key has sealed (carts, sign-ins at stores, signing keys): for where that key is lost
    #[arg(long)]
    pub(crate) without_sealed: bool,
    /// The output of `haat keys list --json` on the state that was in use until now: its keys need no confirmation, and
    /// keys that it ended stays ended
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: Option<PathBuf>,
    /// Count what would be written, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
