use serde_json::Value;

/// Manifest of this server for registries of MCP servers, without the URL and the version.
const MANIFEST: &str = include_str!("../server.json");

/// Returns the manifest of the endpoint at `path` of the server at `public_url`.
pub(crate) fn manifest(public_url: &str, path: &str, version: &str) -> Value {
    // The file is part of the program, and a test parses it.
    let mut manifest: Value = serde_json::from_str(MANIFEST).unwrap_or_default();
    manifest["version"] = version.into();
    manifest["remotes"][0]["url"] = format!("{}{path}", public_url.trim_end_matches('/')).into();
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_server_that_is_asked() {
        let manifest = manifest("https://market.example/", "/v1/mcp", "1.2.3");
        assert_eq!(manifest["remotes"][0]["url"], "https://market.example/v1/mcp");
        assert_eq!(manifest["remotes"][0]["type"], "streamable-http");
        assert_eq!(manifest["version"], "1.2.3");
        let name = manifest["name"].as_str().unwrap();
        assert!(name.contains('/') && manifest["description"].as_str().unwrap().len() <= 100);
    }
}
