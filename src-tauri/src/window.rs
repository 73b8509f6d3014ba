//! The one window: its size, and the place in it that is shown.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tauri::{AppHandle, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, Window, WindowEvent};

use crate::asking;
use crate::bridge::Bridge;

/// Where WebKit keeps its cache, in the data folder: what the owner removes with it is all there is.
const CACHE: &str = "window";
/// The window is about to close.
static CLOSING: AtomicBool = AtomicBool::new(false);
/// Its label; the permissions name it.
const LABEL: &str = "main";

/// A page of the window, as `#/history/…`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place(Option<String>);

impl Place {
    /// Anything but the address of a page is no place: a link may come from a notification.
    pub(crate) fn parse(text: Option<&str>) -> Self {
        let fits = |text: &&str| text.starts_with("#/") && !text.chars().any(|c| c.is_control() || c.is_whitespace());
        Self(text.filter(fits).map(str::to_owned))
    }

    fn on(&self, page: &Url) -> Url {
        let mut url = page.clone();
        url.set_fragment(self.0.as_deref().map(|text| text.trim_start_matches('#')));
        url
    }
}

/// Opens it at a place.
pub(crate) fn open(app: &AppHandle, place: &Place, data_dir: &Path) -> tauri::Result<()> {
    let start = WebviewUrl::App(format!("index.html{}", place.0.as_deref().unwrap_or_default()).into());
    WebviewWindowBuilder::new(app, LABEL, start)
        .title("Ringonce")
        .inner_size(960.0, 640.0)
        .min_inner_size(480.0, 400.0)
        .zoom_hotkeys_enabled(true)
        .data_directory(data_dir.join(CACHE))
        // What is dropped on the window is nothing to be opened.
        .disable_drag_drop_handler()
        .on_navigation(is_own)
        .build()?;
    Ok(())
}

/// The first time it is closed, the owner is told that the watching goes on.
pub(crate) fn on_event(window: &Window, event: &WindowEvent) {
    let WindowEvent::CloseRequested { api, .. } = event else { return };
    api.prevent_close();
    // Pressed once more while that is being said.
    if CLOSING.swap(true, Ordering::Relaxed) {
        return;
    }
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        let bridge = window.state::<Bridge>();
        asking::closing(window.app_handle(), &bridge).await;
        bridge.leave().await;
        if let Err(error) = window.destroy() {
            say(&error);
        }
    });
}

/// Whether an address is a page of this program; everything else belongs into a browser.
fn is_own(url: &Url) -> bool {
    let built_in = url.scheme() == "tauri" || url.host_str() == Some("tauri.localhost");
    built_in || (cfg!(dev) && url.host_str() == Some("localhost") && url.port() == Some(1420))
}

/// Brings it to the front, at a place where one is asked for.
pub(crate) fn raise(app: &AppHandle, place: &Place) {
    let Some(window) = app.get_webview_window(LABEL) else { return };
    if place.0.is_some() {
        go(&window, place);
    }
    for done in [window.unminimize(), window.show(), window.set_focus()] {
        if let Err(error) = done {
            say(&error);
        }
    }
}

/// Only what stands behind the `#` changes, so the page stays loaded.
fn go(window: &WebviewWindow, place: &Place) {
    let done = window.url().and_then(|page| window.navigate(place.on(&page)));
    if let Err(error) = done {
        say(&error);
    }
}

/// Tells whoever started us from a terminal; the log is the resident program's.
#[allow(clippy::print_stderr, reason = "there is no window to say it in")]
pub(crate) fn say(error: &dyn std::fmt::Display) {
    eprintln!("{error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_places() {
        let check = |text: &str, url: &str| {
            let page = Url::parse("tauri://localhost/index.html#/status").unwrap();
            assert_eq!(Place::parse(Some(text)).on(&page).as_str(), url, "{text}");
        };
        check("#/history/ab12", "tauri://localhost/index.html#/history/ab12");
        for bad in ["", "https://example.org", "javascript:alert(1)", "#x", "#/a b", "#/a\nb"] {
            check(bad, "tauri://localhost/index.html");
        }
    }

    #[test]
    fn the_window_stays_on_its_own_pages() {
        let check = |url: &str, own: bool| assert_eq!(is_own(&Url::parse(url).unwrap()), own, "{url}");
        check("tauri://localhost/index.html#/status", true);
        check("https://example.org/", false);
        check("file:///etc/passwd", false);
        check("http://localhost:8080/", false);
    }
}
