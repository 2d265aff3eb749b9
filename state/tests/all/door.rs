//! The state's files, messages and results contain no key.

use std::path::Path;

use state::StateTarget;

use crate::support::{Place, at, cli, create};

fn holds(folder: &Path, text: &str) -> Vec<String> {
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let found = files.filter(|file| {
        let bytes = std::fs::read(file).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    });
    found.map(|file| file.display().to_string()).collect()
}

#[tokio::test]
async fn no_file_of_the_state_holds_a_key_or_its_secret_part() {
    let place = Place::sqlite();
    let state = place.open().await;
    let issued = create(&state, "A name that is kept", at(0)).await;
    let rotated = state
        .rotate_key(&issued.record.id, std::time::Duration::ZERO, &cli(), at(1))
        .await
        .unwrap();
    let StateTarget::Folder(folder) = &place.target else {
        panic!("{:?}", place.target);
    };
    assert!(!holds(folder, "A name that is kept").is_empty());
    for key in [&issued.key, &rotated.issued.key] {
        for part in [&key.expose()[..20], &key.expose()[10..30], &key.expose()[20..37]] {
            assert_eq!(holds(folder, part), Vec::<String>::new());
        }
    }
    let shown = format!("{issued:?} {rotated:?} {state:?}");
    assert!(!shown.contains(&issued.key.expose()[10..37]), "{shown}");
}

#[tokio::test]
async fn no_file_of_the_state_holds_what_signs_anybody_in() {
    let place = Place::sqlite();
    let state = place.open().await;
    let who = state
        .find_or_create_account(state::LOCAL_ISSUER, "A name that is kept", None, at(0))
        .await
        .unwrap();
    let lifetime = std::time::Duration::from_secs(60);
    let link = state
        .create_sign_in_link(&who.id, lifetime, &cli(), at(0))
        .await
        .unwrap();
    let new = state::NewSession {
        method: state::SignInMethod::Oidc,
        client: String::new(),
        limits: state::SessionLimits {
            idle_ms: 1,
            total_ms: 1,
        },
        replaces: None,
    };
    let session = state.create_session(&who.id, new, at(0)).await.unwrap();
    let wanted = state::PendingSignIn {
        return_to: "/dashboard/".to_owned(),
    };
    let pending = state.begin_sign_in(&wanted, lifetime, at(0)).await.unwrap().unwrap();
    let StateTarget::Folder(folder) = &place.target else {
        panic!("{:?}", place.target);
    };
    assert!(!holds(folder, "A name that is kept").is_empty());
    for secret in [link.text(), session.token.text(), pending.text()] {
        assert_eq!(holds(folder, &secret[10..30]), Vec::<String>::new());
        assert_eq!(holds(folder, &secret[30..]), Vec::<String>::new());
    }
}
