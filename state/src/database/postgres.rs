use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions, Executor};
use url::{Host, Url};

use super::{ACQUIRE_TIMEOUT, migrate};
use crate::error::StateError;

/// Several servers share the database, so each has few connections.
const CONNECTIONS_MAX: u32 = 8;
/// A limited lifetime makes servers find a new server behind the same address.
const LIFETIME_MAX: Duration = Duration::from_secs(600);

pub(super) async fn open(url: &str) -> Result<PgPool, StateError> {
    let pool = connect(url).await?;
    migrate::postgres(&pool).await?;
    Ok(pool)
}

pub(super) async fn connect(url: &str) -> Result<PgPool, StateError> {
    let options = options(url)?;
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .max_lifetime(LIFETIME_MAX)
        .after_connect(|connection, _| {
            Box::pin(async move {
                // Connection poolers refuse these options at connect time.
                connection
                    .execute("SET statement_timeout = '9s'; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '20s'")
                    .await?;
                Ok(())
            })
        })
        .connect_with(options)
        .await
        .map_err(StateError::from)?;
    Ok(pool)
}

/// By default, sqlx uses plain text if a server has no TLS. These options require TLS for other machines.
pub(super) fn options(url: &str) -> Result<PgConnectOptions, StateError> {
    let parsed = Url::parse(url).map_err(|_| StateError::Url)?;
    if !matches!(parsed.scheme(), "postgres" | "postgresql") {
        return Err(StateError::Url);
    }
    let options = PgConnectOptions::from_str(url).map_err(|_| StateError::Url)?;
    let says = parsed
        .query_pairs()
        .any(|(name, _)| matches!(name.as_ref(), "sslmode" | "ssl-mode"));
    let options = if says || is_here(&parsed, &options) {
        options
    } else {
        options.ssl_mode(PgSslMode::VerifyFull)
    };
    Ok(options.application_name("haat").disable_statement_logging())
}

/// Returns true for a server on this machine: a socket, or a loopback address.
fn is_here(url: &Url, options: &PgConnectOptions) -> bool {
    if options.get_socket().is_some() {
        return true;
    }
    // The `url` crate stores hosts of non-web schemes as text, even IP addresses.
    match url.host() {
        None => options.get_host() == "localhost" || options.get_host().starts_with('/'),
        Some(Host::Domain(name)) => {
            name == "localhost"
                || name
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_spoken_to_over_tls_with_a_valid_certificate_unless_the_address_says_otherwise() {
        let mode = |url: &str| format!("{:?}", options(url).unwrap().get_ssl_mode());
        for here in [
            "postgres://haat@localhost/haat",
            "postgres://haat@127.0.0.1:5433/haat",
            "postgresql://haat@[::1]/haat",
            "postgres:///haat?host=/run/postgresql",
        ] {
            assert_eq!(mode(here), "Prefer", "{here}");
        }
        for elsewhere in ["postgres://haat@db.example/haat", "postgres://haat@10.0.0.7/haat"] {
            assert_eq!(mode(elsewhere), "VerifyFull", "{elsewhere}");
        }
        assert_eq!(mode("postgres://haat@10.0.0.7/haat?sslmode=disable"), "Disable");
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused_without_being_told() {
        for url in ["", "haat", "mysql://u:secret@h/d", "postgres://u:secret@h:99999/d"] {
            let error = options(url).unwrap_err();
            assert!(matches!(error, StateError::Url), "{url}");
            assert!(!error.to_string().contains("secret"));
        }
    }
}
