//! What is behind the icon: a dark panel or a light one, as far as the desktop tells.
//!
//! The portal tells the owner's choice of colours. GNOME's panel is dark whatever that is; where nobody tells, it is
//! taken for dark, as most are.

use std::env;
use std::future::pending;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::watch;
use zbus::proxy::SignalStream;
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Connection, Proxy};

use crate::tray::icon::Ink;

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const SETTINGS: &str = "org.freedesktop.portal.Settings";
const APPEARANCE: &str = "org.freedesktop.appearance";
const SCHEME: &str = "color-scheme";
/// The value of `color-scheme` that asks for light colours.
const LIGHT: u32 = 2;
/// A portal that is just being started may take this long.
const ANSWER_WAIT: Duration = Duration::from_secs(20);

/// The panel.
pub(super) struct Panel {
    told: watch::Receiver<Ink>,
    /// Asks, and listens; runs while somebody waits for a change.
    listening: BoxFuture<'static, ()>,
}

impl Default for Panel {
    fn default() -> Self {
        let (tell, told) = watch::channel(Ink::Light);
        let listening = async move {
            if !is_gnome()
                && let Err(error) = listen(&tell).await
            {
                tracing::debug!(%error, "The desktop does not tell its colours");
            }
            pending::<()>().await;
        };
        Self { told, listening: listening.boxed() }
    }
}

impl Panel {
    /// The colour that can be seen on it.
    pub(super) fn ink(&self) -> Ink {
        *self.told.borrow()
    }

    /// It is another one.
    pub(super) async fn changed(&mut self) {
        tokio::select! {
            () = &mut self.listening => {}
            changed = self.told.changed() => if changed.is_err() {
                pending::<()>().await;
            },
        }
    }
}

async fn listen(tell: &watch::Sender<Ink>) -> zbus::Result<()> {
    let bus = Connection::session().await?;
    let portal = Proxy::new(&bus, PORTAL, PATH, SETTINGS).await?;
    let mut changes: SignalStream<'_> = portal.receive_signal("SettingChanged").await?;
    let asked = portal.call::<_, _, OwnedValue>("ReadOne", &(APPEARANCE, SCHEME));
    let said = tokio::time::timeout(ANSWER_WAIT, asked).await;
    set(tell, said.map_err(|_| zbus::Error::InvalidReply)??.downcast_ref::<u32>().ok());
    while let Some(change) = changes.next().await {
        if let Ok((APPEARANCE, SCHEME, Value::U32(scheme))) = change.body().deserialize::<(&str, &str, Value<'_>)>() {
            set(tell, Some(scheme));
        }
    }
    Ok(())
}

fn set(tell: &watch::Sender<Ink>, scheme: Option<u32>) {
    let ink = if scheme == Some(LIGHT) { Ink::Dark } else { Ink::Light };
    tell.send_if_modified(|known| std::mem::replace(known, ink) != ink);
}

fn is_gnome() -> bool {
    env::var("XDG_CURRENT_DESKTOP").is_ok_and(|names| names.split(':').any(|name| name == "GNOME"))
}
