//! Examples for each command, shown below its options.

macro_rules! examples {
    ($($name:ident: $first:literal, $second:literal;)*) => {
        $(pub(super) const $name: &str = concat!("Examples:\n  ", $first, "\n  ", $second);)*
    };
}

examples! {
    DEMO: "haat demo", "haat demo --home ~/market --days 30 --listen 127.0.0.1:0";
    EMULATE: "haat emulate --products 500 --stores 5", "haat emulate --recorded recordings/ --currency USD";
    CRAWL: "haat crawl --release", "haat crawl --brand blue-tokai --force --dry-run";
    BACKFILL: "haat backfill --all --stage parse --dry-run", "haat backfill --brand blue-tokai,kith --from 2026-11-01 --to 2026-11-23 --stage parse";
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
    QUALITY: "haat quality", "haat quality --against 2026-11-22T06:00:00Z --html quality.html";
    JOBS: "haat jobs run", "haat jobs list";
    JOBS_RUN: "haat jobs run", "haat jobs run --ops-listen 127.0.0.1:9100 --home s3://market/haat";
    JOBS_LIST: "haat jobs list", "haat jobs list --json";
    JOBS_HISTORY: "haat jobs history", "haat jobs history refresh-catalogue --limit 5 --json";
    JOBS_TRIGGER: "haat jobs trigger refresh-catalogue", "haat jobs trigger build-release --queue";
    JOBS_PAUSE: "haat jobs pause vacuum", "haat jobs pause refresh-catalogue --json";
    JOBS_RESUME: "haat jobs resume vacuum", "haat jobs resume refresh-catalogue --json";
    WORKER: "haat worker", "haat worker --until-empty --ops-listen 127.0.0.1:9092";
    QUEUE: "haat queue list", "haat queue dead";
    QUEUE_LIST: "haat queue list", "haat queue list --limit 500 --json";
    QUEUE_DEAD: "haat queue dead", "haat queue dead --json";
    QUEUE_RETRY: "haat queue retry kith", "haat queue retry --all";
    QUEUE_DROP: "haat queue drop kith", "haat queue drop --all --json";
    DELIVERY: "haat delivery probe", "haat delivery pincodes > pincodes.csv";
    DELIVERY_PROBE: "haat delivery probe --dry-run", "haat delivery probe --brand blue-tokai --budget 20 --json";
    DELIVERY_PINCODES: "haat delivery pincodes > pincodes.csv", "haat delivery pincodes --json";
    KEYS: "haat keys create \"Mobile app\"", "haat keys list";
    KEYS_CREATE: "haat keys create \"Mobile app\"", "haat keys create partner --plan granted --json";
    KEYS_LIST: "haat keys list", "haat keys list --json";
    KEYS_REVOKE: "haat keys revoke key_7f3k2m9q4xw0", "haat keys revoke key_7f3k2m9q4xw0 --json";
    KEYS_CONFIRM: "haat keys confirm key_7f3k2m9q4xw0", "haat keys confirm --all --json";
    KEYS_ROTATE: "haat keys rotate key_7f3k2m9q4xw0", "haat keys rotate key_7f3k2m9q4xw0 --grace-hours 24";
    KEYS_DASHBOARD: "haat keys dashboard", "haat keys dashboard --account asha";
    KEYS_ROTATE_SIGNING: "haat keys rotate-signing", "haat keys rotate-signing --json";
    KEYS_AUDIT: "haat keys audit", "haat keys audit --key key_7f3k2m9q4xw0 --json";
    LAKE: "haat lake tables", "haat lake vacuum --dry-run";
    LAKE_TABLES: "haat lake tables", "haat lake tables --json";
    LAKE_COMPACT: "haat lake compact --dry-run", "haat lake compact";
    LAKE_FILES: "haat lake files --table products --table variants", "haat lake files --as-of 2026-11-22T06:00:00Z --to ~/snapshot --json";
    LAKE_SERVE: "haat lake serve", "haat lake serve --listen 127.0.0.1:0 --home s3://market/haat";
    LAKE_RESTORE: "haat lake restore --as-of 2026-11-22T06:00:00Z --dry-run", "haat lake restore --as-of 2026-11-22T06:00:00Z --table products --table variants";
    LAKE_REPAIR: "haat lake repair --dry-run", "haat lake repair --json";
    LAKE_VACUUM: "haat lake vacuum --dry-run", "haat lake vacuum --retention-hours 48";
    RATES: "haat rates import rates.csv", "haat rates import https://rates.example/daily.csv --dry-run";
    RATES_IMPORT: "haat rates import rates.csv --dry-run", "haat rates import https://rates.example/daily.csv --json";
    SEARCHES: "haat searches top", "haat searches top --without-hits --days 30";
    SEARCHES_TOP: "haat searches top", "haat searches top --without-hits --days 30 --json";
    SHIPPING: "haat shipping refresh", "haat shipping refresh --dry-run --json";
    SHIPPING_REFRESH: "haat shipping refresh", "haat shipping refresh --brand blue-tokai,loom-and-thread --dry-run --json";
    SHIPPING_SHOW: "haat shipping show blue-tokai", "haat shipping show blue-tokai 560001 --json";
    REVIEWS: "haat reviews refresh", "haat reviews refresh --dry-run --json";
    REVIEWS_REFRESH: "haat reviews refresh", "haat reviews refresh --brand blue-tokai --sweep --json";
    BACKUP: "haat backup create /mnt/backups/haat", "haat backup list /mnt/backups/haat";
    BACKUP_CREATE: "haat backup create /mnt/backups/haat", "haat backup create s3://backups/haat --without-landing --dry-run";
    BACKUP_LIST: "haat backup list /mnt/backups/haat", "haat backup list s3://backups/haat --json";
    BACKUP_VERIFY: "haat backup verify /mnt/backups/haat", "haat backup verify /mnt/backups/haat --backup 01763894400000000-9f3c21aa --set-aside";
    BACKUP_PRUNE: "haat backup prune /mnt/backups/haat --keep 7 --dry-run", "haat backup prune s3://backups/haat --keep 30";
    RESTORE: "haat restore /mnt/backups/haat --home restored", "haat restore s3://backups/haat --keys keys.json --backup 01763894400000000-9f3c21aa --dry-run";
    QUERY_SERVER: "haat query-server", "haat query-server --listen 0.0.0.0:8080 --home s3://market/haat";
    LIVE_GATEWAY: "haat live-gateway", "haat live-gateway --listen 0.0.0.0:8081 --home s3://market/haat";
    UP: "haat up", "haat up --listen 0.0.0.0:8080 --home s3://market/haat";
    SQL: "haat sql \"select brand_slug, count(*) from products group by 1\"", "haat sql --release \"select * from products\" --out products.parquet";
    FEED: "haat feed --brand kith --out kith.tsv", "haat feed --all --release --format jsonl --out market.jsonl --force";
    CONFIG: "haat config", "haat config --explain > haat.toml";
    DOCTOR: "haat doctor", "haat doctor --thorough --json";
    HEALTH: "haat health", "haat health http://127.0.0.1:9090/readyz";
    MAN: "haat man man1", "haat man ~/.local/share/man/man1";
    COMPLETIONS: "haat completions bash > /etc/bash_completion.d/haat", "haat completions fish | source";
}
