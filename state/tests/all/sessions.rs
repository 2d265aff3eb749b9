use std::collections::BTreeMap;
use std::time::Duration;

use data_model::Timestamp;
use state::{
    Account, AuditQuery, IssuedSession, LOCAL_ISSUER, LinkRefusal, LinkToken, LinkUse, MAIL_ISSUER, NewSession,
    PendingSignIn, SessionLimits, SessionToken, SignInMethod, State,
};

use crate::support::{account, at, cli, named, on_both, told};

const MINUTE_MS: u64 = 60_000;
const QUARTER: Duration = Duration::from_secs(900);

fn short(replaces: Option<&SessionToken>) -> NewSession {
    NewSession {
        method: SignInMethod::Link,
        client: "Browser".to_owned(),
        limits: SessionLimits {
            idle_ms: 10 * MINUTE_MS,
            total_ms: 60 * MINUTE_MS,
        },
        replaces: replaces.map(SessionToken::hash),
    }
}

async fn someone(state: &State, name: &str) -> Account {
    state
        .find_or_create_account(LOCAL_ISSUER, name, None, at(0))
        .await
        .unwrap()
}

async fn begin(state: &State, who: &Account, now: Timestamp) -> IssuedSession {
    state.create_session(&who.id, short(None), now).await.unwrap()
}

const fn minute(nth: i64) -> i64 {
    nth * 60
}

#[test]
fn a_provider_and_its_subject_have_one_account_whatever_their_address() {
    on_both(async |place| {
        let state = place.open().await;
        let made = |subject: &'static str, email: Option<&'static str>| {
            let state = state.clone();
            async move {
                let issuer = "https://sign-in.example";
                let made = state.find_or_create_account(issuer, subject, email, at(0)).await;
                made.unwrap()
            }
        };
        let first = made("1", Some("old@shop.example")).await;
        assert_eq!(first.name(), "old@shop.example");
        let renamed = made("1", Some("new@shop.example")).await;
        assert_eq!((&renamed.id, renamed.name()), (&first.id, "new@shop.example"));
        assert_eq!(made("1", None).await, renamed);
        assert_eq!(state.account(&first.id).await.unwrap(), Some(renamed));
        let other = made("2", Some("new@shop.example")).await;
        assert_ne!(other.id, first.id);
        assert_ne!(someone(&state, "1").await.id, first.id);
        let nobody = "acc_0".parse().unwrap();
        assert_eq!(state.account(&nobody).await.unwrap(), None);

        let together = (0..8).map(|_| tokio::spawn(made("3", None)));
        let mut ids = Vec::new();
        for one in together.collect::<Vec<_>>() {
            ids.push(one.await.unwrap().id);
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    });
}

#[test]
fn a_session_ends_without_use_and_in_any_case() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let idle = begin(&state, &who, at(0)).await;
        let hash = idle.token.hash();
        let found = state.find_session(&hash, at(59)).await.unwrap().unwrap();
        assert_eq!(found, idle.grant);
        assert_eq!((found.account, found.ends_at), (who.id.clone(), at(minute(10))));
        assert_eq!(state.find_session(&hash, at(minute(10))).await.unwrap(), None);

        let used = begin(&state, &who, at(0)).await.token.hash();
        for nth in (9..60).step_by(9) {
            let grant = state.find_session(&used, at(minute(nth))).await.unwrap().unwrap();
            let end = minute((nth + 10).min(60));
            assert_eq!((grant.seen_at, grant.ends_at), (at(minute(nth)), at(end)));
        }
        assert!(state.find_session(&used, at(minute(60) - 1)).await.unwrap().is_some());
        assert_eq!(state.find_session(&used, at(minute(60))).await.unwrap(), None);
        assert_eq!(state.sessions_of(&who.id, at(minute(60))).await.unwrap(), []);
        let other = SessionToken::generate().unwrap().hash();
        assert_eq!(state.find_session(&other, at(0)).await.unwrap(), None);
    });
}

#[test]
fn who_signs_in_gets_a_new_session_and_the_one_before_ends() {
    on_both(async |place| {
        let state = place.open().await;
        let (who, attacker) = (someone(&state, "acme").await, someone(&state, "mallory").await);
        let planted = begin(&state, &attacker, at(0)).await.token;
        let mine = state
            .create_session(&who.id, short(Some(&planted)), at(1))
            .await
            .unwrap();
        assert_ne!(mine.token.hash(), planted.hash());
        assert_eq!(state.find_session(&planted.hash(), at(2)).await.unwrap(), None);
        let found = state.find_session(&mine.token.hash(), at(2)).await.unwrap().unwrap();
        assert_eq!(found.account, who.id);
    });
}

#[test]
fn a_session_is_ended_by_its_owner_alone_one_by_one_or_all() {
    on_both(async |place| {
        let state = place.open().await;
        let (who, other) = (someone(&state, "acme").await, someone(&state, "mallory").await);
        let [first, second, third] = [
            begin(&state, &who, at(0)).await,
            begin(&state, &who, at(1)).await,
            begin(&state, &who, at(2)).await,
        ];
        let theirs = begin(&state, &other, at(3)).await;
        let listed = state.sessions_of(&who.id, at(4)).await.unwrap();
        assert_eq!(listed, [third.grant.clone(), second.grant.clone(), first.grant.clone()]);

        assert!(!state.end_session_of(&other.id, &first.grant.id, at(5)).await.unwrap());
        assert!(state.find_session(&first.token.hash(), at(5)).await.unwrap().is_some());
        assert!(state.end_session_of(&who.id, &first.grant.id, at(6)).await.unwrap());
        assert!(!state.end_session_of(&who.id, &first.grant.id, at(6)).await.unwrap());
        assert!(state.end_session(&second.token.hash(), at(7)).await.unwrap());
        assert!(!state.end_session(&second.token.hash(), at(7)).await.unwrap());
        assert_eq!(
            state.sessions_of(&who.id, at(8)).await.unwrap(),
            std::slice::from_ref(&third.grant)
        );
        let actor = account(who.id.as_str());
        assert_eq!(state.end_sessions_of(&who.id, &actor, at(9)).await.unwrap(), 1);
        for token in [&first.token, &second.token, &third.token] {
            assert_eq!(state.find_session(&token.hash(), at(10)).await.unwrap(), None);
        }
        assert!(
            state
                .find_session(&theirs.token.hash(), at(10))
                .await
                .unwrap()
                .is_some()
        );
    });
}

#[test]
fn an_account_has_so_many_sessions_and_the_oldest_make_room() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let first = begin(&state, &who, at(0)).await;
        for nth in 1..=20 {
            begin(&state, &who, at(nth)).await;
        }
        assert_eq!(state.sessions_of(&who.id, at(30)).await.unwrap().len(), 20);
        assert_eq!(state.find_session(&first.token.hash(), at(30)).await.unwrap(), None);
    });
}

#[test]
fn what_a_browser_calls_itself_is_kept_as_one_short_line() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let long = NewSession {
            client: format!("A\r\nB\0{}", "ü".repeat(500)),
            ..short(None)
        };
        let issued = state.create_session(&who.id, long, at(0)).await.unwrap();
        let listed = state.sessions_of(&who.id, at(1)).await.unwrap();
        assert_eq!(listed, std::slice::from_ref(&issued.grant));
        assert_eq!(issued.grant.client, format!("AB{}", "ü".repeat(118)));
    });
}

async fn link(state: &State, who: &Account, now: Timestamp) -> LinkToken {
    state.create_sign_in_link(&who.id, QUARTER, &cli(), now).await.unwrap()
}

fn refused(used: &LinkUse) -> Option<LinkRefusal> {
    match used {
        LinkUse::SignedIn(_) => None,
        LinkUse::Refused(why) => Some(*why),
    }
}

#[test]
fn a_link_signs_in_once_and_in_time() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let token = link(&state, &who, at(0)).await;
        let late = state
            .use_sign_in_link(&token.hash(), short(None), at(900))
            .await
            .unwrap();
        assert_eq!(refused(&late), Some(LinkRefusal::Late));

        let used = state
            .use_sign_in_link(&token.hash(), short(None), at(899))
            .await
            .unwrap();
        let LinkUse::SignedIn(session) = used else {
            panic!("{used:?}");
        };
        let found = state
            .find_session(&session.token.hash(), at(899))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((found.account, found.method), (who.id.clone(), SignInMethod::Link));
        for _ in 0..10 {
            let again = state
                .use_sign_in_link(&token.hash(), short(None), at(899))
                .await
                .unwrap();
            assert_eq!(refused(&again), Some(LinkRefusal::Used));
        }
        let unknown = LinkToken::generate().unwrap().hash();
        let unknown = state.use_sign_in_link(&unknown, short(None), at(1)).await.unwrap();
        assert_eq!(refused(&unknown), Some(LinkRefusal::Unknown));
        // Only a few refusals of a link are audited, and none of an unknown link.
        let events = state.audit(&AuditQuery::default(), 100).await.unwrap();
        let tries = events.iter().filter(|event| event.action.as_str() == "session.refused");
        assert_eq!(tries.count(), 5);
    });
}

#[test]
fn an_account_of_a_mailed_link_is_kept_where_somebody_came_with_one() {
    on_both(async |place| {
        let state = place.open().await;
        let mailed = async |address: &str, now: Timestamp| {
            let address = address.parse().unwrap();
            state.create_mailed_link(&address, QUARTER, now).await.unwrap()
        };
        let known = async |address: &str| {
            let found = state.find_or_create_account(MAIL_ISSUER, address, None, at(0)).await;
            found.unwrap()
        };
        let link = mailed("asha@mail.example", at(0)).await;
        mailed("ravi@mail.example", at(0)).await;
        let (asha, ravi) = (known("asha@mail.example").await, known("ravi@mail.example").await);
        assert_eq!((&asha.email, asha.name()), (&None, "asha@mail.example"));
        let used = state.use_sign_in_link(&link.hash(), short(None), at(1)).await.unwrap();
        assert!(matches!(used, LinkUse::SignedIn(_)), "{used:?}");
        mailed("new@mail.example", at(900 + 7 * 86_400)).await;
        let kept = state.account(&asha.id).await.unwrap().unwrap();
        assert_eq!(kept.email.as_deref(), Some("asha@mail.example"));
        assert_eq!(state.account(&ravi.id).await.unwrap(), None);
        assert!(known("new@mail.example").await.id != ravi.id);
    });
}

#[test]
fn of_many_that_use_a_link_at_the_same_time_one_is_signed_in() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let hash = link(&state, &who, at(0)).await.hash();
        let tries = (0..10).map(|_| {
            let state = state.clone();
            tokio::spawn(async move { state.use_sign_in_link(&hash, short(None), at(1)).await.unwrap() })
        });
        let mut signed_in = 0;
        for tried in tries.collect::<Vec<_>>() {
            signed_in += usize::from(refused(&tried.await.unwrap()).is_none());
        }
        assert_eq!(signed_in, 1);
        assert_eq!(state.sessions_of(&who.id, at(2)).await.unwrap().len(), 1);
    });
}

#[test]
fn a_sign_in_under_way_comes_back_once_and_in_time() {
    on_both(async |place| {
        let state = place.open().await;
        let wanted = PendingSignIn {
            return_to: "/dashboard/#keys".to_owned(),
        };
        let begun = state.begin_sign_in(&wanted, QUARTER, at(0)).await.unwrap().unwrap();
        let taken = state.take_sign_in(&begun.hash(), at(899)).await.unwrap();
        assert_eq!(taken, Some(wanted.clone()));
        assert_eq!(state.take_sign_in(&begun.hash(), at(1)).await.unwrap(), None);
        let late = state.begin_sign_in(&wanted, QUARTER, at(0)).await.unwrap().unwrap();
        assert_eq!(state.take_sign_in(&late.hash(), at(900)).await.unwrap(), None);
        assert_eq!(state.take_sign_in(&late.hash(), at(1)).await.unwrap(), None);
    });
}

#[test]
fn an_account_makes_no_more_keys_than_it_may_however_many_it_makes_at_once() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let new = state::NewKey {
            account: Some(who.id.clone()),
            ..named("One")
        };
        let actor = account(who.id.as_str());
        let tries = (0..8).map(|_| {
            let (state, new, actor) = (state.clone(), new.clone(), actor.clone());
            tokio::spawn(async move { state.create_key_within(new, 3, &actor, at(1)).await.unwrap() })
        });
        let mut made = Vec::new();
        for tried in tries.collect::<Vec<_>>() {
            made.extend(tried.await.unwrap());
        }
        assert_eq!(made.len(), 3);
        // Keys of other accounts do not count, and a revoked key frees a slot.
        state.create_key(named("Other"), &cli(), at(2)).await.unwrap();
        let rotated = state
            .rotate_key(&made[0].record.id, QUARTER, &actor, at(2))
            .await
            .unwrap();
        assert!(
            state
                .create_key_within(new.clone(), 3, &actor, at(3))
                .await
                .unwrap()
                .is_none()
        );
        let id = &rotated.issued.record.id;
        state.revoke_key(id, &actor, at(3)).await.unwrap();
        assert!(state.create_key_within(new, 3, &actor, at(3)).await.unwrap().is_some());
    });
}

#[test]
fn the_audit_tells_sign_in_and_sign_out() {
    on_both(async |place| {
        let state = place.open().await;
        let who = someone(&state, "acme").await;
        let token = link(&state, &who, at(1)).await;
        let used = state.use_sign_in_link(&token.hash(), short(None), at(2)).await.unwrap();
        let LinkUse::SignedIn(session) = used else {
            panic!("{used:?}");
        };
        state.use_sign_in_link(&token.hash(), short(None), at(3)).await.unwrap();
        state.end_session(&session.token.hash(), at(4)).await.unwrap();
        state.end_sessions_of(&who.id, &cli(), at(5)).await.unwrap();
        let of_them = AuditQuery {
            account: Some(who.id.clone()),
            ..AuditQuery::default()
        };
        let mut events = state.audit(&of_them, 100).await.unwrap();
        events.reverse();
        let lines = events.iter().map(|event| {
            let actor = serde_json::to_string(&event.actor).unwrap();
            format!("{} {} {actor} {}", event.at, event.action.as_str(), event.detail)
        });
        let names = BTreeMap::from([
            (who.id.as_str().to_owned(), "ACCOUNT"),
            (session.grant.id.to_string(), "SESSION"),
        ]);
        let shown = told(&lines.collect::<Vec<_>>(), &names).replace("\\\"", "'");
        for secret in [token.text(), session.token.text()] {
            assert!(!shown.contains(&secret[10..]), "{shown}");
        }
        // The result is the same on both databases.
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown, @r#"
            [
              "2026-11-23T04:00:00Z account.created {'kind':'account','name':'ACCOUNT'} {'issuer':'local','subject':'acme'}",
              "2026-11-23T04:00:01Z link.created {'kind':'operator','name':'cli'} {'ends_at':'2026-11-23T04:15:01Z'}",
              "2026-11-23T04:00:02Z session.started {'kind':'account','name':'ACCOUNT'} {'method':'link','session':'SESSION'}",
              "2026-11-23T04:00:03Z session.refused {'kind':'nobody'} {'method':'link','why':'used'}",
              "2026-11-23T04:00:04Z session.ended {'kind':'account','name':'ACCOUNT'} {'session':'SESSION'}",
              "2026-11-23T04:00:05Z session.all_ended {'kind':'operator','name':'cli'} {'sessions':0}"
            ]
            "#);
        }
    });
}
