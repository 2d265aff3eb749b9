use std::str::FromStr;

use api::{MembersReader, Rule};
use url::Url;

const BYTES_MAX: usize = 512;

/// Path on this site, with query and fragment, to which a user goes after signing in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalPath(String);

/// Error for a text that is no path on this site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotLocal;

impl LocalPath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(feature = "oidc")]
    pub(crate) fn dashboard() -> Self {
        Self("/dashboard/".to_owned())
    }

    /// Reads the path from an optional key of a JSON body.
    pub(crate) fn member(reader: &mut MembersReader<'_>, name: &'static str) -> Option<Self> {
        reader.optional(name).parsed(|text| {
            let wrong = Rule::Value("not a path of this site");
            text.parse::<Self>().map_err(|_| wrong)
        })
    }
}

impl FromStr for LocalPath {
    type Err = NotLocal;

    /// Accepts one slash followed by visible ASCII without backslashes. Browsers treat `//host` and `/\host` as other
    /// sites, and ignore tabs and line breaks.
    fn from_str(text: &str) -> Result<Self, NotLocal> {
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let local = text.starts_with('/') && !text.starts_with("//");
        if !plain || !local || text.len() > BYTES_MAX {
            return Err(NotLocal);
        }
        // The path is parsed as browsers do. A URL parser also detects unexpected forms of links to another site.
        let base = Url::parse("https://local.example").map_err(|_| NotLocal)?;
        let read = base.join(text).map_err(|_| NotLocal)?;
        let stays = read.origin() == base.origin() && !read.path().starts_with("//");
        stays.then(|| Self(text.to_owned())).ok_or(NotLocal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_site_are_gone_on_to() {
        for text in [
            "/",
            "/dashboard/",
            "/dashboard/#keys",
            "/?q=a%20b&x=//c",
            "/a/../dashboard/",
            "/@host",
        ] {
            assert_eq!(text.parse::<LocalPath>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "dashboard",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\/evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/..//evil.example",
            "/.//evil.example",
            "https://evil.example",
            "https:evil.example",
            "javascript:alert(1)",
            "/é",
            "/a b",
            " /dashboard/",
            &format!("/{}", "a".repeat(512)),
        ] {
            assert_eq!(text.parse::<LocalPath>(), Err(NotLocal), "{text:?}");
        }
    }
}
