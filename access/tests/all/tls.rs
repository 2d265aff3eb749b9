//! Tests of limits in a server that is reached over TLS.

use access::{InvalidServer, LimitsConfig, LocalLimits, Plans, SharedLimits};
use data_model::Clock;
use kit::SetClock;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use crate::redis_server::Server;
use crate::shared::{Log, at, is_up, passed, program};
use crate::support::{EVENING, INDIA, all, limits, nobody, until};

/// Address of the test servers as in their certificates.
const HERE: &str = "IP:127.0.0.1";

fn with_ca(server: &Server, ca_file: String) -> LimitsConfig {
    // The program may have several providers, so it chooses one.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    LimitsConfig {
        ca_file,
        ..at(server.url(), &all(limits(1, 7, 0)))
    }
}

#[tokio::test]
async fn a_server_whose_certificate_the_named_authority_signed_counts() {
    let Some(server) = Server::start_with_tls(HERE) else {
        return;
    };
    let config = with_ca(&server, server.ca_file());
    let clock = SetClock::at(EVENING);
    let (one, _one) = program(&config, Some(&clock));
    let (other, _other) = program(&config, Some(&clock));
    is_up(&one).await;
    is_up(&other).await;
    let caller = nobody("192.0.2.1");
    assert_eq!(passed(&one, &caller).await, 7);
    assert_eq!(passed(&other, &caller).await, 0, "both count in the same server");
}

/// Asserts that a server with an untrusted certificate is not used and that the log reports it.
async fn is_done_without(config: &LimitsConfig) {
    let (log, _logging) = Log::here();
    let (limits, _guard) = program(config, Some(&SetClock::at(EVENING)));
    until("told", async || log.text().contains("limits.url cannot be used")).await;
    assert!(!limits.is_up());
    assert_eq!(passed(&limits, &nobody("192.0.2.1")).await, 7);
}

#[tokio::test]
async fn a_server_whose_certificate_another_authority_signed_is_done_without() {
    let (Some(server), Some(other)) = (Server::start_with_tls(HERE), Server::start_with_tls(HERE)) else {
        return;
    };
    is_done_without(&with_ca(&server, other.ca_file())).await;
    // The test machine's own certificates do not include the authority.
    is_done_without(&with_ca(&server, String::new())).await;
}

#[tokio::test]
async fn a_server_whose_certificate_names_another_host_is_done_without() {
    let Some(server) = Server::start_with_tls("DNS:valkey.example") else {
        return;
    };
    is_done_without(&with_ca(&server, server.ca_file())).await;
}

#[test]
fn a_file_of_certificates_that_cannot_be_used_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let refused = |url: &str, ca_file: String| {
        let config = LimitsConfig {
            url: url.to_owned(),
            ca_file,
            ..LimitsConfig::default()
        };
        let clock: Arc<dyn Clock> = SetClock::noon();
        let local = LocalLimits::new(Plans::of(&config).unwrap(), 1_000, INDIA, clock);
        let started = SharedLimits::start(&config, local, CancellationToken::new());
        started.map(|_| ()).unwrap_err()
    };
    let tls = "rediss://:planted@localhost";
    let empty = refused(tls, file("empty.pem", ""));
    assert!(matches!(&empty, InvalidServer::NoCertificate(path) if path.ends_with("empty.pem")));
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let damaged = refused(tls, file("damaged.pem", damaged));
    assert!(matches!(&damaged, InvalidServer::NoCertificate(path) if path.ends_with("damaged.pem")));
    let absent = refused(tls, "/nowhere/ca.pem".to_owned());
    assert_eq!(absent.to_string(), "limits.ca_file \"/nowhere/ca.pem\" cannot be read");
    let plain = refused("redis://:planted@localhost", file("any.pem", ""));
    assert!(matches!(plain, InvalidServer::NoTls));
    for error in [empty, damaged, absent, plain] {
        assert!(!format!("{error:?} {error}").contains("planted"));
    }
}
