//! Interpretation of `home` and of other paths in the configuration.

use std::path::PathBuf;

use url::Url;

/// Parses the home as a URL of a supported kind. Returns `None` for a path.
pub(crate) fn url_of(home: &str) -> Option<Url> {
    let url = Url::parse(home).ok()?;
    matches!(url.scheme(), "file" | "s3").then_some(url)
}

/// Returns the folder that `home` names, or `None` if it is not local.
pub(crate) fn folder_of(home: &str) -> Option<PathBuf> {
    match url_of(home) {
        Some(url) => url.to_file_path().ok().filter(|_| url.scheme() == "file"),
        None => Some(PathBuf::from(home)).filter(|_| !home.contains("://")),
    }
}

/// Replaces `~` in a configured path by the user's home directory, as a shell does.
///
/// # Errors
/// Fails if the path begins with `~name`, which only a shell can replace, or if the user has no home directory.
pub(crate) fn expanded(key: &str, path: &str) -> anyhow::Result<String> {
    let Some(rest) = path.strip_prefix('~') else {
        return Ok(path.to_owned());
    };
    anyhow::ensure!(
        rest.is_empty() || rest.starts_with('/'),
        "{key} {path:?}: `~` is only supported alone or as ~/… (write ./{path} for a folder with that name)"
    );
    let own = std::env::home_dir().filter(|own| !own.as_os_str().is_empty());
    let own = own.ok_or_else(|| {
        anyhow::anyhow!("{key} {path:?}: this user has no home folder; set the environment variable HOME")
    })?;
    Ok(format!("{}{rest}", own.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_users_own_folder_and_that_of_another_user_is_refused() {
        let own = std::env::home_dir().unwrap().display().to_string();
        assert_eq!(expanded("home", "~").unwrap(), own);
        assert_eq!(expanded("home", "~/market").unwrap(), format!("{own}/market"));
        for same in ["s3://bucket/~", "./~", "market", ""] {
            assert_eq!(expanded("home", same).unwrap(), same);
        }
        assert_eq!(
            expanded("home", "~bob/market").unwrap_err().to_string(),
            "home \"~bob/market\": `~` is only supported alone or as ~/… (write ./~bob/market for a folder with that \
             name)"
        );
    }
}
