//! Start at login: an entry of the desktop's autostart, as the setting `ui.start_at_login` says.
//!
//! Only the program with a tray does this. A data folder that was named on the command line is started at login only
//! where its owner asked for that: it may be one to try things on.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use ringonce_engine::kernel::Kernel;
use ringonce_engine::model::error::Fault;
use ringonce_engine::model::topic::Topic;
use ringonce_engine::store::table::setting;
use tokio::sync::broadcast::error::RecvError;

const SETTING: &str = "ui.start_at_login";
const FILE: &str = "autostart/ringonce.desktop";
/// What desktops write into an entry that their owner switched off there.
const OFF: [&str; 2] = ["Hidden=true", "X-GNOME-Autostart-enabled=false"];

/// The entry of one program.
pub(crate) struct Autostart {
    /// As it was when we started: after an upgrade, the file we run from has no name any more.
    program: PathBuf,
    /// A data folder that was named.
    data_dir: Option<PathBuf>,
}

impl Autostart {
    /// For the data folder that was named; for the platform's, without one.
    pub(crate) fn of(data_dir: Option<&PathBuf>) -> io::Result<Self> {
        let (image, mount) = (env::var_os("APPIMAGE"), env::var_os("APPDIR"));
        let program = program(env::current_exe()?, image.map(PathBuf::from), mount.map(PathBuf::from));
        Ok(Self { program, data_dir: data_dir.cloned() })
    }

    /// Keeps the entry as the setting says.
    pub(crate) async fn keep(&self, kernel: &Kernel) {
        let mut topics = kernel.topics.subscribe();
        loop {
            match self.wanted(kernel).await {
                Ok(Some(wanted)) => {
                    if let Err(error) = self.put(wanted) {
                        tracing::warn!(%error, "Starting at login cannot be set up");
                    }
                }
                Ok(None) => {}
                Err(fault) => tracing::warn!("Starting at login is left as it is: {fault}"),
            }
            loop {
                match topics.recv().await {
                    Ok(Topic::Settings) | Err(RecvError::Lagged(_)) => break,
                    Ok(_) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        }
    }

    /// `None`: leave it alone.
    async fn wanted(&self, kernel: &Kernel) -> Result<Option<bool>, Fault> {
        if self.data_dir.is_some() && !kernel.store.read(setting::list).await?.contains_key(SETTING) {
            return Ok(None);
        }
        Ok(Some(kernel.configuration().await?.settings.start_at_login))
    }

    fn put(&self, wanted: bool) -> io::Result<()> {
        let Some(path) = BaseDirs::new().map(|dirs| dirs.config_dir().join(FILE)) else { return Ok(()) };
        let present = fs::read_to_string(&path).unwrap_or_default();
        if !wanted {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let switched_off = present.lines().any(|line| OFF.contains(&line.trim()));
        let entry = entry(&self.program, self.data_dir.as_deref());
        if switched_off || present == entry {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, entry)
    }
}

/// What a login has to start: where we run from, or the AppImage that is mounted there for this one run.
fn program(us: PathBuf, image: Option<PathBuf>, mount: Option<PathBuf>) -> PathBuf {
    match (image, mount) {
        (Some(image), Some(mount)) if us.starts_with(&mount) => image,
        _ => us,
    }
}

/// `TryExec`: a program that was removed is not tried.
fn entry(program: &Path, data_dir: Option<&Path>) -> String {
    let tried = program.to_string_lossy().replace('\\', r"\\");
    let mut exec = quoted(program);
    if let Some(dir) = data_dir {
        exec = format!("{exec} --data-dir {}", quoted(dir));
    }
    format!(
        "[Desktop Entry]\nType=Application\nName=Ringonce\nComment=One mail, one ring\nIcon=ringonce\n\
         Exec={exec} --background\nTryExec={tried}\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
    )
}

/// As the Desktop Entry Specification asks for: in quotes, with what is special inside them escaped; the escaping of
/// texts in general comes on top of that, and `%` begins a field code.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for letter in path.to_string_lossy().chars() {
        match letter {
            '"' | '`' | '$' => text.extend(['\\', '\\', letter]),
            '\\' => text.push_str(r"\\\\"),
            '%' => text.push_str("%%"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_the_program_and_a_folder_of_ones_own() {
        let text = entry(Path::new("/opt/my mail/ringonce"), Some(Path::new("/data/100%")));
        let exec = text.lines().find_map(|line| line.strip_prefix("Exec=")).unwrap();
        assert_eq!(exec, "\"/opt/my mail/ringonce\" --data-dir \"/data/100%%\" --background");
        assert!(text.lines().any(|line| line == "TryExec=/opt/my mail/ringonce"), "{text}");
        assert_eq!(quoted(Path::new(r#"/a"b$c\d"#)), r#""/a\\"b\\$c\\\\d""#);
    }

    #[test]
    fn of_an_appimage_the_image_is_started() {
        let path = |text: &str| Some(PathBuf::from(text));
        let check = |us: &str, mount: Option<PathBuf>, started: &str| {
            let program = program(us.into(), path("/home/me/Mail.AppImage"), mount);
            assert_eq!(program, Path::new(started), "{us}");
        };
        check("/tmp/.mount_Mail/usr/bin/ringonce", path("/tmp/.mount_Mail"), "/home/me/Mail.AppImage");
        check("/usr/bin/ringonce", path("/tmp/.mount_Terminal"), "/usr/bin/ringonce");
        check("/usr/bin/ringonce", None, "/usr/bin/ringonce");
    }
}
