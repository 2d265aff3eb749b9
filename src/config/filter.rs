use tracing::level_filters::LevelFilter;

const LEVELS: &str = "error, warn, info, debug, trace, off";

/// Refuses a filter with a part that is neither a level nor `TARGET=LEVEL`. `tracing` takes a mistyped level for the
/// name of a target, and then nothing is logged.
///
/// # Errors
/// Names the invalid part and the known levels.
pub(crate) fn check_filter(key: &str, filter: &str) -> anyhow::Result<()> {
    // Conditions on spans contain commas of their own. `tracing` reports errors in them.
    if filter.contains(['[', '{']) {
        return Ok(());
    }
    for word in filter.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let level = word.rsplit_once('=').map_or(word, |(_, level)| level);
        anyhow::ensure!(
            level.parse::<LevelFilter>().is_ok(),
            "{key}: {level:?} is not a level; use one of {LEVELS}, alone or for a part of the program: storefront=debug"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_level_is_refused_wherever_it_stands_and_every_level_is_taken() {
        for fine in [
            "debug",
            "warn,haat=info,query_server=info",
            "OFF",
            "",
            "storefront[get{host=a,b}]=debug",
        ] {
            assert!(check_filter("log.filter", fine).is_ok(), "{fine}");
        }
        for (wrong, word) in [("debugg", "debugg"), ("warn,haat=inf", "inf"), ("haat", "haat")] {
            assert_eq!(
                check_filter("log.filter", wrong).unwrap_err().to_string(),
                format!(
                    "log.filter: {word:?} is not a level; use one of error, warn, info, debug, trace, off, alone or \
                     for a part of the program: storefront=debug"
                )
            );
        }
    }
}
