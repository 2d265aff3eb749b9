//! Tests of pinned releases, of the messages of a rollback, and of a damaged old file of the releases.

use serde_json::{Value, json};

use crate::support::{Haat, ServerProcess, files};

const SOURCE: [&str; 6] = ["--products", "40", "--stores", "2", "--seed", "3"];

/// Returns a home with two releases, and the stores in their state at the second one.
fn two_releases() -> (Haat, ServerProcess, [Value; 2]) {
    let haat = Haat::new();
    let (first, _) = haat.with_stores(&SOURCE);
    let one = haat.run(&["crawl", "--release"]).json()["release"]["release"].clone();
    drop(first);
    let (stores, _) = haat.with_stores(&[SOURCE.as_slice(), &["--epoch", "1"]].concat());
    let two = haat.run(&["crawl", "--release"]).json()["release"]["release"].clone();
    assert_ne!(one, two);
    (haat, stores, [one, two])
}

fn current(haat: &Haat) -> Value {
    haat.run(&["release", "show"]).json()["id"].clone()
}

#[test]
fn damage_that_only_a_roll_back_would_meet_is_found_by_a_thorough_doctor() {
    let (haat, _stores, [one, two]) = two_releases();
    let manifest = |id: &Value| {
        let path = format!("releases/manifests/{}.json", id.as_str().unwrap());
        std::fs::read_to_string(haat.path().join(path)).unwrap()
    };
    let (earlier, current) = (manifest(&one), manifest(&two));
    let names = std::fs::read_dir(haat.path().join("releases/files")).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let only = names
        .find(|name| earlier.contains(name.as_str()) && !current.contains(name.as_str()))
        .unwrap();
    let told = |arguments: &[&str]| {
        let document = haat.run(arguments).document();
        let mut findings = document["findings"].as_array().unwrap().clone();
        findings.retain(|finding| finding["subject"] == "earlier releases");
        findings
    };
    let whole = told(&["doctor", "--thorough"]);
    assert_eq!(
        (whole.len(), &whole[0]["found"]),
        (1, &json!("1 release; the hash of every file is correct"))
    );
    let file = haat.path().join("releases/files").join(&only);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "short").unwrap();
    assert_eq!(told(&["doctor"]), [] as [Value; 0]);
    let damaged = told(&["doctor", "--thorough"]);
    let found = damaged[0]["found"].as_str().unwrap();
    assert!(
        damaged.len() == 1 && found.contains(&only) && found.contains(one.as_str().unwrap()),
        "{damaged:?}"
    );
    assert_eq!(damaged[0]["severity"], "warning");
}

#[test]
fn a_roll_back_to_a_damaged_release_says_which_other_one_is_whole() {
    let (haat, stores, [one, two]) = two_releases();
    drop(stores);
    let (_stores, _) = haat.with_stores(&[SOURCE.as_slice(), &["--epoch", "2"]].concat());
    let three = haat.run(&["crawl", "--release"]).json()["release"]["release"].clone();
    let [one, two, three] = [&one, &two, &three].map(|id| id.as_str().unwrap());
    let manifest = |id: &str| {
        let path = format!("releases/manifests/{id}.json");
        std::fs::read_to_string(haat.path().join(path)).unwrap()
    };
    let damage = |id: &str, others: [&str; 2]| {
        let (own, others) = (manifest(id), others.map(manifest));
        let folder = haat.path().join("releases/files");
        let names = std::fs::read_dir(&folder).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let only = |name: &String| own.contains(name) && !others.iter().any(|other| other.contains(name));
        let file = folder.join(names.find(only).unwrap());
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "short").unwrap();
    };
    let refused = |arguments: &[&str]| {
        let output = haat.plain(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    damage(two, [one, three]);
    let whole = format!("{one} is intact: `haat release rollback {one}`");
    for arguments in [vec!["release", "rollback"], vec!["release", "rollback", "--dry-run"]] {
        let told = refused(&arguments);
        assert!(
            told.contains(&format!("release {two} is damaged")) && told.contains(&whole),
            "{told}"
        );
    }
    damage(one, [two, three]);
    let told = refused(&["release", "rollback"]);
    assert!(
        told.contains("no other earlier release is intact: `haat release build --full`"),
        "{told}"
    );
    assert_eq!(current(&haat), three);
}

#[test]
fn a_pinned_release_stays_until_it_is_unpinned_and_the_exit_code_says_so() {
    let (haat, _stores, [one, two]) = two_releases();
    let told = haat.told(&["release", "rollback", "--pin"]);
    let (one_id, two_id) = (one.as_str().unwrap(), two.as_str().unwrap());
    assert!(
        told.contains(&format!("{one_id} is the current release instead of {two_id}")),
        "{told}"
    );
    assert!(
        told.contains("pinned since") && told.contains("haat release unpin"),
        "{told}"
    );
    let crawled = haat.run(&["crawl", "--release"]);
    let document = crawled.document();
    assert_eq!(
        (crawled.code, &document["release"]["outcome"]),
        (3, &"pinned".into()),
        "{crawled:?}"
    );
    assert_eq!(document["release"]["pinned"]["by"], "rollback");
    let built = haat.run(&["release", "build"]);
    assert_eq!(
        (built.code, &built.document()["products_indexed"]),
        (3, &0.into()),
        "{built:?}"
    );
    assert_eq!(current(&haat), one);
    // The list shows the pin.
    let listed = haat.run(&["release", "list"]).json();
    assert_eq!(listed["releases"][0]["pinned"]["by"], "rollback");
    assert!(haat.told(&["release", "list"]).contains("pinned since"));
    assert_eq!(haat.run(&["release", "show"]).json()["pinned"]["by"], "rollback");
    assert_eq!(haat.run(&["release", "show", two_id]).json()["pinned"], Value::Null);
    let doctor = haat.run(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("pinned since"), "{doctor:?}");
    // A dry run of a build changes nothing.
    assert_eq!(
        haat.run(&["release", "build", "--dry-run"]).document()["outcome"],
        "dry_run"
    );

    let unpinned = haat.run(&["release", "unpin"]).json();
    assert_eq!(
        (&unpinned["changed"], &unpinned["pinned"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(haat.run(&["release", "unpin"]).json()["changed"], false);
    let built = haat.run(&["release", "build"]);
    assert_eq!((built.code, &built.document()["outcome"]), (3, &"published".into()));
    assert_eq!(current(&haat), two);
}

#[test]
fn a_build_despite_a_pin_publishes_and_ends_it() {
    let (haat, _stores, [one, two]) = two_releases();
    let pinned = haat.run(&["release", "pin", one.as_str().unwrap()]).json();
    assert_eq!((&pinned["release"], &pinned["pinned"]["by"]), (&one, &"pin".into()));
    assert_eq!(haat.run(&["release", "pin"]).json()["changed"], false);
    let built = haat.run(&["release", "build", "--despite-pin"]).document();
    assert_eq!((&built["outcome"], &built["release"]), (&"published".into(), &two));
    assert_eq!(haat.run(&["release", "show"]).json()["pinned"], Value::Null);
    let nothing = Haat::new().run(&["release", "pin"]);
    assert!(
        nothing.code == 1 && nothing.stderr.contains("haat release build"),
        "{nothing:?}"
    );
}

#[test]
fn a_roll_back_to_what_is_current_changes_nothing() {
    let (haat, _stores, [one, two]) = two_releases();
    let told = haat.told(&["release", "rollback", two.as_str().unwrap()]);
    assert!(told.contains("already"), "{told}");
    let entries = files(&haat.path().join("releases/log"), ".json").len();
    let again = haat.run(&["release", "rollback", two.as_str().unwrap()]).json();
    assert_eq!(again, json!({ "from": two, "to": two, "changed": false }));
    assert_eq!(files(&haat.path().join("releases/log"), ".json").len(), entries);
    let back = haat.told(&["release", "rollback"]);
    assert!(
        back.contains(one.as_str().unwrap()) && back.contains("haat release pin"),
        "{back}"
    );
}

/// Copies a folder, or moves it back.
fn copied(from: &std::path::Path, to: &std::path::Path) {
    let _ = std::fs::remove_dir_all(to);
    let status = std::process::Command::new("cp").arg("-a").args([from, to]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_release_whose_content_came_back_was_not_rolled_back() {
    let haat = Haat::new();
    let (first, _) = haat.with_stores(&SOURCE);
    let one = haat.run(&["crawl", "--release"]).json()["release"]["release"].clone();
    drop(first);
    let (lake, aside) = (haat.path().join("lake"), haat.path().join("aside"));
    copied(&lake, &aside);
    let (_stores, _) = haat.with_stores(&[SOURCE.as_slice(), &["--epoch", "1"]].concat());
    haat.run(&["crawl", "--release"]).json();
    // The lake is restored, so the release has its old content again. No release was rolled back.
    copied(&aside, &lake);
    let again = haat.run(&["release", "build", "--full"]).json();
    assert_eq!((&again["outcome"], &again["release"]), (&"published".into(), &one));
    assert_eq!(again["rolled_back"], Value::Null);
    let next = haat.run(&["crawl", "--force", "--release"]);
    let document = next.json();
    assert_eq!(document["release"]["outcome"], "published");
    assert_eq!(document["release"]["rolled_back"], Value::Null);
    assert!(!next.stderr.contains("rolled back"), "{}", next.stderr);
    // The previous release is the one that was current before, not the one that was built before.
    assert_eq!(haat.run(&["release", "rollback"]).json()["to"], one);
}

#[test]
fn a_damaged_old_manifest_and_entry_are_named_and_stop_nothing() {
    let (haat, _stores, [one, two]) = two_releases();
    let slug = haat.run(&["brands", "list"]).json()["brands"][0]["slug"].clone();
    haat.run(&["brands", "remove", slug.as_str().unwrap()]).json();
    haat.run(&["release", "build", "--accept-collapse"]).json();
    assert_eq!(haat.run(&["doctor"]).code, 0);
    let manifest = haat
        .path()
        .join(format!("releases/manifests/{}.json", two.as_str().unwrap()));
    let entry = haat.path().join(format!("releases/log/{:020}.json", 2));
    for object in [entry.with_extension("copy"), entry] {
        std::fs::write(object, "").unwrap();
    }
    std::fs::write(&manifest, "{\"schema").unwrap();
    let haat = haat.with("HAAT_RELEASE__GC_MIN_AGE_S", "0");
    for args in [
        ["release", "list"].as_slice(),
        &["release", "gc", "--keep", "1", "--dry-run"],
        &["lake", "vacuum", "--dry-run"],
        &["release", "rollback", "--dry-run"],
    ] {
        let answer = haat.run(args);
        let named = answer.json()["unreadable"].to_string();
        assert!(named.contains("log/00000000000000000002.json"), "{args:?} {named}");
        assert!(
            answer
                .stderr
                .contains("releases/log/00000000000000000002.json is damaged"),
            "{answer:?}"
        );
    }
    let doctor = haat.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let findings = doctor.document()["findings"].as_array().unwrap().clone();
    let is_broken = |subject: &str| {
        let finding = findings.iter().find(|finding| finding["subject"] == subject);
        finding.is_some_and(|finding| finding["ok"] == false && finding["advice"].is_string())
    };
    assert!(is_broken("release log") && is_broken("manifests"), "{findings:?}");
    let back = haat.run(&["release", "rollback"]).json();
    assert_eq!(back["to"], one);
    let dropped = haat.run(&["release", "gc", "--drop-damaged"]).json();
    assert_eq!(dropped["unreadable"], json!([]));
    let left = haat.run(&["release", "list"]).json();
    assert_eq!(left["unreadable"], json!([]));
}
