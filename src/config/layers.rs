use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use config::{Environment, File, FileFormat, Value, ValueKind};
use serde::Serialize;

use super::filter::check_filter;
use super::{Config, EmbedderChoice, LiveGateway, LogFormat, WayChoice};
use crate::cli::Global;
use crate::home_folder::expanded;

const FILE_DEFAULT: &str = "haat.toml";
/// Keys whose values are never shown.
const SECRETS: &[&str] = &[
    "s3.secret_access_key",
    "query_server.cursor_secret",
    "embedding.endpoint.api_key",
    "discover.model.api_key",
    "shipping.model.api_key",
    "state.master_key",
    "state.url",
    "limits.url",
    "dashboard.mail.smtp_password",
    "dashboard.oidc.client_secret",
];

/// Placeholder for a secret value.
pub(crate) const HIDDEN: &str = "(set, not shown)";

/// Source of a value. Later sources override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    Default,
    File,
    Environment,
    Flag,
}

/// Key of the effective configuration, for `haat config`.
#[derive(Debug, Serialize)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: serde_json::Value,
    pub(crate) from: Layer,
    pub(crate) variable: String,
    /// Effect of the key, as a sentence.
    pub(crate) meaning: &'static str,
}

/// Layers of the configuration before they are merged, so that `haat config` can show each value's source.
#[derive(Debug)]
pub(crate) struct Layers {
    layers: Vec<(Layer, config::Config)>,
    pub(crate) file: Option<PathBuf>,
}

impl Layers {
    /// Reads the file and the environment. The flags come from the command line.
    pub(crate) fn read(global: &Global) -> anyhow::Result<Self> {
        let defaults = defaults().context("defaults")?;
        let file = match &global.config {
            Some(path) => Some(path.clone()),
            None => Some(PathBuf::from(FILE_DEFAULT)).filter(|path| path.exists()),
        };
        let from_file = match &file {
            Some(path) => read_file(path)?,
            None => config::Config::default(),
        };
        let environment = Environment::with_prefix("HAAT").prefix_separator("_").separator("__");
        let from_environment = typed(environment, &defaults).context("HAAT_ variables")?;
        let mut flags = config::Config::builder();
        if let Some(home) = &global.home {
            flags = flags.set_override("home", home.as_str())?;
        }
        if let Some(filter) = &global.log {
            flags = flags.set_override("log.filter", filter.as_str())?;
        }
        let layers = vec![
            (Layer::Default, defaults),
            (Layer::File, from_file),
            (Layer::Environment, from_environment),
            (Layer::Flag, flags.build()?),
        ];
        Ok(Self { layers, file })
    }

    /// Merges the layers and checks every key.
    pub(crate) fn merge(&self) -> anyhow::Result<Config> {
        let mut builder = config::Config::builder();
        for (_, layer) in &self.layers {
            builder = builder.add_source(layer.clone());
        }
        let merged = builder.build()?;
        one_of::<LogFormat>(&merged, "log.format")?;
        one_of::<EmbedderChoice>(&merged, "embedding.embedder")?;
        one_of::<WayChoice>(&merged, "live_gateway.ask.way")?;
        let mut merged: Config = merged.try_deserialize().with_context(|| self.suspects())?;
        check(&merged)?;
        merged.refresh.crawl.landing_keep_days = merged.landing.keep_days;
        for (key, path) in [
            ("home", &mut merged.home),
            ("query_server.cache", &mut merged.query_server.cache),
            ("query_server.synonyms", &mut merged.query_server.synonyms),
            ("query_server.holidays", &mut merged.query_server.holidays),
            ("embedding.transformer", &mut merged.embedding.transformer),
            ("limits.ca_file", &mut merged.limits.ca_file),
            ("metrics.textfile", &mut merged.metrics.textfile),
            ("sql.spill", &mut merged.sql.spill),
        ] {
            *path = expanded(key, path)?;
        }
        Ok(merged)
    }

    /// Lists unknown keys in the file and the environment, because they are the most likely fault of a configuration.
    fn suspects(&self) -> String {
        let keys = |wanted: Layer| {
            let mut leaves = BTreeMap::new();
            let layers = self.layers.iter().filter(|(layer, _)| *layer == wanted);
            layers.for_each(|(_, source)| flatten("", &source.cache, &mut leaves));
            leaves.into_keys().collect::<Vec<_>>()
        };
        let known = keys(Layer::Default);
        let unknown = |layer| {
            keys(layer)
                .into_iter()
                .filter(|key| !known.contains(key))
                .collect::<Vec<_>>()
        };
        let file = unknown(Layer::File).into_iter().map(|key| format!("{key} in the file"));
        let environment = unknown(Layer::Environment)
            .into_iter()
            .map(|key| format!("HAAT_{} in the environment", key.replace('.', "__").to_uppercase()));
        let suspects: Vec<_> = file.chain(environment).collect();
        if suspects.is_empty() {
            "configuration".to_owned()
        } else {
            format!("configuration ({})", suspects.join(", "))
        }
    }

    pub(crate) fn is_default(&self, key: &str) -> bool {
        self.layers
            .iter()
            .all(|(layer, source)| *layer == Layer::Default || source.get::<Value>(key).is_err())
    }

    /// Returns every key with its value and the layer that set it. Secrets are hidden.
    pub(crate) fn settings(&self) -> anyhow::Result<Vec<Setting>> {
        let mut settings = BTreeMap::new();
        for (layer, source) in &self.layers {
            let mut leaves = BTreeMap::new();
            flatten("", &source.cache, &mut leaves);
            for (key, value) in leaves {
                settings.insert(key, (value, *layer));
            }
        }
        self.merge()?;
        let shown = settings.into_iter().map(|(key, (value, from))| {
            let secret = SECRETS.contains(&key.as_str()) && value != serde_json::Value::String(String::new());
            let value = if secret { HIDDEN.into() } else { shown(value) };
            let variable = format!("HAAT_{}", key.replace('.', "__").to_uppercase());
            let meaning = meaning(&key);
            Setting {
                key,
                value,
                from,
                variable,
                meaning,
            }
        });
        Ok(shown.collect())
    }
}

/// `config::Config::try_from` merges everything again after each key, which takes most of the time of a short command.
fn defaults() -> anyhow::Result<config::Config> {
    let sections: BTreeMap<String, Value> = serde_json::from_value(serde_json::to_value(Config::defaults()?)?)?;
    let mut builder = config::Config::builder();
    for (name, section) in sections {
        builder = builder.set_default(name, section)?;
    }
    Ok(builder.build()?)
}

/// Effects of keys. A line has the key, a tab and a sentence.
const KEYS: &str = include_str!("keys.tsv");

fn meaning(key: &str) -> &'static str {
    let lines = KEYS.lines().filter_map(|line| line.split_once('\t'));
    let mut meanings = lines.filter(|(known, _)| *known == key).map(|(_, meaning)| meaning);
    meanings.next().unwrap_or_default()
}

/// Returns a value without the credentials in a URL: user, password and query.
fn shown(value: serde_json::Value) -> serde_json::Value {
    let serde_json::Value::String(text) = &value else {
        return value;
    };
    let Ok(mut url) = url::Url::parse(text) else {
        return value;
    };
    let secret = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    if !secret || !url.has_host() {
        return value;
    }
    let hidden = "not-shown";
    // Only URLs with a host can have a user, a password and a query.
    let with_user = url.password().is_some() || !url.username().is_empty();
    let _ = url.set_password(None);
    let _ = url.set_username(if with_user { hidden } else { "" });
    let query = url.query().is_some().then_some(hidden);
    url.set_query(query);
    serde_json::Value::String(url.into())
}

fn read_file(path: &Path) -> anyhow::Result<config::Config> {
    let source = File::from(path).format(FileFormat::Toml).required(true);
    config::Config::builder()
        .add_source(source)
        .build()
        .with_context(|| format!("configuration file {}", path.display()))
}

fn flatten(prefix: &str, value: &Value, leaves: &mut BTreeMap<String, serde_json::Value>) {
    match &value.kind {
        ValueKind::Table(table) => {
            for (name, inner) in table {
                let key = if prefix.is_empty() {
                    name.clone()
                } else {
                    format!("{prefix}.{name}")
                };
                flatten(&key, inner, leaves);
            }
        }
        _ => {
            let json = value.clone().try_deserialize().unwrap_or(serde_json::Value::Null);
            leaves.insert(prefix.to_owned(), json);
        }
    }
}

/// Returns the values in the environment. A value becomes a number or boolean only if the default has that type,
/// because a key or folder may look like a number.
fn typed(environment: Environment, defaults: &config::Config) -> Result<config::Config, config::ConfigError> {
    let leaves = |source: &config::Config| {
        let mut leaves = BTreeMap::new();
        flatten("", &source.cache, &mut leaves);
        leaves
    };
    let known = leaves(defaults);
    let texts = config::Config::builder().add_source(environment).build()?;
    let mut typed = config::Config::builder().add_source(texts.clone());
    for (key, value) in leaves(&texts) {
        let (Some(text), Some(default)) = (value.as_str(), known.get(&key)) else {
            continue;
        };
        // A value that cannot be parsed stays a text. A later check refuses it with its key.
        if default.is_array() {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            typed = typed.set_override(key, items.map(str::to_owned).collect::<Vec<_>>())?;
        } else if default.is_boolean() {
            if let Ok(flag) = text.parse::<bool>() {
                typed = typed.set_override(key, flag)?;
            }
        } else if default.is_i64() || default.is_u64() {
            if let Ok(number) = text.parse::<i64>() {
                typed = typed.set_override(key, number)?;
            }
        } else if default.is_f64()
            && let Ok(number) = text.parse::<f64>()
        {
            typed = typed.set_override(key, number)?;
        }
    }
    typed.build()
}

/// Refuses a text that is not a valid value of `key`, and lists the valid ones.
fn one_of<T: ValueEnum>(merged: &config::Config, key: &str) -> anyhow::Result<()> {
    let Ok(given) = merged.get_string(key) else {
        return Ok(());
    };
    let known = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let names: Vec<_> = known.map(|value| value.get_name().to_owned()).collect();
    anyhow::ensure!(
        T::from_str(&given, true).is_ok(),
        "{key} must be one of {}, not {given:?}",
        names.join(", ")
    );
    Ok(())
}

/// Maximum time for which the lake's logs remember removed files: the 30 days that new tables have.
pub(crate) const RETENTION_HOURS_MAX: u64 = 720;

fn check(config: &Config) -> anyhow::Result<()> {
    let share = |key: &str, value: f64| {
        anyhow::ensure!(
            (0.0..=1.0).contains(&value),
            "{key} must be between 0 and 1, not {value}"
        );
        Ok(())
    };
    let positive = |key: &str, value: u64| {
        anyhow::ensure!(value > 0, "{key} must be above 0");
        Ok(())
    };
    let collapse = &config.refresh.collapse;
    share("refresh.collapse.share_min", collapse.share_min)?;
    share("refresh.collapse.prices_fallen_share", collapse.prices_fallen_share)?;
    share("refresh.collapse.price_fall_share", collapse.price_fall_share)?;
    share("refresh.collapse.titles_replaced_share", collapse.titles_replaced_share)?;
    share("release.collapse_share", config.release.collapse_share)?;
    share("traces.sample_share", config.traces.sample_share)?;
    check_filter("log.filter", &config.log.filter)?;
    check_filter("traces.filter", &config.traces.filter)?;
    config.sql.check()?;
    config.sql.keys.parse::<sql::AllowedKeys>()?;
    let crawl = &config.refresh.crawl;
    for (key, value) in [
        ("refresh.crawl.stores_concurrent", crawl.stores_concurrent as u64),
        ("refresh.crawl.stores_open_max", crawl.stores_open_max as u64),
        ("refresh.crawl.page_limit", u64::from(crawl.page_limit)),
        ("refresh.crawl.pages_max", u64::from(crawl.pages_max)),
        ("refresh.crawl.store_bytes_max", crawl.store_bytes_max),
        ("refresh.crawl.store_time_s_max", crawl.store_time_s_max),
        (
            "query_server.request_timeout_ms",
            config.query_server.request_timeout_ms,
        ),
    ] {
        positive(key, value)?;
    }
    anyhow::ensure!(
        config.lake.retention_hours <= RETENTION_HOURS_MAX,
        "lake.retention_hours must be at most {RETENTION_HOURS_MAX}, not {}: removed files are forgotten then",
        config.lake.retention_hours
    );
    positive("lake.buckets", u64::from(config.lake.buckets))?;
    check_live(&config.live_gateway)?;
    positive(
        "live_gateway.ask.stores_at_once_max",
        config.live_gateway.ask.stores_at_once_max as u64,
    )?;
    positive("release.keep", config.release.keep as u64)?;
    positive("query_server.poll_ms", config.query_server.poll_ms)?;
    positive(
        "query_server.concurrency_max",
        config.query_server.concurrency_max as u64,
    )?;
    positive(
        "query_server.connections_per_address_max",
        config.query_server.connections_per_address_max as u64,
    )?;
    let server = &config.query_server;
    positive("query_server.bodies_max", server.bodies_max as u64)?;
    positive(
        "query_server.bodies_per_client_max",
        server.bodies_per_client_max as u64,
    )?;
    positive("query_server.body_timeout_ms", server.body_timeout_ms)?;
    let proxies = config.query_server.trusted_proxies.parse::<api::AddressRanges>();
    proxies.context("query_server.trusted_proxies")?;
    check_callers(config)?;
    config.storefront.validate()?;
    Ok(())
}

/// Parses a list of origins to the form that browsers send.
pub(crate) fn cors_origins(list: &str) -> anyhow::Result<Vec<http::HeaderValue>> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let origin = |name: &str| {
        let url = url::Url::parse(name).ok();
        let written = url.map(|url| url.origin().ascii_serialization());
        let value = written.filter(|written| written == name && written != "null");
        value
            .and_then(|value| value.parse().ok())
            .with_context(|| format!("api.cors_origins: {name:?} is not an origin such as https://shop.example"))
    };
    names.map(origin).collect()
}

/// Checks the settings of access and limits.
fn check_callers(config: &Config) -> anyhow::Result<()> {
    config.limits.check()?;
    config.access.check()?;
    config.mcp.check()?;
    config.jobs.check()?;
    config.quality.check()?;
    config.queue.check()?;
    cors_origins(&config.api.cors_origins)?;
    let state = &config.state;
    if !state.url.is_empty() {
        state::StateTarget::postgres(&state.url)?;
    }
    if !state.master_key.is_empty() {
        state::MasterKeys::parse(&state.master_key).context("state.master_key")?;
    }
    Ok(())
}

fn check_live(given: &LiveGateway) -> anyhow::Result<()> {
    let ask = &given.ask;
    anyhow::ensure!(
        (100..=60_000).contains(&ask.budget_ms),
        "live_gateway.ask.budget_ms must be between 100 and 60000, not {}",
        ask.budget_ms
    );
    anyhow::ensure!(
        ask.reuse_ms <= 60_000,
        "live_gateway.ask.reuse_ms must be at most 60000, not {}: an older answer is not live",
        ask.reuse_ms
    );
    anyhow::ensure!(
        given.carts.reuse_ms <= 60_000,
        "live_gateway.carts.reuse_ms must be at most 60000, not {}: an older answer is not live",
        given.carts.reuse_ms
    );
    let catalogue = url::Url::parse(&given.catalogue).context("live_gateway.catalogue")?;
    anyhow::ensure!(
        matches!(catalogue.scheme(), "http" | "https"),
        "live_gateway.catalogue must start with http:// or https://, not {}:",
        catalogue.scheme()
    );
    Ok(())
}
