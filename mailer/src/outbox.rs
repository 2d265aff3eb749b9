use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::Mail;

const KEPT_MAX: usize = 20;

/// Newest e-mails, which are stored in memory instead of sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<VecDeque<Mail>>);

impl Outbox {
    pub(crate) fn keep(&self, mail: Mail) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front(mail);
        kept.truncate(KEPT_MAX);
    }

    pub(crate) fn mails(&self) -> Vec<Mail> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().cloned().collect()
    }
}
