//! What is pressed on a notification of this computer, and what is done then. One component hears all of them, whatever
//! became of the calls that showed them.

use std::process::Stdio;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::channel::desktop::Action;
use crate::channel::desktop::desk::{Listener, Pressed};
use crate::kernel::Kernel;
use crate::limits::DESKTOP_PRESSES_MAX;
use crate::model::ids::MessageKey;
use crate::model::link;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::table::message::MessageRow;
use crate::store::table::{mailbox, message};
use crate::supervise::Supervisor;
use crate::supervise::mark_read::mark_read;

/// An opener that works this long has found a program, and waits for its end.
const OPENER_WAIT: Duration = Duration::from_secs(10);

/// Hears what is pressed until `stop`.
pub async fn run(supervisor: Supervisor, stop: CancellationToken) {
    let mut listener = Listener::new(&supervisor.kernel.desk);
    let mut in_hand = FuturesUnordered::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            pressed = listener.next(), if in_hand.len() < DESKTOP_PRESSES_MAX => in_hand.push(act(&supervisor, pressed)),
            Some(()) = in_hand.next(), if !in_hand.is_empty() => {}
        }
    }
}

async fn act(supervisor: &Supervisor, pressed: Pressed) {
    let Pressed { message_key, action } = pressed;
    let done = match action {
        Action::Open => open(&supervisor.kernel, &message_key).await,
        Action::MarkRead => match mark_read(&supervisor.kernel, &supervisor.secrets, &message_key).await {
            Ok(()) => true,
            Err(fault) => {
                tracing::warn!("A mail could not be marked as read: {fault}");
                false
            }
        },
    };
    // Its history says what is known of it, and what failed.
    if !done && let Err(fault) = supervisor.live.windows().open(Some(history_of(&message_key))).await {
        tracing::info!("{fault}");
    }
}

/// Opens a mail by the link of its mailbox. `false`: there is none, or nothing opens it.
async fn open(kernel: &Kernel, key: &MessageKey) -> bool {
    match link_to(kernel, key).await {
        Ok(Some(link)) => open_link(&link).await,
        Ok(None) => false,
        Err(error) => {
            tracing::error!("The link to a mail could not be made: {error}");
            false
        }
    }
}

async fn link_to(kernel: &Kernel, key: &MessageKey) -> Result<Option<Url>, StoreError> {
    let key = key.clone();
    kernel
        .store
        .read(move |read| {
            let Some(mail) = message::get(read, &key)? else { return Ok(None) };
            link_of(read, &mail)
        })
        .await
}

/// What opens a mail, by the link of its mailbox.
pub(crate) fn link_of(read: Read<'_>, mail: &MessageRow) -> Result<Option<Url>, StoreError> {
    let Some(account_id) = &mail.account_id else { return Ok(None) };
    let Some(mailbox) = mailbox::get(read, account_id)? else { return Ok(None) };
    let template_and_id = mailbox.link_template.as_ref().zip(mail.facts.message_id.as_ref());
    Ok(template_and_id.and_then(|(template, id)| link::of_mail(template, id, &mailbox.email)))
}

/// Gives a link to the system: one argument, no shell.
async fn open_link(link: &Url) -> bool {
    for opener in open::commands(link.as_str()) {
        let name = opener.get_program().to_owned();
        match run_opener(opener).await {
            Ok(true) => return true,
            Ok(false) => tracing::debug!(?name, "It does not open the link to a mail"),
            Err(error) => tracing::debug!(?name, %error, "It cannot be run"),
        }
    }
    tracing::warn!(scheme = link.scheme(), "Nothing on this computer opens the link to a mail");
    false
}

async fn run_opener(opener: std::process::Command) -> std::io::Result<bool> {
    let mut command = Command::from(opener);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // What it starts outlives us.
    let mut child = command.process_group(0).spawn()?;
    match tokio::time::timeout(OPENER_WAIT, child.wait()).await {
        Ok(ended) => Ok(ended?.success()),
        Err(_) => Ok(true),
    }
}

/// Where the window shows the history of a mail.
fn history_of(key: &MessageKey) -> String {
    format!("#/history/{key}")
}
