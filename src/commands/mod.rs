//! Commands, one per file: each calls one operation of a crate and prints the result.

mod as_of;
mod backfill;
mod backup;
mod brands;
pub(crate) mod config;
mod crawl;
mod delivery;
mod demo;
mod doctor;
mod emulate;
mod feed;
mod health;
mod jobs;
mod keys;
mod lake;
mod live_gateway;
pub(crate) mod man;
mod place;
mod quality;
pub(crate) mod query_server;
mod queue;
mod rates;
mod release;
mod reviews;
mod searches;
mod shipping;
mod sql;
mod stores;
mod worker;

use crate::cli::Command;
use crate::exit::Outcome;
use crate::wiring::Context;

pub(crate) async fn run(command: Command, mut context: Context) -> anyhow::Result<Outcome> {
    context.only_reads = command.only_reads();
    if command.needs_home() {
        context.require_home().await?;
    }
    match command {
        // The future is boxed because it is large and would take much stack space.
        Command::Demo(args) => Box::pin(demo::run(args, context)).await,
        Command::Emulate(args) => emulate::run(args, context).await,
        Command::Crawl(args) => crawl::run(args, context).await,
        Command::Backfill(args) => backfill::run(args, context).await,
        Command::Backup(command) => backup::run(command, context).await,
        Command::Restore(args) => backup::restore(args, context).await,
        Command::Brands(command) => brands::run(command, context).await,
        Command::Release(command) => release::run(command, context).await,
        Command::Quality(args) => quality::run(args, context).await,
        Command::Jobs(command) => jobs::run(command, context).await,
        Command::Worker(args) => worker::run(args, context).await,
        Command::Queue(command) => queue::run(command, context).await,
        Command::Delivery(command) => delivery::run(command, context).await,
        Command::Keys(command) => keys::run(command, context).await,
        Command::Reviews(command) => reviews::run(command, context).await,
        Command::Shipping(command) => shipping::run(command, context).await,
        Command::Rates(command) => rates::run(command, context).await,
        Command::Searches(command) => searches::run(command, context).await,
        Command::Lake(command) => Box::pin(lake::run(command, context)).await,
        Command::QueryServer(args) => Box::pin(query_server::run(args, query_server::Parts::Graph, context)).await,
        Command::Up(args) => Box::pin(query_server::run(args, query_server::Parts::All, context)).await,
        Command::LiveGateway(args) => Box::pin(live_gateway::run(args, context)).await,
        Command::Feed(args) => Box::pin(feed::run(args, context)).await,
        Command::Sql(args) => sql::run(args, context).await,
        Command::Doctor(args) => doctor::run(args, context).await,
        Command::Health { url } => health::run(url, context).await,
        // These commands ran before the runtime started.
        Command::Config(_) | Command::Completions { .. } | Command::Man { .. } => Ok(Outcome::Done),
    }
}
