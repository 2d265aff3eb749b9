use crate::cli::ConfigArgs;
use crate::config::{HIDDEN, Layers};
use crate::exit::{Outcome, usage};
use crate::output::Output;

/// Runs `haat config`, which shows every key with its value, source and meaning.
pub(crate) fn show(args: &ConfigArgs, layers: &Layers, output: Output) -> anyhow::Result<Outcome> {
    let settings = layers.settings().map_err(usage)?;
    let file = layers.file.as_ref().map(|path| path.display().to_string());
    let document = serde_json::json!({ "file": file, "settings": settings });
    output.print(&document, |out| {
        writeln!(
            out,
            "# file: {}",
            file.as_deref().unwrap_or("none (haat.toml is read if it exists)")
        )?;
        for setting in &settings {
            let from = match setting.from {
                crate::config::Layer::Default => String::new(),
                crate::config::Layer::File => "  # file".into(),
                crate::config::Layer::Environment => format!("  # {}", setting.variable),
                crate::config::Layer::Flag => "  # flag".into(),
            };
            if args.explain {
                writeln!(out, "\n# {}", setting.meaning)?;
            }
            // TOML has no null, and a hidden value must not look like a value.
            let unset = if setting.value.is_null() || setting.value == HIDDEN {
                "# "
            } else {
                ""
            };
            writeln!(out, "{unset}{} = {}{from}", setting.key, setting.value)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
