use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};
use crate::config::Layers;

/// Returns the context and command of a command line `haat …` with a home of its own.
fn context(home: &str, arguments: &[&str]) -> (Context, KeysCommand) {
    let words = [&["haat", "--home", home, "keys"], arguments].concat();
    let cli = Cli::try_parse_from(words).unwrap();
    let config = Layers::read(&cli.global).unwrap().merge().unwrap();
    let mut context = Context::new(config, Output { json: true }, true, false);
    context.only_reads = cli.command.only_reads();
    let Command::Keys(command) = cli.command else {
        panic!("no command on keys");
    };
    (context, command)
}

async fn keys(home: &str, arguments: &[&str]) -> anyhow::Result<Outcome> {
    let (context, command) = context(home, arguments);
    run(command, context).await
}

async fn records(home: &str) -> Vec<state::KeyRecord> {
    let (context, _) = context(home, &["list"]);
    context.state().await.unwrap().keys(None).await.unwrap()
}

#[tokio::test]
async fn a_key_is_made_listed_rotated_and_revoked() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    keys(home, &["create", "Mobile app", "--plan", "granted"])
        .await
        .unwrap();
    let made = records(home).await;
    assert_eq!(
        (made.len(), made[0].name.as_str(), made[0].plan),
        (1, "Mobile app", state::Plan::Granted)
    );
    keys(home, &["list"]).await.unwrap();
    keys(home, &["rotate", made[0].id.as_str(), "--grace-hours", "24"])
        .await
        .unwrap();
    let rotated = records(home).await;
    assert_eq!(rotated.len(), 2);
    let (old, new) = (&rotated[0], &rotated[1]);
    assert_eq!(old.replaced_by.as_ref(), Some(&new.id));
    let grace = old.ends_at.unwrap().millis_since(new.created_at);
    assert_eq!(grace, 24 * 3_600_000);
    keys(home, &["revoke", old.id.as_str()]).await.unwrap();
    assert!(records(home).await[0].revoked_at.is_some());
    keys(home, &["audit", "--limit", "2"]).await.unwrap();
}

#[tokio::test]
async fn an_id_that_is_unknown_or_over_is_a_mistake_of_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let unknown = keys(home, &["revoke", "key_000000000000"]).await.unwrap_err();
    assert_eq!(Outcome::of(&unknown), Outcome::Usage);
    assert_eq!(unknown.to_string(), "there is no key key_000000000000");
    keys(home, &["create", "One"]).await.unwrap();
    let id = records(home).await[0].id.to_string();
    keys(home, &["revoke", &id]).await.unwrap();
    for again in [["revoke", id.as_str()], ["rotate", id.as_str()]] {
        let over = keys(home, &again).await.unwrap_err();
        assert_eq!(Outcome::of(&over), Outcome::Usage, "{over}");
    }
}

#[tokio::test]
async fn a_key_that_is_given_where_a_name_or_an_id_belongs_is_refused_without_being_shown() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let key = state::ApiKey::generate().unwrap();
    let key = key.expose();
    for arguments in [
        vec!["create", key],
        vec!["revoke", key],
        vec!["rotate", key],
        vec!["audit", "--key", key],
    ] {
        let refused = keys(home, &arguments).await.unwrap_err();
        assert_eq!(Outcome::of(&refused), Outcome::Usage);
        assert!(!format!("{refused:?}").contains(&key[10..]), "{refused:?}");
    }
}

#[tokio::test]
async fn a_command_that_only_reads_makes_no_state() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [["list"], ["audit"]] {
        keys(home.path().to_str().unwrap(), &arguments).await.unwrap();
        assert_eq!(home.path().read_dir().unwrap().count(), 0, "{arguments:?}");
    }
}

#[tokio::test]
async fn a_home_in_a_bucket_needs_the_address_of_a_database() {
    let (mut context, command) = context("unused", &["list"]);
    context.config.home = "s3://market/haat".to_owned();
    context.config.s3.access_key_id = "id".to_owned();
    context.config.s3.secret_access_key = "secret".to_owned();
    let refused = run(command, context).await.unwrap_err();
    assert_eq!(Outcome::of(&refused), Outcome::Usage);
    assert_eq!(
        refused.to_string(),
        "keys and jobs cannot be stored in s3://market/haat: set state.url (HAAT_STATE__URL) to a PostgreSQL server, \
         such as postgres://haat@db.example/haat"
    );
}

#[tokio::test]
async fn the_master_key_is_made_once_and_another_one_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    keys(folder, &["create", "One"]).await.unwrap();
    let path = home.path().join("state/master.key");
    let made = std::fs::read_to_string(&path).unwrap();
    keys(folder, &["create", "Two"]).await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), made);

    let other = "ab".repeat(32);
    let (mut changed, command) = context(folder, &["create", "Three"]);
    changed.config.state.master_key = other.clone();
    let refused = run(command, changed).await.unwrap_err();
    assert_eq!(Outcome::of(&refused), Outcome::Usage);
    assert!(refused.to_string().contains("state.master_key"), "{refused}");
    let (mut rotated, command) = context(folder, &["create", "Three"]);
    rotated.config.state.master_key = format!("{other},{}", made.trim());
    run(command, rotated).await.unwrap();
    assert_eq!(records(folder).await.len(), 3);
}
