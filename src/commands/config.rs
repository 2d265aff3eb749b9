use crate::config::Layers;
use crate::exit::{Outcome, usage};
use crate::output::Output;

/// `haat config`: every key, its value, and who set it.
pub(crate) fn show(layers: &Layers, output: Output) -> anyhow::Result<Outcome> {
    let settings = layers.settings().map_err(usage)?;
    let file = layers.file.as_ref().map(|path| path.display().to_string());
    let document = serde_json::json!({ "file": file, "settings": settings });
    output.print(&document, |out| {
        writeln!(
            out,
            "file: {}",
            file.as_deref().unwrap_or("none (haat.toml is read where it exists)")
        )?;
        for setting in &settings {
            let from = match setting.from {
                crate::config::Layer::Default => String::new(),
                crate::config::Layer::File => "  # file".into(),
                crate::config::Layer::Environment => format!("  # {}", setting.variable),
                crate::config::Layer::Flag => "  # flag".into(),
            };
            writeln!(out, "{} = {}{from}", setting.key, setting.value)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}
