use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LakeFilesArgs {
    /// A table; may be given more than once [default: all tables]
    #[arg(long = "table", value_name = "TABLE")]
    pub(crate) tables: Vec<String>,
    /// Files of the lake at an earlier time (RFC 3339), or after the tick with this number
    #[arg(long, value_name = "TIME|TICK")]
    pub(crate) as_of: Option<String>,
    /// Put exactly these files into an empty folder or under an empty s3:// prefix. On one disk they are hard links,
    /// else copies. Each table also gets a file without rows, and files.json lists everything. Hard links share their
    /// bytes with the lake: never write to them
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) to: Option<String>,
}
