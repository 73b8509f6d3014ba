//! A problem report: one text that says how Ringonce is doing and holds nobody's name, address, mail or secret. The owner
//! reads it before anybody else does.

mod scrub;

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::api::about::about;
use crate::api::data::{ExportParams, Exported};
use crate::api::destination::{self, DestinationView};
use crate::api::mailbox::{self, MailboxView};
use crate::api::report::scrub::Scrubber;
use crate::api::view::{ErrorView, Nothing, time};
use crate::api::{Api, settings};
use crate::model::error::{Fault, FaultCode};
use crate::source::imap::providers::Provider;
use crate::store::figures;

/// The folder of the log in the data folder.
pub const LOG_FOLDER: &str = "logs";
/// Its newest file.
pub const LOG_FILE: &str = "ringonce.log";
/// This much of its end is looked at.
const LOG_BYTES_MAX: u64 = 64 * 1024;
/// Lines of it in a report.
const LOG_LINES_MAX: usize = 200;

/// Writes a problem report.
///
/// # Errors
/// `invalid` for a path that is not absolute, `conflict` for a file that is there, `storage`.
pub async fn report(api: &Api, params: ExportParams) -> Result<Exported, Fault> {
    let path = PathBuf::from(&params.path);
    if !path.is_absolute() {
        let cause = format!("{:?} is not an absolute path", params.path);
        return Err(Fault::new(FaultCode::Invalid, "Nothing was written", cause, "give one from / on"));
    }
    let text = text(api).await?;
    write(&path, &text, params.force).map_err(|error| {
        let (code, next_step) = match error.kind() {
            io::ErrorKind::AlreadyExists => (FaultCode::Conflict, "give another name, or --force to replace it"),
            _ => (FaultCode::Storage, "check the path and its folder"),
        };
        Fault::new(code, "Nothing was written", format!("{}: {error}", path.display()), next_step)
    })?;
    Ok(Exported { file: params.path, bytes: text.len() as u64 })
}

/// Private from its first octet, and whole or not at all.
fn write(path: &Path, text: &str, force: bool) -> io::Result<()> {
    let mut private = OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    if !force {
        return private.open(path)?.write_all(text.as_bytes());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", uuid::Uuid::new_v4().simple()));
    let beside = path.with_file_name(name);
    let written = private.open(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    let written = written.and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

async fn text(api: &Api) -> Result<String, Fault> {
    let about = about(api, Nothing {}).await?;
    let mailboxes = mailbox::list(api, Nothing {}).await?;
    let destinations = destination::list(api, Nothing {}).await?;
    let scrubber = Scrubber::new(&names(&mailboxes, &destinations));
    let mut text = String::new();
    let place = about.secrets.split(':').next().unwrap_or_default();
    let _ = writeln!(text, "Ringonce problem report\n");
    let _ = writeln!(text, "made       {}", time(api.clock.now()));
    let _ = writeln!(text, "version    {}, data of form {}, secrets in {place}", about.version, about.schema);
    let _ = writeln!(text, "system     {}", system());
    let _ = writeln!(text, "running    {}", if api.live().is_some() { "yes" } else { "no" });
    section(&mut text, "Settings that are not the default");
    for one in settings::list(api, Nothing {}).await?.into_iter().filter(|one| one.value != one.default) {
        // Numbers and words of our own; anything else is the owner's.
        let plain = one.value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ',' | '_' | '-' | '.'));
        let _ = writeln!(text, "{} = {}", one.key, if plain { one.value.as_str() } else { "(a text)" });
    }
    section(&mut text, "Mailboxes");
    for (number, one) in (1..).zip(&mailboxes) {
        let _ = writeln!(text, "{number}. {}", of_mailbox(one, &scrubber));
    }
    section(&mut text, "Destinations");
    for (number, one) in (1..).zip(&destinations) {
        let _ = writeln!(text, "{number}. {}", of_destination(one, &scrubber));
    }
    section(&mut text, "Counts");
    for (what, count) in api.read(figures::census).await? {
        let _ = writeln!(text, "{count:>9}  {what}");
    }
    section(&mut text, "Last lines of the log");
    for line in log_lines(&api.readers.data_dir()) {
        let _ = writeln!(text, "{}", scrubber.scrub(&line));
    }
    Ok(text)
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}\n{}", "-".repeat(title.len()));
}

fn of_mailbox(one: &MailboxView, scrubber: &Scrubber) -> String {
    let status = &one.status;
    let provider = Provider::of(&status.email).map_or("another provider", |provider| provider.name);
    let trust = match (&one.ca_file, &one.pin) {
        (_, Some(_)) => ", a pinned certificate",
        (Some(_), None) => ", a file of authorities",
        (None, None) => "",
    };
    let server = match (&one.tls, one.port) {
        (Some(tls), Some(port)) => format!("{provider}, port {port}, TLS {tls}{trust}"),
        _ if status.demo => "the demo".to_owned(),
        _ => "not read".to_owned(),
    };
    let at = |time: &Option<String>| time.clone().unwrap_or_else(|| "never".to_owned());
    format!(
        "{} by {}; {server}; {} folders; last check {}, last mail {}{}",
        status.state,
        status.method,
        one.folders.len(),
        at(&status.last_check_at),
        at(&status.last_mail_at),
        trouble(status.error.as_ref(), scrubber)
    )
}

fn of_destination(one: &DestinationView, scrubber: &Scrubber) -> String {
    let status = &one.status;
    format!(
        "{} {}; {}, privacy {}{}; last delivery {}{}",
        status.kind,
        status.state,
        one.policy,
        one.privacy,
        if one.fallback_only { ", only a fallback" } else { "" },
        status.last_delivery_at.as_deref().unwrap_or("never"),
        trouble(status.error.as_ref(), scrubber)
    )
}

fn trouble(error: Option<&ErrorView>, scrubber: &Scrubber) -> String {
    error.map_or_else(String::new, |error| format!("\n   {}: {}", error.code, scrubber.scrub(&error.detail)))
}

/// Every name the owner gave, and every place.
fn names(mailboxes: &[MailboxView], destinations: &[DestinationView]) -> Vec<String> {
    let mut names = Vec::new();
    for one in mailboxes {
        names.extend([one.status.email.clone(), one.status.mailbox_id.clone()]);
        names.extend([&one.host, &one.username, &one.ca_file].into_iter().flatten().cloned());
        names.extend(one.folders.iter().filter(|folder| *folder != "INBOX").cloned());
    }
    for one in destinations {
        names.extend([one.status.name.clone(), one.recipient.clone()]);
        names.extend(one.fields.values().cloned());
    }
    names
}

fn system() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let named = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let named = named.map_or("Linux", |name| name.trim_matches('"'));
    let of_session = |name: &str| std::env::var(name).unwrap_or_else(|_| "none".to_owned());
    let (desktop, session) = (of_session("XDG_CURRENT_DESKTOP"), of_session("XDG_SESSION_TYPE"));
    format!("{named}, {}, desktop {desktop} on {session}", std::env::consts::ARCH)
}

fn log_lines(data_dir: &Path) -> Vec<String> {
    let end = || -> io::Result<Vec<u8>> {
        let mut file = File::open(data_dir.join(LOG_FOLDER).join(LOG_FILE))?;
        let from = file.metadata()?.len().saturating_sub(LOG_BYTES_MAX);
        file.seek(SeekFrom::Start(from))?;
        let mut end = Vec::new();
        file.take(LOG_BYTES_MAX).read_to_end(&mut end)?;
        Ok(end)
    };
    let end = end().unwrap_or_default();
    let text = String::from_utf8_lossy(&end);
    // The first line may have begun before.
    let whole = if end.len() as u64 == LOG_BYTES_MAX { 1 } else { 0 };
    let lines: Vec<String> = text.lines().skip(whole).map(str::to_owned).collect();
    lines.into_iter().rev().take(LOG_LINES_MAX).rev().collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_report_is_private_and_replaces_only_when_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.txt");
        write(&path, "one", false).unwrap();
        assert_eq!(write(&path, "two", false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one", "what is there stays");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "private");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(write(&folder.path().join("no/such"), "x", true).is_err());
    }

    #[test]
    fn only_the_end_of_the_log_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(log_lines(folder.path()).is_empty(), "no log is no error");
        fs::create_dir(folder.path().join(LOG_FOLDER)).unwrap();
        let long: String = (0..5000).map(|number| format!("line {number:05} of a log that went on\n")).collect();
        fs::write(folder.path().join(LOG_FOLDER).join(LOG_FILE), long).unwrap();
        let lines = log_lines(folder.path());
        assert_eq!(lines.len(), LOG_LINES_MAX);
        assert_eq!(lines.last().unwrap(), "line 04999 of a log that went on");
    }
}
