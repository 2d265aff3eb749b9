use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection, Executor};
use state::{AuditAction, AuditQuery, StateTarget};

use crate::support::{account, at, cli, create, named, on_both, told};

const HISTORY: &str = r#"[
  {
    "seq": 1,
    "at": "2026-11-23T04:00:00Z",
    "actor": {
      "kind": "account",
      "name": "acme"
    },
    "action": "key.created",
    "key": "OLD",
    "account": "acme",
    "detail": {
      "name": "Shop",
      "plan": "free"
    }
  },
  {
    "seq": 2,
    "at": "2026-11-23T04:00:01Z",
    "actor": {
      "kind": "account",
      "name": "acme"
    },
    "action": "key.renamed",
    "key": "OLD",
    "account": "acme",
    "detail": {
      "from": "Shop",
      "to": "Shop window"
    }
  },
  {
    "seq": 3,
    "at": "2026-11-23T04:00:02Z",
    "actor": {
      "kind": "operator",
      "name": "cli"
    },
    "action": "key.rotated",
    "key": "OLD",
    "account": "acme",
    "detail": {
      "ends_at": "2026-11-23T05:00:02Z",
      "name": "Shop window",
      "replaced_by": "NEW"
    }
  },
  {
    "seq": 4,
    "at": "2026-11-23T04:00:03Z",
    "actor": {
      "kind": "operator",
      "name": "cli"
    },
    "action": "key.revoked",
    "key": "OLD",
    "account": "acme",
    "detail": {
      "name": "Shop window"
    }
  }
]"#;

#[test]
fn the_audit_says_who_did_what_when_to_which_key() {
    on_both(async |place| {
        let state = place.open().await;
        let new = state::NewKey {
            account: Some("acme".parse().unwrap()),
            ..named("Shop")
        };
        let first = state.create_key(new, &account("acme"), at(0)).await.unwrap();
        let name = "Shop window".parse().unwrap();
        state
            .rename_key(&first.record.id, name, &account("acme"), at(1))
            .await
            .unwrap();
        let hour = Duration::from_secs(3600);
        let rotated = state.rotate_key(&first.record.id, hour, &cli(), at(2)).await.unwrap();
        state.revoke_key(&first.record.id, &cli(), at(3)).await.unwrap();
        let mut events = state.audit(&AuditQuery::default(), 100).await.unwrap();
        events.reverse();
        let names = BTreeMap::from([
            (first.record.id.to_string(), "OLD"),
            (rotated.issued.record.id.to_string(), "NEW"),
        ]);
        let shown = told(&events, &names);
        assert!(!shown.contains("haat_live_"), "{shown}");
        assert_eq!(shown, HISTORY);
    });
}

#[test]
fn a_change_that_was_refused_leaves_no_entry() {
    on_both(async |place| {
        let state = place.open().await;
        let id = create(&state, "One", at(0)).await.record.id;
        state.revoke_key(&id, &account("somebody"), at(1)).await.unwrap_err();
        let events = state.audit(&AuditQuery::default(), 100).await.unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].action, AuditAction::KeyCreated);
    });
}

#[test]
fn entries_are_read_in_pages_and_of_one_key_or_account() {
    on_both(async |place| {
        let state = place.open().await;
        let mut ids = Vec::new();
        for nth in 0..5 {
            ids.push(create(&state, &format!("Key {nth}"), at(nth)).await.record.id);
        }
        let mut query = AuditQuery::default();
        let mut read = Vec::new();
        loop {
            let page = state.audit(&query, 2).await.unwrap();
            let Some(last) = page.last() else { break };
            query.before = Some(last.seq);
            read.extend(page.into_iter().filter_map(|event| event.key));
        }
        ids.reverse();
        assert_eq!(read, ids);
        let of_one = AuditQuery {
            key: Some(ids[2].clone()),
            ..AuditQuery::default()
        };
        assert_eq!(state.audit(&of_one, 100).await.unwrap().len(), 1);
        let of_nobody = AuditQuery {
            account: Some("nobody".parse().unwrap()),
            ..AuditQuery::default()
        };
        assert_eq!(state.audit(&of_nobody, 100).await.unwrap(), []);
    });
}

/// Returns the database's error for an attempt to change past audit entries.
async fn tampered(target: &StateTarget, sql: &'static str) -> String {
    match target {
        StateTarget::Folder(folder) => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("state.sqlite3"));
            let mut connection = options.connect().await.unwrap();
            let refused = connection.execute(sql).await.unwrap_err().to_string();
            connection.close().await.unwrap();
            refused
        }
        #[cfg(feature = "postgres")]
        StateTarget::Postgres(url) => {
            let options: sqlx::postgres::PgConnectOptions = url.expose().parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            connection.execute(sql).await.unwrap_err().to_string()
        }
        StateTarget::Memory => panic!("nobody else can open it"),
    }
}

#[test]
fn the_databases_refuse_to_change_or_cut_the_audit() {
    on_both(async |place| {
        let state = place.open().await;
        create(&state, "One", at(0)).await;
        for sql in ["UPDATE audit SET actor_name = 'nobody'", "DELETE FROM audit"] {
            let refused = tampered(&place.target, sql).await;
            assert!(refused.contains("append-only"), "{refused}");
        }
        #[cfg(feature = "postgres")]
        if matches!(place.target, StateTarget::Postgres(_)) {
            let refused = tampered(&place.target, "TRUNCATE audit").await;
            assert!(refused.contains("append-only"), "{refused}");
        }
        assert_eq!(state.audit(&AuditQuery::default(), 10).await.unwrap().len(), 1);
    });
}
