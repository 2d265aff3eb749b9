//! Checks for wording that confuses readers: no type name is a bare participle or verb, and no comment starts with a
//! question word.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Words for what happens to a thing or what it does, instead of what it is.
const PARTICIPLES: &str = "Accepted Added Allowed Announced Answered Answering Applied Arriving Asked Asking Asks Awaited \
    Begin Begun Believed Bought Brought Built Called Came Carried Changed Checked Chosen Claimed Closed Collected \
    Committed Compared Computed Confirmed Counted Counting Decided Declared Delivered Denied Described Does Done Doubted \
    Drawn Dropped Ended Enqueued Entered Expected Failed Fetched Filled Filtered Fixed Flooded Folded Found Generated \
    Given Gives Gone Granted Grouped Happens Held Hidden Holding Ignored Incoming Inserted Issued Joined Judged Kept \
    Known Labelled Lacking Laid Landed Leaving Left Lent Limited Linked Listed Listening Loaded Locked Looked Lost Made \
    Marked Matched Meant Measured Mended Merged Met Missed Missing Moved Named Needed Noted Obtained Offered Opened \
    Ordered Outgoing Owed Packed Paid Parsed Passed Passing Picked Placed Planned Plays Posted Prepared Presented Probed \
    Promised Pruned Put Queried Queued Raised Ranked Rated Read Rebuilt Received Recorded Refused Registered Released \
    Removed Repaired Replaced Reported Requested Reread Resold Resolved Restored Returned Revoked Rotated Running Said \
    Saved Says Scanned Scored Scripted Sealed Searched Seen Selected Sent Served Serving Settled Shared Shown Shows \
    Signed Sized Sold Sorted Sought Spelt Staged Standing Started Stated Stopped Stored Suggested Taken Takes Taking \
    Tells Tested Testing Tidied Told Tried Triggered Understood Unsynced Updated Used Vacuumed Verified Waited Waiting \
    Waits Wanted Was Weighed Were Withdrawn Worked Written";
const QUESTIONS: [&str; 7] = ["What", "How", "Whether", "Where", "Which", "Who", "Why"];

/// Collects the sources of a crate, without those of crates in folders below it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        } else if path.is_dir()
            && !path.join("Cargo.toml").exists()
            && name != "target"
            && !name.to_string_lossy().starts_with('.')
        {
            sources(&path, found);
        }
    }
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
            .map_or(rest, |(_, rest)| rest),
        None => line,
    };
    let (keyword, rest) = line.trim_start().split_once(' ')?;
    ["struct", "enum", "trait", "type", "union"]
        .contains(&keyword)
        .then(|| first_word(rest))
}

fn asks(line: &str) -> bool {
    let text = line
        .strip_prefix("//")
        .map(|text| text.strip_prefix(['/', '!']).unwrap_or(text));
    text.and_then(|text| text.strip_prefix(' '))
        .is_some_and(|text| QUESTIONS.contains(&first_word(text)))
}

#[test]
fn no_type_is_a_participle_and_no_comment_begins_with_a_question() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
    let mut found = String::new();
    for package in metadata.workspace_packages() {
        let mut files = Vec::new();
        sources(package.manifest_path.parent().unwrap().as_std_path(), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let is_participle =
                |line: &str| declared(line).is_some_and(|name| PARTICIPLES.split_whitespace().any(|word| word == name));
            let lines = text.lines().map(str::trim_start);
            for line in lines.filter(|line| asks(line) || is_participle(line)) {
                writeln!(found, "{}: {line}", file.display()).unwrap();
            }
        }
    }
    assert_eq!(found, "");
}
