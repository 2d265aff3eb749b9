use dashboard::{DashboardConfig, DashboardConfigError, OidcConfig, link_address};
use data_model::Secret;
use kit::SetClock;
use mailer::MailConfig;
use state::{LinkToken, State, StateTarget};

use crate::support::{config, dashboard};

async fn refused(config: DashboardConfig) -> DashboardConfigError {
    let state = State::open(&StateTarget::Memory).await.unwrap();
    dashboard(&state, &SetClock::noon(), config).unwrap_err()
}

fn at(issuer: &str, client_id: &str) -> DashboardConfig {
    DashboardConfig {
        oidc: OidcConfig {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret: Secret::new("s"),
            ..OidcConfig::default()
        },
        ..config()
    }
}

#[tokio::test]
async fn an_address_that_browsers_keep_no_session_for_is_refused() {
    for public_url in ["", "http://market.example", "https://market.example/shop"] {
        let wrong = DashboardConfig {
            public_url: public_url.to_owned(),
            ..config()
        };
        assert_eq!(refused(wrong).await, DashboardConfigError::PublicUrl);
        let link = link_address(public_url, &LinkToken::generate().unwrap());
        assert_eq!(link, Err(DashboardConfigError::PublicUrl));
    }
}

#[tokio::test]
async fn a_time_of_nothing_is_refused_by_name() {
    let wrong = DashboardConfig {
        session_idle_minutes: 0,
        ..config()
    };
    let told = refused(wrong).await.to_string();
    insta::assert_snapshot!(told, @"dashboard.session_idle_minutes must be at least 1");
}

#[tokio::test]
#[cfg(not(feature = "oidc"))]
async fn a_provider_that_the_program_cannot_speak_to_is_refused_with_the_way_on() {
    let told = refused(at("https://sign-in.example", "haat")).await.to_string();
    assert!(told.contains("--features oidc"), "{told}");
}

#[tokio::test]
#[cfg(feature = "oidc")]
async fn a_provider_that_cannot_be_trusted_is_refused() {
    for issuer in [
        "sign-in.example",
        "http://sign-in.example",
        "https://sign-in.example/?a=b",
        "ftp://sign-in.example",
    ] {
        assert_eq!(
            refused(at(issuer, "haat")).await,
            DashboardConfigError::Issuer,
            "{issuer}"
        );
    }
    let nameless = refused(at("https://sign-in.example", "")).await;
    assert_eq!(nameless, DashboardConfigError::ClientId);
}

fn sending(smtp_url: &str, from: &str) -> DashboardConfig {
    DashboardConfig {
        mail: MailConfig {
            smtp_url: smtp_url.to_owned(),
            from: from.to_owned(),
            ..MailConfig::default()
        },
        ..config()
    }
}

#[tokio::test]
#[cfg(not(feature = "mail"))]
async fn a_mail_server_that_the_program_cannot_speak_to_is_refused_with_the_way_on() {
    let told = refused(sending("smtps://mail.example", "haat@market.example")).await;
    assert!(told.to_string().contains("--features mail"), "{told}");
}

#[tokio::test]
#[cfg(feature = "mail")]
async fn a_mail_server_or_a_sender_that_cannot_be_is_refused() {
    for smtp_url in [
        "mail.example",
        "https://mail.example",
        "smtp:mail.example",
        "smtps://asha:secret@mail.example",
        "smtp://mail.example/?tls=none",
    ] {
        let told = refused(sending(smtp_url, "haat@market.example")).await;
        assert_eq!(told, mailer::MailConfigError::SmtpUrl.into(), "{smtp_url}");
    }
    for from in ["", "haat", "haat@market.example\r\nBcc: b@mail.example"] {
        let told = refused(sending("smtps://mail.example", from)).await;
        assert_eq!(told, mailer::MailConfigError::From.into(), "{from}");
    }
}

#[test]
fn the_token_of_a_link_stands_where_no_log_has_it() {
    let token = LinkToken::generate().unwrap();
    let address = link_address("https://market.example/", &token).unwrap();
    assert_eq!(
        address,
        format!("https://market.example/dashboard/link#{}", token.text())
    );
}
