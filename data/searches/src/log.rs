use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_model::Clock;
use data_storage::{Storage, put_over};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::SearchesConfig;
use crate::counts::{DayCounts, SearchNote, WordCount, day_of, first_day};
use crate::store::{counts_at, forget_before};

/// Maximum number of days in memory. Beyond it, the oldest day is lost.
const DAYS_MAX: usize = 3;
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const LOST: &str = "searches_lost_total";

/// Counts searches by words. Cloning is cheap, and all clones share their counts.
#[derive(Debug, Clone)]
pub struct SearchLog {
    days: Arc<Mutex<VecDeque<DayCounts>>>,
    clock: Arc<dyn Clock>,
    words_max: usize,
}

impl SearchLog {
    /// Creates a log and the future of its writer, which the caller must run. When the future is cancelled, the writer
    /// writes the counts so far and ends.
    ///
    /// Metric: `searches_lost_total{reason}`, the number of searches that were not counted (`too_many_words`) or not
    /// written this time (`put_failed`). Unwritten searches are written with the next counts of the day.
    pub fn start(
        storage: &Storage,
        clock: Arc<dyn Clock>,
        config: &SearchesConfig,
        cancel: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        metrics::describe_counter!(
            LOST,
            "Number of searches that are missing from the counts of searched words, by reason"
        );
        for reason in ["too_many_words", "put_failed"] {
            metrics::counter!(LOST, "reason" => reason).increment(0);
        }
        let log = Self {
            days: Arc::default(),
            clock,
            words_max: config.words_max.max(1),
        };
        let writer = Writer {
            log: log.clone(),
            storage: storage.clone(),
            server: Uuid::new_v4().simple().to_string(),
            kept_days: config.kept_days,
            forgot: None,
        };
        let interval = Duration::from_millis(config.flush_interval_ms.max(10));
        (log, writer.run(interval, cancel))
    }

    /// Counts a search on the current day.
    pub fn note(&self, note: &SearchNote<'_>) {
        let day = day_of(self.clock.now());
        let mut days = self.days();
        if days.back().is_none_or(|last| last.day != day) {
            days.push_back(DayCounts::of(day));
            if days.len() > DAYS_MAX {
                days.pop_front();
            }
        }
        let is_counted = days.back_mut().is_some_and(|last| last.note(note, self.words_max));
        drop(days);
        if !is_counted {
            metrics::counter!(LOST, "reason" => "too_many_words").increment(1);
        }
    }

    /// Counts a click on a result of a search, if the same words were searched at this server today.
    pub fn click(&self, text: &str) {
        let day = day_of(self.clock.now());
        if let Some(today) = self.days().back_mut().filter(|last| last.day == day) {
            today.click(text);
        }
    }

    fn days(&self) -> MutexGuard<'_, VecDeque<DayCounts>> {
        // A panic cannot leave a change incomplete, so that a poisoned lock is safe to use.
        self.days.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) -> Vec<(String, Vec<WordCount>)> {
        let mut days = self.days();
        let changed = days.iter_mut().filter(|day| day.is_changed);
        let changed = changed.map(|day| {
            day.is_changed = false;
            (day.day.clone(), day.kept())
        });
        changed.filter(|(_, kept)| !kept.is_empty()).collect()
    }

    /// The counts of a day that could not be written are written again.
    fn keep(&self, day: &str) {
        let mut days = self.days();
        let unwritten = days.iter_mut().filter(|known| known.day == day);
        unwritten.for_each(|known| known.is_changed = true);
    }

    fn forget_written(&self) {
        let today = day_of(self.clock.now());
        self.days().retain(|day| day.is_changed || day.day == today);
    }
}

#[derive(Debug)]
struct Writer {
    log: SearchLog,
    storage: Storage,
    /// Unique name of this server's objects, which no other server writes.
    server: String,
    kept_days: u32,
    forgot: Option<String>,
}

impl Writer {
    async fn run(mut self, interval: Duration, cancel: CancellationToken) {
        while cancel.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
            self.write().await;
            self.forget_old().await;
        }
        self.write().await;
    }

    async fn write(&self) {
        for (day, counts) in self.log.changed() {
            let Ok(json) = serde_json::to_vec(&counts) else {
                continue;
            };
            let path = counts_at(&day, &self.server);
            let put = timeout(WRITE_TIMEOUT, put_over(&self.storage, &path, json)).await;
            let error: &dyn std::error::Error = match &put {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(elapsed) => elapsed,
            };
            tracing::warn!(
                error,
                "counts of searched words could not be written; the next write includes them"
            );
            metrics::counter!(LOST, "reason" => "put_failed").increment(1);
            self.log.keep(&day);
        }
        self.log.forget_written();
    }

    /// Removes counts that are too old, once a day.
    async fn forget_old(&mut self) {
        let now = self.log.clock.now();
        let today = day_of(now);
        if self.forgot.as_ref() == Some(&today) {
            return;
        }
        let oldest = first_day(now, self.kept_days.saturating_add(1));
        match timeout(WRITE_TIMEOUT, forget_before(&self.storage, &oldest)).await {
            Ok(Ok(())) => self.forgot = Some(today),
            Ok(Err(error)) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "old counts of searched words could not be removed");
            }
            Err(_) => tracing::warn!("removing old counts of searched words took too long"),
        }
    }
}
