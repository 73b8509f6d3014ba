//! Addresses that belong into the owner's browser.

use ringonce_engine::model::error::{Fault, FaultCode};
use url::Url;

/// Opens a web address in the system's browser.
///
/// # Errors
/// `invalid` for anything but `https`; `unreachable`, where no browser starts.
pub(crate) fn open(text: &str) -> Result<(), Fault> {
    let url = check(text)?;
    // Started without a shell, and not waited for.
    open::that_detached(url.as_str()).map_err(|error| {
        Fault::new(
            FaultCode::Unreachable,
            "The page was not opened",
            format!("no browser could be started ({error})"),
            format!("open {url} yourself"),
        )
    })
}

fn check(text: &str) -> Result<Url, Fault> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.has_host());
    url.ok_or_else(|| {
        Fault::new(
            FaultCode::Invalid,
            "The page was not opened",
            "the address is not one of the web (https)",
            "please report this",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_opened() {
        assert_eq!(check("https://example.org/a?b#c").unwrap().as_str(), "https://example.org/a?b#c");
        for bad in ["", "http://example.org", "file:///etc/passwd", "javascript:alert(1)", "https:", "-x", "mailto:a@b"]
        {
            assert_eq!(check(bad).unwrap_err().code, FaultCode::Invalid, "{bad}");
        }
    }
}
