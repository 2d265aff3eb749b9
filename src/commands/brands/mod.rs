mod add;
mod list;
mod token;

use anyhow::Context as _;
use data_model::{BrandSlug, CurrencyCode};
use data_storage::Storage;
use pipeline_crawl::Registry;
use serde_json::json;

use self::add::{AddRequest, add};
pub(crate) use self::add::{Address, Registration, register};
use crate::cli::BrandsCommand;
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

pub(crate) async fn run(command: BrandsCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        BrandsCommand::Add {
            stores,
            from,
            currency,
            moved,
            storefront_token,
            dry_run,
        } => {
            let currency: Option<CurrencyCode> = currency
                .map(|code| code.parse())
                .transpose()
                .context("--currency")
                .map_err(usage)?;
            let how = Registration {
                currency,
                moved,
                dry_run,
            };
            let asked = AddRequest {
                stores: &stores,
                from: from.as_deref(),
                token: storefront_token.map(token::read).transpose().map_err(usage)?,
                how,
            };
            add(&context, asked).await
        }
        BrandsCommand::List => list::run(&context, &context.storage()?).await,
        BrandsCommand::Remove { slug, dry_run } => remove(&context, &context.storage()?, &slug, dry_run).await,
    }
}

async fn remove(context: &Context, storage: &Storage, slug: &str, dry_run: bool) -> anyhow::Result<Outcome> {
    let slug: BrandSlug = slug.parse().context("slug").map_err(usage)?;
    let registry = Registry::load(storage).await?;
    // An unregistered brand may still be in the lake after an interrupted removal or a crawl that was running.
    let store = registry
        .store_of(&slug)
        .with_context(|| format!("no brand was ever registered with the slug {slug}"))
        .map_err(usage)?
        .clone();
    let registered = registry.brand(&slug).map(|brand| brand.base_url.to_string());
    let lake = context.lake_in(storage).await?;
    let in_lake = lake
        .snapshot()
        .await?
        .brands()
        .await?
        .into_iter()
        .find(|row| row.brand.store == store);
    // The files are counted before the removal, because an interrupted removal may have left nothing else.
    let files = pipeline_refresh::files_of(storage, &store).await?.len();
    let products = in_lake.as_ref().map_or(0, |row| row.product_count);
    if !dry_run {
        pipeline_refresh::remove_brand(&slug, storage, &lake, context.clock.now()).await?;
    }
    if registered.is_none() && in_lake.is_none() && files == 0 {
        return Err(usage(anyhow::anyhow!("{slug} is already removed")));
    }
    let document = json!({
        "dry_run": dry_run,
        "slug": slug,
        "store": store,
        "products": products,
        "files": files,
        "removed": !dry_run,
    });
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be removed" } else { "removed" };
        let (products, files) = (counted(products, "product"), counted(files, "file"));
        write!(out, "{slug}: {verb}, with {products} and {files} outside of the lake.")?;
        match &registered {
            Some(address) => writeln!(out, " To add it again, run `haat brands add {address}`."),
            None => writeln!(out, " It was no longer registered."),
        }
    })?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use data_storage::{ObjectPath, ObjectStoreExt, put_over};
    use pipeline_crawl::NewBrand;

    use super::*;
    use crate::cli::Cli;
    use crate::config::Layers;
    use crate::output::Output;

    #[tokio::test]
    async fn a_removal_that_broke_off_is_done_when_it_is_repeated_and_only_then_there_is_nothing_to_remove() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().to_str().unwrap();
        let cli = Cli::try_parse_from(["haat", "--home", home, "brands", "list"]).unwrap();
        let config = Layers::read(&cli.global).unwrap().merge().unwrap();
        let context = Context::new(config, Output { json: true }, true, false);
        let storage = context.storage_new().unwrap();
        let mut registry = Registry::load(&storage).await.unwrap();
        let brand = NewBrand::at("https://tea.example".parse().unwrap());
        registry.add(&storage, &[brand], context.clock.now()).await.unwrap();
        let brand = registry.brands()[0].clone();
        let (slug, store) = (brand.slug.as_str(), &brand.store);
        remove(&context, &storage, slug, false).await.unwrap();
        // Each entry has the files that remain if a removal is killed before one of its steps.
        for left in [
            format!("crawl-state/{store}.json"),
            format!("held/{store}.json"),
            format!("crawl-state/{store}-reviews.json.zst"),
            format!("crawl-state/{store}-categories.json.zst"),
            format!("crawl-state/{store}-variants.json.zst"),
            format!("crawl-state/{store}-widget.json.zst"),
            format!("crawl-state/{store}-shipping.json"),
            format!("codes/{store}.json"),
            format!("discounts/{store}.json"),
            format!("policies/{store}/00001763894400000000.json.zst"),
            format!("reviews/{store}/00001763894400000000.jsonl.zst"),
            format!("crawl-state/{store}-hold.json"),
        ] {
            let path = ObjectPath::from(left.as_str());
            put_over(&storage, &path, "{}").await.unwrap();
            let tried = remove(&context, &storage, slug, true).await.unwrap();
            assert!(matches!(tried, Outcome::Done), "{left}");
            assert!(storage.store().head(&path).await.is_ok(), "a dry run takes {left}");
            let done = remove(&context, &storage, slug, false).await.unwrap();
            assert!(matches!(done, Outcome::Done), "{left}");
            assert!(storage.store().head(&path).await.is_err(), "{left} is still there");
            let again = remove(&context, &storage, slug, false).await.unwrap_err();
            assert!(again.to_string().contains("already removed"), "{again}");
        }
        let never = remove(&context, &storage, "coffee", false).await.unwrap_err();
        assert!(never.to_string().contains("ever registered"), "{never}");
    }
}
