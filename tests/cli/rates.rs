//! Tests of an operator's exchange rates, which are imported from a file or a URL and undone.

use std::io::{Read as _, Write as _};

use crate::support::Haat;

const NOVEMBER: &str =
    "date,base,quote,rate\n2025-11-20,USD,INR,84.25\n2025-11-21,USD,INR,84.5\n2025-11-21,EUR,INR,91\n";

fn rates(haat: &Haat) -> Vec<(String, f64)> {
    let rows = haat.sql("select base_currency as base, rate from exchange_rates order by date, 1");
    let row = |row: &serde_json::Value| {
        let base = row["base"].as_str().unwrap().to_owned();
        (base, row["rate"].as_f64().unwrap())
    };
    rows.iter().map(row).collect()
}

fn one(base: &str, rate: f64) -> (String, f64) {
    (base.to_owned(), rate)
}

#[test]
fn a_file_of_rates_is_imported_once_and_its_corrections_too() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "2", "--seed", "7"]);
    assert_eq!(haat.run(&["crawl"]).code, 0);
    std::fs::write(haat.path().join("rates.csv"), NOVEMBER).unwrap();
    let dry = haat.run(&["rates", "import", "rates.csv", "--dry-run"]).json();
    assert_eq!((&dry["added"], &dry["tick"]), (&3.into(), &serde_json::Value::Null));
    assert_eq!(rates(&haat), []);
    assert_eq!(haat.run(&["rates", "import", "rates.csv"]).json()["added"], 3);
    let versions = || haat.run(&["lake", "tables"]).json();
    let before = versions();
    let again = haat.run(&["rates", "import", "rates.csv"]).json();
    assert_eq!(
        (&again["unchanged"], &again["tick"]),
        (&3.into(), &serde_json::Value::Null)
    );
    assert_eq!(versions(), before, "nothing is written");

    std::fs::write(
        haat.path().join("more.csv"),
        "rate;date;base;quote\n84.75;2025-11-21;USD;INR\n",
    )
    .unwrap();
    let told = haat.told(&["rates", "import", "more.csv"]);
    assert_eq!(told, "0 rates added, 1 corrected, 0 already present\n");
    assert_eq!(rates(&haat), [one("USD", 84.25), one("EUR", 91.0), one("USD", 84.75)]);

    let joined = haat.sql(
        "select count(*) as products, count(p.price_min_minor / cast(c.units_minor as double) * r.rate) as priced \
         from products p join currencies c using (currency) join (select 'INR' as currency, 1 as rate union all \
         select base_currency, last_value(rate order by date) from exchange_rates group by 1) r using (currency)",
    );
    assert!(joined[0]["products"].as_u64().unwrap() > 0);
    assert_eq!(joined[0]["products"], joined[0]["priced"]);
}

#[test]
fn a_file_with_a_wrong_row_is_refused_as_a_whole_and_the_row_is_told() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "2", "--seed", "7"]);
    assert_eq!(haat.run(&["crawl"]).code, 0);
    let wrong = format!("{NOVEMBER}2025-11-31,USD,INR,84\n2025-11-22,USD,XXQ,84\n");
    std::fs::write(haat.path().join("rates.csv"), wrong).unwrap();
    let refused = haat.run(&["rates", "import", "rates.csv"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("2 wrong rows, nothing is imported: line 5: date:"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("line 6: quote:"), "{}", refused.stderr);
    assert_eq!(rates(&haat), []);
    let missing = haat.run(&["rates", "import", "nothing.csv"]);
    assert_eq!(missing.code, 2, "{}", missing.stderr);
}

/// Starts a server on loopback that responds to every request with `body`.
fn serve(body: &'static str) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap();
            let is_robots = asked[..read].starts_with(b"GET /robots.txt");
            let (status, body) = if is_robots {
                ("404 Not Found", "")
            } else {
                ("200 OK", body)
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/csv\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn an_address_of_rates_is_asked_where_it_may_be() {
    let address = serve(NOVEMBER);
    let url = format!("http://{address}/daily.csv?key=secret");
    let strict = Haat::new().with("HAAT_STOREFRONT__ALLOW_LOOPBACK", "false");
    let refused = strict.run(&["rates", "import", &url]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("loopback"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("secret"), "{}", refused.stderr);

    let haat = Haat::new();
    let imported = haat.run(&["rates", "import", &url]).json();
    assert_eq!(imported["added"], 3);
    assert_eq!(imported["source"], "127.0.0.1/daily.csv");
    assert_eq!(haat.run(&["rates", "import", &url]).json()["unchanged"], 3);
}
