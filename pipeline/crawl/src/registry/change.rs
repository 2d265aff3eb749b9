use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_storage::{EventLog, Storage, StorageError};
use url::Url;

use super::identity::host_of;
use super::slug::give_slug;
use super::{DisplayNames, NewBrand, RegisteredBrand, Registry, RegistryEvent, domain_of};

/// Object storage prefix of the registry's log.
pub(super) const PREFIX: &str = "registry";
/// Maximum number of attempts at a change when other programs keep changing the registry.
pub(super) const TRIES_MAX: usize = 64;

/// Error of reading or changing the registry.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The log is unreadable.
    #[error("the brand registry cannot be read")]
    Read(#[source] StorageError),
    /// The event cannot be written.
    #[error("the brand registry cannot be changed")]
    Write(#[source] StorageError),
    /// Other programs changed the registry first in every attempt.
    #[error("other processes keep changing the brand registry")]
    Contended,
    /// The URL is not a valid base URL.
    #[error("not a valid store address: {0}")]
    Address(Url),
    /// An event and its copy are lost. The event may have registered the new brand before, or assigned its slug.
    #[error(
        "{path} and its copy are missing or damaged: `haat lake repair` registers the brands that the lake contains again; \
         until then no new brand can be registered"
    )]
    Lost {
        /// Path of the lost event.
        path: String,
    },
    /// Every slug for the name is taken.
    #[error("every possible slug for {0:?} is taken")]
    NoSlug(String),
    /// No registered brand has the slug.
    #[error("no brand is registered as {0}")]
    Unknown(BrandSlug),
}

/// Outcome of registering one brand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addition {
    /// The brand is new.
    Added(RegisteredBrand),
    /// The brand had been removed and is registered again under its earlier slug.
    Restored(RegisteredBrand),
    /// The brand was already registered, and its registration changed.
    Updated(RegisteredBrand),
    /// The brand was already registered with the same data.
    Unchanged(RegisteredBrand),
    /// The store states the permanent host of this brand, but the brand is registered at another address. The registry
    /// stays as it is, because a store may claim any host. See [`NewBrand::moved`].
    Taken(RegisteredBrand),
    /// This brand is registered at the address, but the address now belongs to another store. The registry stays as it
    /// is. The brand must be removed before the other store can be registered.
    AnotherStore(RegisteredBrand),
}

impl Addition {
    /// Returns the brand as it is registered now.
    #[must_use]
    pub const fn brand(&self) -> &RegisteredBrand {
        match self {
            Self::Added(brand)
            | Self::Restored(brand)
            | Self::Updated(brand)
            | Self::Unchanged(brand)
            | Self::Taken(brand)
            | Self::AnotherStore(brand) => brand,
        }
    }
}

impl Registry {
    /// Loads the current registry.
    ///
    /// # Errors
    /// [`RegistryError::Read`].
    #[boxed]
    pub async fn load(storage: &Storage) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        registry.catch_up(storage).await?;
        Ok(registry)
    }

    /// Registers brands, or changes their registration, in one event. Returns the outcome for each brand.
    ///
    /// An address identifies a brand, and its slug never changes. Changes by other programs are read first, so that two
    /// programs can add brands at the same time. If nothing changes, nothing is written.
    ///
    /// # Errors
    /// See [`RegistryError`]. After an error, nothing was changed.
    #[boxed]
    pub async fn add(
        &mut self,
        storage: &Storage,
        brands: &[NewBrand],
        now: Timestamp,
    ) -> Result<Vec<Addition>, RegistryError> {
        for _ in 0..TRIES_MAX {
            let additions = self.plan(brands, now)?;
            let stays = |addition: &&Addition| {
                use Addition::{AnotherStore, Taken, Unchanged};
                matches!(addition, Unchanged(_) | Taken(_) | AnotherStore(_))
            };
            let changed = additions.iter().filter(|addition| !stays(addition));
            let brands: Vec<_> = changed.map(|addition| addition.brand().clone()).collect();
            if brands.is_empty() || self.write(storage, RegistryEvent::Add { at: now, brands }).await? {
                return Ok(additions);
            }
        }
        Err(RegistryError::Contended)
    }

    /// Removes a brand. Its slug stays reserved for its store.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`] if no brand has the slug. See [`RegistryError`].
    #[boxed]
    pub async fn remove(
        &mut self,
        storage: &Storage,
        slug: &BrandSlug,
        now: Timestamp,
    ) -> Result<RegisteredBrand, RegistryError> {
        for _ in 0..TRIES_MAX {
            let brand = self
                .brand(slug)
                .cloned()
                .ok_or_else(|| RegistryError::Unknown(slug.clone()))?;
            if self
                .write(
                    storage,
                    RegistryEvent::Remove {
                        at: now,
                        slugs: vec![slug.clone()],
                    },
                )
                .await?
            {
                return Ok(brand);
            }
        }
        Err(RegistryError::Contended)
    }

    /// Appends the event to the log and applies it. If another program wrote first, applies that program's event and
    /// returns `false`.
    pub(super) async fn write(&mut self, storage: &Storage, event: RegistryEvent) -> Result<bool, RegistryError> {
        let seq = self.last_seq + 1;
        let written = log(storage)
            .append_at(seq, &event)
            .await
            .map_err(RegistryError::Write)?;
        if written {
            self.apply(seq, event);
        } else {
            self.catch_up(storage).await?;
        }
        Ok(written)
    }

    /// Reads the changes that other programs have made since the last load.
    ///
    /// # Errors
    /// [`RegistryError::Read`].
    #[boxed]
    pub async fn catch_up(&mut self, storage: &Storage) -> Result<(), RegistryError> {
        let events = log(storage).read_all_from(self.last_seq + 1).await;
        for (seq, event) in events.map_err(RegistryError::Read)? {
            match event {
                Some(event) => self.apply(seq, event),
                None => self.lose(seq),
            }
        }
        Ok(())
    }

    fn plan(&self, brands: &[NewBrand], now: Timestamp) -> Result<Vec<Addition>, RegistryError> {
        // Brands of one batch can conflict with each other, and with brands registered before.
        let mut planned = self.clone();
        let mut additions = Vec::with_capacity(brands.len());
        let mut names = DisplayNames::registered(self);
        let mut by_address: BTreeMap<String, StoreHost> = self
            .live
            .values()
            .map(|brand| (address_of(&brand.base_url), brand.store.clone()))
            .collect();
        for new in brands {
            let addition = planned.plan_one(new, now, &by_address, &names)?;
            let brand = addition.brand().clone();
            names.register(&brand);
            by_address.insert(address_of(&brand.base_url), brand.store.clone());
            planned.apply(
                self.last_seq,
                RegistryEvent::Add {
                    at: now,
                    brands: vec![brand],
                },
            );
            additions.push(addition);
        }
        Ok(additions)
    }

    fn plan_one(
        &self,
        new: &NewBrand,
        now: Timestamp,
        by_address: &BTreeMap<String, StoreHost>,
        names: &DisplayNames,
    ) -> Result<Addition, RegistryError> {
        let base_url = base_of(&new.base_url)?;
        let refuse = || RegistryError::Address(new.base_url.clone());
        let domain = domain_of(&base_url).ok_or_else(refuse)?;
        let known = by_address
            .get(&address_of(&base_url))
            .and_then(|store| self.live.get(store));
        let stated = new.identity();
        if let Some(brand) = known
            && brand.identity().is_same(&stated) == Some(false)
        {
            return Ok(Addition::AnotherStore(brand.clone()));
        }
        let holder = self.holder(&stated, new.moved);
        let known = known.or(holder.filter(|_| new.moved));
        let store = match (known, &new.store) {
            // The key of a registered brand never changes, even if its store later states another host.
            (Some(brand), _) => brand.store.clone(),
            (None, Some(store)) => store.clone(),
            (None, None) => domain.parse().map_err(|_| refuse())?,
        };
        if let Some(holder) = holder.or_else(|| self.live.get(&store))
            && known.is_none_or(|brand| brand.store != holder.store)
        {
            return Ok(Addition::Taken(holder.clone()));
        }
        let before = self.slug_of(&store);
        let (name, name_pinned) = name_of(new, known, &domain);
        let slug = match before {
            Some(slug) => slug.clone(),
            None if let Some(path) = self.lost().next() => return Err(RegistryError::Lost { path }),
            None => give_slug(name, &domain, |slug| self.slugs.contains_key(slug))
                .ok_or_else(|| RegistryError::NoSlug(name.to_owned()))?,
        };
        let mut brand = RegisteredBrand {
            host: known.and_then(|brand| host_of(&store, brand, new.store.clone())),
            shop_id: known.and_then(|brand| brand.shop_id).or(new.shop_id),
            store,
            slug,
            name: name.to_owned(),
            name_pinned,
            currency: new.currency.or_else(|| known.and_then(|brand| brand.currency)),
            country: new
                .country
                .clone()
                .or_else(|| known.and_then(|brand| brand.country.clone())),
            added_at: known.map_or(now, |brand| brand.added_at),
            domain,
            base_url,
        };
        let shown = names.shown(&brand, &brand.name).into_owned();
        brand.name = shown;
        Ok(match known {
            Some(known) if *known == brand => Addition::Unchanged(brand),
            Some(_) => Addition::Updated(brand),
            None if before.is_some() => Addition::Restored(brand),
            None => Addition::Added(brand),
        })
    }
}

/// Returns the display name, and true if the operator set it.
fn name_of<'a>(new: &'a NewBrand, known: Option<&'a RegisteredBrand>, domain: &'a str) -> (&'a str, bool) {
    let named = |name: &&str| !name.is_empty();
    let name = new.name.as_deref().map(str::trim).filter(named);
    match (name, known) {
        (Some(name), Some(brand)) if !brand.name_pinned || new.name_pinned => (name, new.name_pinned),
        (_, Some(brand)) => (brand.name.as_str(), brand.name_pinned),
        (Some(name), None) => (name, new.name_pinned),
        (None, None) => (domain, false),
    }
}

pub(super) fn log(storage: &Storage) -> EventLog<RegistryEvent> {
    EventLog::new(storage, PREFIX).with_copies()
}

/// Returns the domain and path. A store has the same address with `http` and `https`.
fn address_of(base_url: &Url) -> String {
    format!(
        "{}{}",
        domain_of(base_url).unwrap_or_default(),
        base_url.path().trim_end_matches('/')
    )
}

/// Removes the query, fragment, credentials and trailing slash.
fn base_of(url: &Url) -> Result<Url, RegistryError> {
    let refuse = || RegistryError::Address(url.clone());
    domain_of(url).ok_or_else(refuse)?;
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    base.set_username("").map_err(|()| refuse())?;
    base.set_password(None).map_err(|()| refuse())?;
    let path = base.path().trim_end_matches('/').to_owned();
    base.set_path(&path);
    Ok(base)
}
