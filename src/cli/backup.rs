use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use data_backup::BackupId;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Copy the home and the state of its servers to a folder or bucket; objects in an earlier backup are not copied
    /// again
    #[command(after_help = examples::BACKUP_CREATE)]
    Create {
        /// Location of the backups: a folder, or s3://bucket/prefix, outside the home
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        to: String,
        /// Leave raw pages (landing/) out: smaller, but these pages cannot be parsed again after a restore
        #[arg(long)]
        without_landing: bool,
        /// Copy state/master.key too; anybody with the backup can then read carts and customers' tokens
        #[arg(long)]
        with_master_key: bool,
        /// Count what would be copied, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the backups at a location, oldest first
    #[command(after_help = examples::BACKUP_LIST)]
    List {
        /// Location of the backups
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
    },
    /// Read a whole backup and verify the hash of every object (exit code 1: something is lost or damaged)
    #[command(after_help = examples::BACKUP_VERIFY)]
    Verify {
        /// Location of the backup
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
        /// Id of the backup [default: the newest]
        #[arg(long, value_name = "ID")]
        backup: Option<BackupId>,
        /// Move damaged objects to the folder `damaged` there: the next backup copies them again if the home has them
        #[arg(long)]
        set_aside: bool,
    },
    /// Remove all backups except the newest ones, and the objects that only the removed backups need
    #[command(after_help = examples::BACKUP_PRUNE)]
    Prune {
        /// Location of the backups
        #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
        at: String,
        /// Number of backups to keep
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        keep: u32,
        /// Report what would be removed, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Location of the backup: a folder, or s3://bucket/prefix
    #[arg(value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
    pub(crate) from: String,
    /// Id of the backup [default: the newest]
    #[arg(long, value_name = "ID")]
    pub(crate) backup: Option<BackupId>,
    /// Restore the remaining objects of a backup that has lost some; the lost ones are reported
    #[arg(long)]
    pub(crate) accept_loss: bool,
    /// Leave out the data that is sealed with the master key (carts, sign-ins at stores, signing keys), if that key is
    /// lost
    #[arg(long)]
    pub(crate) without_sealed: bool,
    /// Output of `haat keys list --json` from the state that was last in use: keys in this list need no confirmation,
    /// and keys revoked in this list stay revoked
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: Option<PathBuf>,
    /// Count what would be written, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
