use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Number of bytes per semaphore permit.
const UNIT: u64 = 16 << 10;
const BYTES_MAX: u64 = 512 << 20;
/// Minimum memory of a crawl, in bytes. Hardly any page would fit in less.
const BYTES_MIN: u64 = 64 << 20;
/// Default number of simultaneous conversations with stores.
const CONVERSATIONS_MAX: usize = 136;
/// Number of bodies beyond a conversation's own share that are received at the same time.
const MIDDLE_TURNS: u64 = 12;
/// Number of bodies that are decompressed at the same time. The memory of a decompressor does not follow from the size
/// of the body.
const DECODERS: usize = 4;
/// Fixed memory of a page, in bytes. The proportional memory comes in addition.
const PAGE_FLOOR: u64 = 256 << 10;
/// Memory for parsing a page as a multiple of its body size, including the body.
const PAGE_FACTOR: u64 = 4;

/// Memory limit of a crawl for data that stores send: bodies on the wire, pages, and the products parsed from them.
/// Clones share the limit.
///
/// The memory has separate parts, so that no waiting task can occupy memory that another task waits for:
/// - *wire*: each conversation has its own share, and a larger body takes one of a few slots;
/// - *pages*: memory is reserved in full before a body is decompressed, and freed with the body. A task that waits for
///   a page has no page memory;
/// - *rows*: products that wait to be written to the lake. While a store is read, memory for rows is reserved without a
///   wait. A task that waits for rows has the only waiting slot and has released its earlier rows. Rows that are being
///   written to the lake wait for no memory.
///
/// A quarter is left to the program itself and to the lake's commits.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bytes_max: u64,
    reserved: AtomicU64,
    peak: AtomicU64,
    waits: AtomicU64,
    share: u64,
    middle: (u64, Arc<Semaphore>),
    large: (u64, Arc<Semaphore>),
    pages: Part,
    rows: Part,
    rows_turn: Arc<Semaphore>,
    decoders: Semaphore,
}

#[derive(Debug)]
struct Part {
    bytes_max: u64,
    permits: Arc<Semaphore>,
    waiting: watch::Sender<u32>,
}

/// Usage of a [`MemoryBudget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Configured limit in bytes.
    pub bytes_max: u64,
    /// Maximum number of bytes that were reserved at the same time.
    pub reserved_bytes_peak: u64,
    /// Number of times that a task had to wait for memory.
    pub waits: u64,
}

/// A request for more memory than the whole part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it needs more than {bytes_max} bytes of memory, the maximum that refresh.memory_bytes_max leaves for it")]
pub struct OverBudget {
    /// Maximum number of bytes that can be reserved.
    pub bytes_max: u64,
}

/// A reservation of memory, which dropping it frees.
#[derive(Debug)]
pub struct Reservation {
    inner: Arc<Inner>,
    permit: OwnedSemaphorePermit,
    bytes: u64,
}

/// A waiting task. Dropping it ends the count.
#[derive(Debug)]
struct MemoryWaiter<'a>(&'a watch::Sender<u32>);

impl<'a> MemoryWaiter<'a> {
    fn begin(waiting: &'a watch::Sender<u32>) -> Self {
        waiting.send_modify(|count| *count = count.saturating_add(1));
        Self(waiting)
    }
}

impl Drop for MemoryWaiter<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

struct ReservedBytes {
    bytes: Bytes,
    _room: Reservation,
}

impl AsRef<[u8]> for ReservedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[derive(Debug)]
pub(crate) struct Wire {
    inner: Arc<Inner>,
    bytes: u64,
    middle: Option<OwnedSemaphorePermit>,
    large: Option<OwnedSemaphorePermit>,
}

impl Part {
    fn new(bytes_max: u64) -> Self {
        let units = usize::try_from((bytes_max / UNIT).max(1)).unwrap_or(usize::MAX);
        Self {
            bytes_max,
            permits: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))),
            waiting: watch::Sender::new(0),
        }
    }

    fn units_max(&self) -> u64 {
        (self.bytes_max / UNIT).max(1)
    }

    fn units(&self, bytes: u64) -> u32 {
        let units = bytes.min(self.bytes_max).div_ceil(UNIT);
        u32::try_from(units.clamp(1, self.units_max())).unwrap_or(u32::MAX)
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(BYTES_MAX, CONVERSATIONS_MAX)
    }
}

impl MemoryBudget {
    /// Creates a budget of `bytes_max` bytes, at least 64 MiB, for conversations with at most `conversations_max`
    /// stores at the same time.
    #[must_use]
    pub fn new(bytes_max: u64, conversations_max: usize) -> Self {
        metrics::describe_gauge!(
            "crawl_memory_reserved_bytes",
            "Memory reserved by crawls for pages and products, in bytes"
        );
        metrics::describe_gauge!(
            "crawl_memory_bytes_max",
            "Maximum memory that crawls may reserve, in bytes"
        );
        metrics::describe_counter!(
            "crawl_memory_waits_total",
            "Number of times that a crawl waited for free memory"
        );
        let bytes_max = bytes_max.max(BYTES_MIN);
        metrics::gauge!("crawl_memory_bytes_max").set(bytes_max as f64);
        // Shares of 512 MiB: 32 for conversations, 24 for middle-sized bodies, 32 for the large one, 104 for pages, 192
        // for rows.
        let part = |sixty_fourths: u64| bytes_max / 64 * sixty_fourths;
        let conversations = u64::try_from(conversations_max.max(1)).unwrap_or(u64::MAX);
        let turns = |count: u64| Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(1)));
        Self {
            inner: Arc::new(Inner {
                bytes_max,
                reserved: AtomicU64::new(0),
                peak: AtomicU64::new(0),
                waits: AtomicU64::new(0),
                share: part(4) / conversations,
                middle: (part(3) / MIDDLE_TURNS, turns(MIDDLE_TURNS)),
                large: (part(4), turns(1)),
                pages: Part::new(part(13)),
                rows: Part::new(part(24)),
                rows_turn: turns(1),
                decoders: Semaphore::new(DECODERS),
            }),
        }
    }

    /// Returns the memory usage so far.
    #[must_use]
    pub fn usage(&self) -> MemoryUsage {
        MemoryUsage {
            bytes_max: self.inner.bytes_max,
            reserved_bytes_peak: self.inner.peak.load(Ordering::Relaxed),
            waits: self.inner.waits.load(Ordering::Relaxed),
        }
    }

    /// Returns the size of the largest body that can fit, in bytes.
    #[must_use]
    pub fn body_bytes_max(&self) -> u64 {
        // The remaining quarter is for the parsed results of the body.
        self.inner.pages.bytes_max / 4 * 3
    }

    /// Returns the number of bytes that parsing a page with `body_bytes` may take, without the body itself.
    #[must_use]
    pub fn scan_bytes_max(&self, body_bytes: u64) -> u64 {
        page_bytes(body_bytes)
            .min(self.inner.pages.bytes_max)
            .saturating_sub(body_bytes)
    }

    /// Reserves memory for a page with a body of `body_bytes` and for parsing it. The caller must have no other page.
    ///
    /// # Errors
    /// [`OverBudget`] if the page can never fit.
    #[boxed]
    pub async fn page(&self, body_bytes: u64) -> Result<Reservation, OverBudget> {
        let bytes_max = self.body_bytes_max();
        if body_bytes > bytes_max {
            return Err(OverBudget { bytes_max });
        }
        Ok(self.reserve(&self.inner.pages, page_bytes(body_bytes)).await)
    }

    /// Maximum number of bytes for the products of one store.
    #[must_use]
    pub fn rows_bytes_max(&self) -> u64 {
        self.inner.rows.bytes_max
    }

    /// Reserves memory for products if it is available now. A quarter stays available for the store with the waiting
    /// slot.
    #[must_use]
    pub fn try_rows(&self, bytes: u64) -> Option<Reservation> {
        let part = &self.inner.rows;
        let units = part.units(bytes);
        let free = u64::try_from(part.permits.available_permits()).unwrap_or(u64::MAX) * UNIT;
        if bytes.saturating_add(part.bytes_max / 4) > free {
            return None;
        }
        let permit = Arc::clone(&part.permits).try_acquire_many_owned(units).ok()?;
        Some(self.reserved(permit, bytes))
    }

    /// Waits for the only waiting slot for a store whose products need more memory. The caller must have no rows.
    #[boxed]
    pub async fn rows_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turn(&self.inner.rows_turn).await
    }

    /// Returns two limits in bytes for the products of a page of the store with the waiting slot: the usual limit for a
    /// page of `body_bytes`, and all the memory that the store has not reserved already.
    #[must_use]
    pub fn rows_bounds(&self, body_bytes: u64, held: Option<&Reservation>) -> [u64; 2] {
        let held = held.map_or(0, |held| held.permit.num_permits() as u64);
        let left = self.inner.rows.units_max().saturating_sub(held) * UNIT;
        [page_bytes(body_bytes).min(left), left]
    }

    /// Reserves memory for products of the store with the waiting slot.
    ///
    /// # Errors
    /// [`OverBudget`] if `bytes` plus the memory that the store has can never fit. The store would otherwise wait for
    /// itself.
    #[boxed]
    pub async fn rows(&self, bytes: u64, held: Option<&Reservation>) -> Result<Reservation, OverBudget> {
        let part = &self.inner.rows;
        // Whole permits count, because many small pages take more memory than the sum of their bytes.
        let held = held.map_or(0, |held| held.permit.num_permits() as u64);
        if bytes.div_ceil(UNIT).max(1).saturating_add(held) > part.units_max() {
            return Err(OverBudget {
                bytes_max: part.bytes_max,
            });
        }
        Ok(self.reserve(part, bytes).await)
    }

    /// Returns the number of tasks that wait for rows. A task that collects rows into larger groups must release them
    /// while this is above 0.
    #[must_use]
    pub fn rows_waiting(&self) -> watch::Receiver<u32> {
        self.inner.rows.waiting.subscribe()
    }

    pub(crate) fn wire(&self) -> Wire {
        Wire {
            inner: Arc::clone(&self.inner),
            bytes: 0,
            middle: None,
            large: None,
        }
    }

    /// Waits for a slot to decompress a body. The owner of the slot must not wait for anything.
    pub(crate) async fn decoder(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // The semaphore is never closed, so that a permit always comes.
        self.inner.decoders.acquire().await.ok()
    }

    async fn turn(&self, turns: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        self.inner.turn(turns).await
    }

    async fn reserve(&self, part: &Part, bytes: u64) -> Reservation {
        let bytes = bytes.min(part.bytes_max);
        let units = part.units(bytes);
        let permits = &part.permits;
        let permit = match Arc::clone(permits).try_acquire_many_owned(units) {
            Ok(permit) => permit,
            Err(_) => {
                self.inner.note_wait();
                let _waiting = MemoryWaiter::begin(&part.waiting);
                match Arc::clone(permits).acquire_many_owned(units).await {
                    Ok(permit) => permit,
                    // The semaphore is never closed.
                    Err(_) => std::future::pending().await,
                }
            }
        };
        self.reserved(permit, bytes)
    }

    fn reserved(&self, permit: OwnedSemaphorePermit, bytes: u64) -> Reservation {
        self.inner.add(bytes);
        Reservation {
            inner: Arc::clone(&self.inner),
            permit,
            bytes,
        }
    }
}

/// Includes the memory for parsing.
const fn page_bytes(body_bytes: u64) -> u64 {
    body_bytes.saturating_mul(PAGE_FACTOR).saturating_add(PAGE_FLOOR)
}

impl Inner {
    fn add(&self, bytes: u64) {
        let reserved = self.reserved.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.peak.fetch_max(reserved, Ordering::Relaxed);
        metrics::gauge!("crawl_memory_reserved_bytes").increment(bytes as f64);
    }

    fn give_back(&self, bytes: u64) {
        self.reserved.fetch_sub(bytes, Ordering::Relaxed);
        metrics::gauge!("crawl_memory_reserved_bytes").decrement(bytes as f64);
    }

    fn note_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("crawl_memory_waits_total").increment(1);
    }

    async fn turn(&self, turns: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        if let Ok(turn) = Arc::clone(turns).try_acquire_owned() {
            return Some(turn);
        }
        self.note_wait();
        // The semaphore is never closed, so that a permit always comes.
        Arc::clone(turns).acquire_owned().await.ok()
    }
}

impl Reservation {
    /// Returns the number of reserved bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes over another reservation of the same part.
    pub fn merge(&mut self, mut other: Self) {
        if let Some(permit) = other.permit.split(other.permit.num_permits()) {
            self.permit.merge(permit);
            self.bytes += std::mem::take(&mut other.bytes);
            // Each reservation was rounded up to permits, so that the sum may have too many.
            self.shrink(self.bytes);
        }
    }

    /// Attaches the reservation to the bytes. Dropping the last clone of the bytes frees the memory.
    #[must_use]
    pub fn hold(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(ReservedBytes { bytes, _room: self })
    }

    /// Releases the memory beyond `bytes`.
    pub fn shrink(&mut self, bytes: u64) {
        let kept = usize::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(usize::MAX);
        drop(self.permit.split(self.permit.num_permits().saturating_sub(kept)));
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        self.inner.give_back(less);
    }

    /// Releases the memory that a page with a body of `body_bytes` does not need.
    pub(crate) fn shrink_to_page(&mut self, body_bytes: u64) {
        self.shrink(page_bytes(body_bytes));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.inner.give_back(self.bytes);
    }
}

impl Wire {
    /// Returns the size of the largest body that can ever fit.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.inner.share + self.inner.middle.0 + self.inner.large.0
    }

    /// Raises the reservation to `bytes` in total, without a wait if they are within the conversation's own share.
    pub(crate) async fn grow(&mut self, bytes: u64) -> Result<(), OverBudget> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        let middle = inner.share + inner.middle.0;
        let bytes_max = self.bytes_max();
        if bytes > bytes_max {
            return Err(OverBudget { bytes_max });
        }
        if bytes > inner.share && self.middle.is_none() {
            self.middle = inner.turn(&inner.middle.1).await;
        }
        if bytes > middle && self.large.is_none() {
            self.large = inner.turn(&inner.large.1).await;
        }
        inner.add(bytes - self.bytes);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.inner.give_back(self.bytes);
    }
}
