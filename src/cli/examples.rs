//! Two examples for each command, shown below its options.

macro_rules! examples {
    ($($name:ident: $first:literal, $second:literal;)*) => {
        $(pub(super) const $name: &str = concat!("Examples:\n  ", $first, "\n  ", $second);)*
    };
}

examples! {
    DEMO: "haat demo", "haat demo --home ~/market --products 500 --listen 127.0.0.1:0";
    EMULATE: "haat emulate --products 500 --stores 5", "haat emulate --recorded recordings/ --currency USD";
    CRAWL: "haat crawl --release", "haat crawl --brand blue-tokai --force --dry-run";
    BRANDS: "haat brands add kith.example", "haat brands list";
    BRANDS_ADD: "haat brands add blue-tokai.example kith.example", "haat brands add --from brands.txt --currency INR";
    BRANDS_LIST: "haat brands list", "haat brands list --json --home s3://market/haat";
    BRANDS_REMOVE: "haat brands remove kith --dry-run", "haat brands remove kith";
    RELEASE: "haat release build", "haat release rollback";
    RELEASE_BUILD: "haat release build --dry-run", "haat release build --full";
    RELEASE_LIST: "haat release list", "haat release list --json";
    RELEASE_SHOW: "haat release show", "haat release show r9051c2f0a4d1e6b7 --json";
    RELEASE_ROLLBACK: "haat release rollback --dry-run", "haat release rollback r9051c2f0a4d1e6b7";
    RELEASE_PIN: "haat release pin", "haat release pin r9051c2f0a4d1e6b7";
    RELEASE_UNPIN: "haat release unpin", "haat release unpin --json";
    RELEASE_GC: "haat release gc --dry-run", "haat release gc --keep 3";
    KEYS: "haat keys create \"Mobile app\"", "haat keys list";
    KEYS_CREATE: "haat keys create \"Mobile app\"", "haat keys create partner --plan granted --json";
    KEYS_LIST: "haat keys list", "haat keys list --json";
    KEYS_REVOKE: "haat keys revoke key_7f3k2m9q4xw0", "haat keys revoke key_7f3k2m9q4xw0 --json";
    KEYS_ROTATE: "haat keys rotate key_7f3k2m9q4xw0", "haat keys rotate key_7f3k2m9q4xw0 --grace-hours 24";
    KEYS_DASHBOARD: "haat keys dashboard", "haat keys dashboard --account asha";
    KEYS_ROTATE_SIGNING: "haat keys rotate-signing", "haat keys rotate-signing --json";
    KEYS_AUDIT: "haat keys audit", "haat keys audit --key key_7f3k2m9q4xw0 --json";
    LAKE: "haat lake tables", "haat lake vacuum --dry-run";
    LAKE_TABLES: "haat lake tables", "haat lake tables --json";
    LAKE_COMPACT: "haat lake compact --dry-run", "haat lake compact";
    LAKE_VACUUM: "haat lake vacuum --dry-run", "haat lake vacuum --retention-hours 48";
    QUERY_SERVER: "haat query-server", "haat query-server --listen 0.0.0.0:8080 --home s3://market/haat";
    LIVE_GATEWAY: "haat live-gateway", "haat live-gateway --listen 0.0.0.0:8081 --home s3://market/haat";
    UP: "haat up", "haat up --listen 0.0.0.0:8080 --home s3://market/haat";
    SQL: "haat sql \"select brand_slug, count(*) from products group by 1\"", "haat sql --release \"describe products\"";
    CONFIG: "haat config", "haat config --explain > haat.toml";
    DOCTOR: "haat doctor", "haat doctor --thorough --json";
    COMPLETIONS: "haat completions bash > /etc/bash_completion.d/haat", "haat completions fish | source";
}
