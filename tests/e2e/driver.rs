//! The real window, driven as an owner drives it: by what is on the screen.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use ringonce_tests::support::program::binary;
use ringonce_tests::support::wait;
use serde_json::{Value, json};

use crate::desk::Desk;

/// After which what is awaited on the screen does not come. A machine under load is slow.
const LIMIT: Duration = Duration::from_secs(60);
/// What can be pressed.
const BUTTONS: &str = "//*[self::button or self::a or self::summary or @role='button' or @role='radio']";
const POLL: Duration = Duration::from_millis(50);

/// A window, with the driver that holds its strings.
pub(crate) struct Window {
    client: Client,
    driver: Child,
}

impl Window {
    /// Opens the app; it starts the program where none runs.
    pub(crate) async fn open(desk: &Desk) -> Self {
        let program = &desk.program;
        let port = wait::free_port();
        let mut driver = Command::new("WebKitWebDriver");
        driver.args([format!("--port={port}"), "--host=127.0.0.1".to_owned()]);
        driver.env_clear().envs(program.environment());
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
            let mut builder = ClientBuilder::new(HttpConnector::new());
            let address = format!("http://127.0.0.1:{port}");
            let connect = builder.capabilities(capabilities.clone()).connect(&address);
            match tokio::time::timeout(LIMIT, connect).await {
                Ok(Ok(client)) => return Self { client, driver },
                Ok(Err(_)) if Instant::now() < until => tokio::time::sleep(POLL).await,
                failed => panic!("No window: {:?}", failed.map(|failed| failed.map(|_| ()))),
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
        // The driver's own leaves out what is cut off at the end of a line.
        let text = self.client.execute("return document.body.innerText", Vec::new()).await;
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
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

    /// Waits until the window has closed by itself.
    pub(crate) async fn wait_gone(&self) {
        let until = Instant::now() + LIMIT;
        while self.client.title().await.is_ok() {
            assert!(Instant::now() < until, "the window is still there");
            tokio::time::sleep(POLL).await;
        }
    }

    /// Presses the button or link that is called so.
    #[track_caller]
    pub(crate) fn press(&self, name: &str) -> impl Future<Output = ()> {
        let called = format!("[normalize-space(.)='{name}' or @aria-label='{name}']");
        self.press_at(format!("{BUTTONS}{called}"))
    }

    /// Presses the button or link that says so among other things.
    #[track_caller]
    pub(crate) fn press_part(&self, text: &str) -> impl Future<Output = ()> {
        self.press_at(format!("{BUTTONS}[contains(normalize-space(.), '{text}')]"))
    }

    /// Presses the row of a list that says so.
    #[track_caller]
    pub(crate) fn press_row(&self, text: &str) -> impl Future<Output = ()> {
        self.press_at(format!("//*[@role='option' or @role='listitem'][contains(normalize-space(.), '{text}')]"))
    }

    #[track_caller]
    fn press_at(&self, xpath: String) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let until = Instant::now() + LIMIT;
            loop {
                if let Some(found) = self.shown(Locator::XPath(&xpath)).await
                    && found.is_enabled().await.unwrap_or(false)
                    && found.click().await.is_ok()
                {
                    return;
                }
                let shown = self.text().await;
                assert!(
                    Instant::now() < until,
                    "{caller}: nothing can be pressed at {xpath}; the window shows:\n{shown}"
                );
                tokio::time::sleep(POLL).await;
            }
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
        // Words such as "optional" may follow the label's own.
        let label = format!("label[starts-with(normalize-space(.), '{label}')]");
        let xpath = format!("//*[@id=//{label}/@for] | //{label}//input");
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
