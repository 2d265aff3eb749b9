use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct LakeFilesArgs {
    /// A table; may be given more than once [default: all of them]
    #[arg(long = "table", value_name = "TABLE")]
    pub(crate) tables: Vec<String>,
    /// The files of the lake as it was: at this time (RFC 3339), or after the tick of this number
    #[arg(long, value_name = "TIME|TICK")]
    pub(crate) as_of: Option<String>,
    /// Put exactly these files into an empty folder (hard links where they are on one disk, else copies) or under an empty
    /// s3:// prefix, with a file without rows for each table and a list, files.json. Links share their bytes with the lake:
    /// never write to them
    #[arg(long, value_name = "DIR|URL")]
    pub(crate) to: Option<String>,
}
