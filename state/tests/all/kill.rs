//! Acknowledged writes survive a kill.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use state::{ApiKey, KeyIndex, State, StateTarget};

use crate::support::{at, create};

/// Environment variable that passes the folder to the process to be killed.
const FOLDER: &str = "TEST_STATE_FOLDER";
/// Numbers of acknowledged keys after which a run is killed, at an arbitrary moment of the next change.
const KILLED_AFTER: [usize; 5] = [1, 2, 5, 11, 23];

/// The process to be killed, not a test. It prints each key after it was acknowledged.
#[test]
#[ignore = "run by `keys_that_were_acknowledged_survive_a_kill`"]
fn creates_keys_until_it_is_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let state = State::open(&StateTarget::Folder(folder.into())).await.unwrap();
        for nth in 0.. {
            let issued = create(&state, &format!("Key {nth}"), at(nth)).await;
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "\nacknowledged {}", issued.key.expose()).unwrap();
            stdout.flush().unwrap();
        }
    });
}

#[test]
fn keys_that_were_acknowledged_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut acknowledged: Vec<ApiKey> = Vec::new();
    for count in KILLED_AFTER {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "kill::creates_keys_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, &state)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut keys = lines.filter_map(|line| line.ok()?.strip_prefix("acknowledged ")?.parse().ok());
        acknowledged.extend(keys.by_ref().take(count));
        child.kill().unwrap();
        // Keys that the process printed before the signal were acknowledged too.
        acknowledged.extend(keys);
        child.wait().unwrap();
    }
    assert!(acknowledged.len() >= KILLED_AFTER.iter().sum());

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let state = State::open(&StateTarget::Folder(state)).await.unwrap();
        let index = KeyIndex::load(state.clone()).await.unwrap();
        for key in &acknowledged {
            index.check(key.expose(), at(0)).unwrap();
        }
        // Each key has its audit entry, because the interrupted change applies completely or not at all.
        let keys = state.keys(None).await.unwrap();
        let entries = state.audit(&Default::default(), 100_000).await.unwrap();
        assert_eq!(keys.len(), entries.len());
        assert!(keys.len() <= acknowledged.len() + KILLED_AFTER.len());
    });
}
