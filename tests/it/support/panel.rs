//! A desktop's panel: shows tray icons (StatusNotifierWatcher and host), reads what they say and clicks in their menus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Structure, Value};
use zbus::{Connection, Proxy, connection, interface};

use crate::support::wait::{self, secs};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const ITEM: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";
/// An icon that does not answer by then hangs.
const CALL_LIMIT: Duration = Duration::from_secs(10);

/// One item of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    id: i32,
    /// Its words; empty for a line between items.
    pub label: String,
    /// It can be clicked.
    pub enabled: bool,
}

/// An item on the bus: its id, its properties, its children.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
type Pixmaps = Vec<(i32, i32, Vec<u8>)>;
type Registered = Arc<Mutex<Vec<String>>>;

/// A panel on a session bus; gone when dropped.
pub struct Panel {
    handle: Handle,
    bus: Option<Connection>,
    registered: Registered,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Watcher {
    registered: Registered,
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: String) {
        self.registered.lock().expect("nobody panics with it").push(service);
    }

    fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.registered.lock().expect("nobody panics with it").clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

impl Panel {
    /// Appears on the bus.
    #[must_use]
    pub fn start(address: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (handle, registered) = (runtime.handle().clone(), Registered::default());
        let (end, ended) = oneshot::channel::<()>();
        // It answers the bus whatever the test does meanwhile.
        let thread = std::thread::spawn(move || drop(runtime.block_on(ended)));
        let watcher = Watcher { registered: Arc::clone(&registered) };
        let bus = connection::Builder::address(address).and_then(|bus| bus.serve_at("/StatusNotifierWatcher", watcher));
        let bus = bus.and_then(|bus| bus.name(WATCHER)).expect("a bus");
        let bus = handle.block_on(async { tokio::time::timeout(CALL_LIMIT, bus.build()).await });
        let bus = bus.expect("the bus answers").expect("the place of the panel is free");
        Self { handle, bus: Some(bus), registered, end: Some(end), thread: Some(thread) }
    }

    /// The icon that registered itself last, once one did.
    #[track_caller]
    #[must_use]
    pub fn icon(&self) -> Icon<'_> {
        let service = wait::get("an icon registers itself", secs(20), || {
            self.registered.lock().expect("nobody panics with it").last().cloned()
        });
        Icon { panel: self, service }
    }

    /// How many icons ever registered themselves.
    #[must_use]
    pub fn icons(&self) -> usize {
        self.registered.lock().expect("nobody panics with it").len()
    }

    fn call<T>(&self, work: impl Future<Output = zbus::Result<T>>) -> zbus::Result<T> {
        let limited = async { tokio::time::timeout(CALL_LIMIT, work).await };
        self.handle.block_on(limited).unwrap_or(Err(zbus::Error::InvalidReply))
    }

    fn bus(&self) -> &Connection {
        self.bus.as_ref().expect("until it is dropped")
    }
}

impl Drop for Panel {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.take() {
            drop(self.call(bus.close()));
        }
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// A tray icon.
pub struct Icon<'a> {
    panel: &'a Panel,
    service: String,
}

impl Icon<'_> {
    fn property<T>(&self, name: &str) -> zbus::Result<T>
    where
        T: TryFrom<OwnedValue>,
        T::Error: Into<zbus::Error>,
    {
        self.panel.call(async {
            Proxy::new(self.panel.bus(), self.service.as_str(), "/StatusNotifierItem", ITEM)
                .await?
                .get_property(name)
                .await
        })
    }

    /// What it says when pointed at.
    #[must_use]
    pub fn tip(&self) -> String {
        let tip: Structure<'_> = self.property("ToolTip").expect("it has one");
        tip.fields().get(2).and_then(|title| title.downcast_ref::<String>().ok()).expect("a title")
    }

    /// Its words for how much it matters.
    #[must_use]
    pub fn status(&self) -> String {
        self.property("Status").expect("it has one")
    }

    /// Of its picture of that size how much each pixel is covered.
    #[must_use]
    pub fn coverage(&self, size: i32) -> Vec<u8> {
        let pixmaps: OwnedValue = self
            .panel
            .call(async {
                let item = Proxy::new(self.panel.bus(), self.service.as_str(), "/StatusNotifierItem", ITEM).await?;
                item.get_property::<OwnedValue>("IconPixmap").await
            })
            .expect("it has one");
        let pixmaps: Pixmaps = pixmaps.try_into().expect("pictures");
        let picture = pixmaps.into_iter().find(|(width, height, _)| (*width, *height) == (size, size));
        picture.expect("one of that size").2.chunks(4).map(|argb| argb[0]).collect()
    }

    /// A click with the left button.
    pub fn activate(&self) {
        let work = async {
            let item = Proxy::new(self.panel.bus(), self.service.as_str(), "/StatusNotifierItem", ITEM).await?;
            item.call_method("Activate", &(0_i32, 0_i32)).await.map(drop)
        };
        self.panel.call(work).expect("it answers");
    }

    /// Its menu, submenus after their item.
    #[must_use]
    pub fn menu(&self) -> Vec<Entry> {
        let work = async {
            let menu = self.menu_proxy().await?;
            let answer = menu.call_method("GetLayout", &(0_i32, -1_i32, Vec::<String>::new())).await?;
            let (_, (_, _, children)): (u32, Layout) = answer.body().deserialize()?;
            Ok(children)
        };
        let mut entries = Vec::new();
        for child in self.panel.call(work).expect("it has a menu") {
            flatten(&child, &mut entries);
        }
        entries
    }

    /// The words of the menu, lines between items left out.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.menu().into_iter().map(|entry| entry.label).filter(|label| !label.is_empty()).collect()
    }

    /// The item with these words.
    #[track_caller]
    #[must_use]
    pub fn entry(&self, label: &str) -> Entry {
        let menu = self.menu();
        let found = menu.iter().find(|entry| entry.label == label).cloned();
        found.unwrap_or_else(|| panic!("No item {label:?} in {menu:?}"))
    }

    /// Clicks on the item with these words; the click is answered.
    #[track_caller]
    pub fn click(&self, label: &str) {
        let id = self.entry(label).id;
        let work = async {
            let menu = self.menu_proxy().await?;
            menu.call_method("Event", &(id, "clicked", Value::I32(0), 0_u32)).await.map(drop)
        };
        self.panel.call(work).expect("the click is answered");
    }

    async fn menu_proxy(&self) -> zbus::Result<Proxy<'_>> {
        let item = Proxy::new(self.panel.bus(), self.service.as_str(), "/StatusNotifierItem", ITEM).await?;
        let path: OwnedObjectPath = item.get_property("Menu").await?;
        let path: ObjectPath<'static> = path.into_inner();
        Proxy::new(self.panel.bus(), self.service.clone(), path, MENU).await
    }
}

/// An item of a menu on the bus: its id, its properties, its children.
fn flatten(item: &Value<'_>, entries: &mut Vec<Entry>) {
    let item = item.downcast_ref::<Structure<'_>>().expect("an item is a structure");
    let [id, properties, children] = item.fields() else { panic!("of three parts: {item:?}") };
    let properties: HashMap<String, OwnedValue> = properties.try_clone().expect("a copy").try_into().expect("named");
    let label = properties.get("label").and_then(|label| label.downcast_ref::<String>().ok()).unwrap_or_default();
    let enabled = properties.get("enabled").is_none_or(|value| value.downcast_ref::<bool>() != Ok(false));
    entries.push(Entry { id: id.downcast_ref().expect("a number"), label, enabled });
    let children: Vec<Value<'_>> = children.try_clone().expect("a copy").try_into().expect("a list");
    children.iter().for_each(|child| flatten(child, entries));
}
