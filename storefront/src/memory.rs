use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Bytes that one permit stands for.
const UNIT: u64 = 16 << 10;
/// Memory that a crawl may take unless it is configured.
const BYTES_MAX: u64 = 512 << 20;
/// With less than this hardly a page would fit.
const BYTES_MIN: u64 = 64 << 20;
/// Conversations that are open at the same time unless it is configured.
const CONVERSATIONS_MAX: usize = 136;
/// Bodies beyond a conversation's own share that are received at the same time.
const MIDDLE_TURNS: u64 = 12;
/// Bodies that are unpacked at the same time: what an unpacker itself holds does not follow from the body's size.
const DECODERS: usize = 4;
/// Memory that a page takes beyond what follows from its size.
const PAGE_FLOOR: u64 = 256 << 10;
/// The multiple of its body that a page may take while it is understood, the body included.
const PAGE_FACTOR: u64 = 4;

/// The memory that a crawl may take for what stores send: bodies on the wire, pages, and the products made of them. Clones
/// share it.
///
/// The bytes have parts, so that nobody who waits can hold what another one waits for:
/// - the *wire*: each conversation has a share of its own; what is larger takes one of a few turns;
/// - *pages*: reserved in one piece before a body is unpacked, given back with the body. Whoever waits for a page holds
///   none;
/// - *rows*: products on their way to the lake. Taken without waiting while a store is read. Whoever waits for rows has
///   the one turn and lets go of what it had; rows that go to the lake wait for nothing.
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
    /// The number of those who wait for it now.
    waiting: watch::Sender<u32>,
}

/// Memory that was reserved of a [`MemoryBudget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUsage {
    /// The bound that was set.
    pub bytes_max: u64,
    /// Most bytes that were reserved at the same time.
    pub reserved_bytes_peak: u64,
    /// The number of times that something had to wait for memory.
    pub waits: u64,
}

/// More than there is room for, even if nothing else were there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it takes more than the {bytes_max} bytes of memory that refresh.memory_bytes_max leaves for it")]
pub struct OverBudget {
    /// The room that there is.
    pub bytes_max: u64,
}

/// Bytes of memory that are reserved until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    inner: Arc<Inner>,
    permit: OwnedSemaphorePermit,
    bytes: u64,
}

/// One that waits, until this is dropped.
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

/// The reservation for a body on its way.
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
    /// A budget of `bytes_max` bytes, but no less than 64 MiB, for a program that talks with at most `conversations_max` stores at the same time.
    #[must_use]
    pub fn new(bytes_max: u64, conversations_max: usize) -> Self {
        metrics::describe_gauge!(
            "crawl_memory_reserved_bytes",
            "Memory that crawls have reserved for pages and products"
        );
        metrics::describe_gauge!("crawl_memory_bytes_max", "Bound of the memory of a crawl");
        metrics::describe_counter!(
            "crawl_memory_waits_total",
            "Number of times that a crawl waited for memory to be given back"
        );
        let bytes_max = bytes_max.max(BYTES_MIN);
        metrics::gauge!("crawl_memory_bytes_max").set(bytes_max as f64);
        // At 512 MiB: 32 for the shares, 24 for the turns in the middle, 32 for the large one, 104 for pages, 192 for rows.
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

    /// Memory that was reserved so far.
    #[must_use]
    pub fn usage(&self) -> MemoryUsage {
        MemoryUsage {
            bytes_max: self.inner.bytes_max,
            reserved_bytes_peak: self.inner.peak.load(Ordering::Relaxed),
            waits: self.inner.waits.load(Ordering::Relaxed),
        }
    }

    /// The largest body that there is room for.
    #[must_use]
    pub fn body_bytes_max(&self) -> u64 {
        // A third of it for what is made of the body.
        self.inner.pages.bytes_max / 4 * 3
    }

    /// Memory that a page of so many bytes may take while it is understood.
    #[must_use]
    pub fn scan_bytes_max(&self, body_bytes: u64) -> u64 {
        page_bytes(body_bytes)
            .min(self.inner.pages.bytes_max)
            .saturating_sub(body_bytes)
    }

    /// Room for a page whose body has so many bytes, and for understanding it. Who waits here must hold no other page.
    ///
    /// # Errors
    /// [`OverBudget`] where there is never so much room.
    #[boxed]
    pub async fn page(&self, body_bytes: u64) -> Result<Reservation, OverBudget> {
        let bytes_max = self.body_bytes_max();
        if body_bytes > bytes_max {
            return Err(OverBudget { bytes_max });
        }
        Ok(self.reserve(&self.inner.pages, page_bytes(body_bytes)).await)
    }

    /// Most bytes that the products of one store may take.
    #[must_use]
    pub fn rows_bytes_max(&self) -> u64 {
        self.inner.rows.bytes_max
    }

    /// Room for products, if there is some now: a quarter of what there is for them is left to the store
    /// that has the turn.
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

    /// The one turn of a store whose products must wait for room. Who waits for it must hold no rows.
    #[boxed]
    pub async fn rows_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turn(&self.inner.rows_turn).await
    }

    /// The room that the products of a page whose body has so many bytes are given, for the store that has the turn: what pages
    /// take, and where that is not enough, all that there is beside what the same store holds.
    #[must_use]
    pub fn rows_bounds(&self, body_bytes: u64, held: Option<&Reservation>) -> [u64; 2] {
        let held = held.map_or(0, |held| held.permit.num_permits() as u64);
        let left = self.inner.rows.units_max().saturating_sub(held) * UNIT;
        [page_bytes(body_bytes).min(left), left]
    }

    /// Room for products of the store that has the turn.
    ///
    /// # Errors
    /// [`OverBudget`] where `bytes`, with what the same store holds, are more than there is room for at all: it would wait for
    /// itself.
    #[boxed]
    pub async fn rows(&self, bytes: u64, held: Option<&Reservation>) -> Result<Reservation, OverBudget> {
        let part = &self.inner.rows;
        // In whole units, as they are given: many small pages take more of them than their bytes say.
        let held = held.map_or(0, |held| held.permit.num_permits() as u64);
        if bytes.div_ceil(UNIT).max(1).saturating_add(held) > part.units_max() {
            return Err(OverBudget {
                bytes_max: part.bytes_max,
            });
        }
        Ok(self.reserve(part, bytes).await)
    }

    /// The number of those who wait for rows now. A holder who keeps rows until there are more of them lets go of them while
    /// this is above 0.
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

    /// A turn to unpack a body. Who has one waits for nothing.
    pub(crate) async fn decoder(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // Never closed, so there is always one in the end.
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
                    // Never closed.
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

/// Memory of a page with all that is made of it while it is understood.
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
        // Never closed, so there is always one in the end.
        Arc::clone(turns).acquire_owned().await.ok()
    }
}

impl Reservation {
    /// The bytes that are reserved.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes over what another reservation of the same part has.
    pub fn merge(&mut self, mut other: Self) {
        if let Some(permit) = other.permit.split(other.permit.num_permits()) {
            self.permit.merge(permit);
            self.bytes += std::mem::take(&mut other.bytes);
            // The bytes by which each of them was rounded up are not kept.
            self.shrink(self.bytes);
        }
    }

    /// The same bytes, which give the memory back when the last of their clones is dropped.
    #[must_use]
    pub fn hold(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(ReservedBytes { bytes, _room: self })
    }

    /// Gives back what is beyond `bytes`.
    pub fn shrink(&mut self, bytes: u64) {
        let kept = usize::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(usize::MAX);
        drop(self.permit.split(self.permit.num_permits().saturating_sub(kept)));
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        self.inner.give_back(less);
    }

    /// Gives back what a page whose body turned out to have so many bytes does not need.
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
    /// The largest body that there is ever room for.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.inner.share + self.inner.middle.0 + self.inner.large.0
    }

    /// Reserves `bytes` in all. What a conversation's own share has room for never waits.
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
