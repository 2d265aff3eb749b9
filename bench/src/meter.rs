//! Measures time and memory, and prints the figures.

use std::io::Write;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) baseline_is: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
}

impl Figure {
    pub(crate) fn alone(name: &'static str, value: f64, unit: &'static str) -> Self {
        Self::named(name.to_owned(), value, unit)
    }

    pub(crate) fn named(name: String, value: f64, unit: &'static str) -> Self {
        Self {
            name,
            value,
            unit,
            baseline: None,
            baseline_is: None,
            ratio: None,
        }
    }

    pub(crate) fn beside(self, baseline: f64, is: &'static str) -> Self {
        Self {
            baseline: Some(baseline),
            baseline_is: Some(is),
            ratio: Some(self.value / baseline),
            ..self
        }
    }

    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        serde_json::to_writer(&mut stdout, self)?;
        writeln!(stdout)?;
        Ok(stdout.flush()?)
    }
}

/// Wall and CPU time of a computation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

fn cpu_of(who: UsageWho) -> anyhow::Result<Duration> {
    let usage = getrusage(who)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros)?))
}

fn cost<T>(who: UsageWho, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Cost)> {
    let (cpu, begun) = (cpu_of(who)?, Instant::now());
    let done = work()?;
    Ok((
        done,
        Cost {
            wall: begun.elapsed(),
            cpu: cpu_of(who)?.saturating_sub(cpu),
        },
    ))
}

pub(crate) fn of_self<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Cost)> {
    cost(UsageWho::RUSAGE_SELF, work)
}

/// Measures work in child processes that it starts and waits for.
pub(crate) fn of_children<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Cost)> {
    cost(UsageWho::RUSAGE_CHILDREN, work)
}

/// Returns the CPU time of all threads of a running process, as counted by the kernel. The resolution is nanoseconds,
/// unlike the 10 ms ticks of `/proc/PID/stat`.
pub(crate) fn cpu_of_process(pid: u32) -> anyhow::Result<Duration> {
    let pid = Pid::from_raw(pid.cast_signed());
    Ok(clock_getcpuclockid(pid)?.now()?.into())
}

/// Returns the resident memory of a running process in bytes, split into anonymous memory and memory mapped from files.
pub(crate) fn memory_of_process(pid: u32) -> anyhow::Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    Ok((kib("RssAnon:") * 1024.0, kib("RssFile:") * 1024.0))
}

pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index of a short list"
    )]
    let index = ((values.len().saturating_sub(1)) as f64 * share).round() as usize;
    values.get(index).copied().unwrap_or(f64::NAN)
}
