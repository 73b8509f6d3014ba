//! The real window, driven as an owner drives it: by what is on the screen.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use ringonce_tests::support::program::{Program, binary};
use ringonce_tests::support::screen::Screen;
use ringonce_tests::support::wait;
use serde_json::{Value, json};

/// After which what is awaited on the screen does not come. A machine under load is slow.
const LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// A window, with the driver that holds its strings.
pub(crate) struct Window {
    client: Client,
    driver: Child,
}

impl Window {
    /// Opens the app on the data folder of a program.
    pub(crate) async fn open(screen: &Screen, program: &Program) -> Self {
        let port = wait::free_port();
        let mut driver = Command::new("WebKitWebDriver");
        driver.args([format!("--port={port}"), "--host=127.0.0.1".to_owned()]);
        driver.env_clear().envs(program.environment()).envs(screen.environment());
        // Without it WebKit may not be driven.
        driver.env("TAURI_WEBVIEW_AUTOMATION", "true").env("TZ", "UTC");
        driver.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let driver = driver.spawn().expect("WebKitWebDriver starts: see `cargo xtask setup`");
        let app = binary().with_file_name("ringonce-app");
        let args = ["--data-dir".into(), program.data_dir().display().to_string()];
        let options = json!({"binary": app.display().to_string(), "args": args});
        let capabilities = Capabilities::from_iter([("webkitgtk:browserOptions".to_owned(), options)]);
        let until = Instant::now() + LIMIT;
        loop {
            let made = ClientBuilder::new(HttpConnector::new())
                .capabilities(capabilities.clone())
                .connect(&format!("http://127.0.0.1:{port}"))
                .await;
            match made {
                Ok(client) => return Self { client, driver },
                Err(error) if Instant::now() > until => panic!("No window: {error}"),
                Err(_) => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Closes it.
    pub(crate) async fn close(mut self) {
        drop(self.client.clone().close().await);
        drop(self.driver.kill());
        drop(self.driver.wait());
    }

    /// Everything that can be read in it.
    pub(crate) async fn text(&self) -> String {
        let Ok(body) = self.client.find(Locator::Css("body")).await else { return String::new() };
        body.text().await.unwrap_or_default()
    }

    /// Waits until this can be read somewhere in it.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let until = Instant::now() + LIMIT;
            loop {
                let shown = self.text().await;
                if shown.contains(text) {
                    return;
                }
                assert!(Instant::now() < until, "{caller}: {text:?} is awaited; the window shows:\n{shown}");
                tokio::time::sleep(POLL).await;
            }
        }
    }

    /// Waits until this cannot be read any more.
    pub(crate) async fn see_gone(&self, text: &str) {
        let until = Instant::now() + LIMIT;
        while self.text().await.contains(text) {
            assert!(Instant::now() < until, "{text:?} is still there:\n{}", self.text().await);
            tokio::time::sleep(POLL).await;
        }
    }

    /// Presses the button or link that is called so.
    pub(crate) async fn press(&self, name: &str) {
        let xpath = format!(
            "//*[self::button or self::a or @role='button' or @role='radio' or @role='switch']\
             [normalize-space(.)='{name}' or @aria-label='{name}']"
        );
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(found) = self.shown(Locator::XPath(&xpath)).await
                && found.is_enabled().await.unwrap_or(false)
                && found.click().await.is_ok()
            {
                return;
            }
            assert!(Instant::now() < until, "No {name:?} can be pressed; the window shows:\n{}", self.text().await);
            tokio::time::sleep(POLL).await;
        }
    }

    /// Types into the field that is labelled so, in place of what is in it.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let field = self.field(label).await;
        field.clear().await.expect("a field can be emptied");
        field.send_keys(text).await.expect("a field takes text");
    }

    /// The field that is labelled so.
    pub(crate) async fn field(&self, label: &str) -> Element {
        let xpath = format!(
            "//*[@id=//label[normalize-space(.)='{label}']/@for] | //label[normalize-space(.)='{label}']//input \
             | //input[@aria-label='{label}'] | //select[@aria-label='{label}']"
        );
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(found) = self.shown(Locator::XPath(&xpath)).await {
                return found;
            }
            assert!(Instant::now() < until, "No field {label:?}; the window shows:\n{}", self.text().await);
            tokio::time::sleep(POLL).await;
        }
    }

    async fn shown(&self, locator: Locator<'_>) -> Option<Element> {
        for element in self.client.find_all(locator).await.ok()? {
            if element.is_displayed().await.unwrap_or(false) {
                return Some(element);
            }
        }
        None
    }

    /// Goes to a page by its address.
    pub(crate) async fn go(&self, place: &str) {
        self.run(&format!("window.location.hash = {}", json!(place))).await;
    }

    /// Runs a script in the page.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// A picture of it.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a picture")
    }

    /// The driver's own handle, for what is not here.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The driver takes the app with it.
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}
