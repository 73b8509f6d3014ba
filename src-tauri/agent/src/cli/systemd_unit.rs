//! `ringonce systemd-unit`

use crate::cli::failure::Done;
use crate::cli::session::data_dir;
use crate::cli::{Global, out};

/// Prints a unit that runs this program, on this data folder, for this user.
pub(crate) fn run(global: &Global) -> Done {
    let program = std::env::current_exe()?;
    let folder = std::path::absolute(data_dir(global)?)?;
    let mut words = vec![quoted(&program.to_string_lossy()), "run".to_owned(), "--headless".to_owned()];
    words.extend(["--data-dir".to_owned(), quoted(&folder.to_string_lossy())]);
    if let Some(choice) = &global.secrets {
        words.extend(["--secrets".to_owned(), quoted(&choice.to_string())]);
    }
    out::line(&unit(&words.join(" ")))
}

fn unit(start: &str) -> String {
    format!(
        "# ringonce systemd-unit > ~/.config/systemd/user/ringonce.service
# systemctl --user enable --now ringonce.service
# loginctl enable-linger      (to have it run while you are not signed in; then keep secrets in a file)
[Unit]
Description=Ringonce: one mail, one ring
Documentation=man:systemd.unit(5)

[Service]
ExecStart={start}
Restart=on-failure
RestartSec=5
# Calls in hand are finished first: the longest takes 30 s.
TimeoutStopSec=60
UMask=0077

[Install]
WantedBy=default.target"
    )
}

/// As systemd reads words (systemd.syntax): specifiers begin with `%`, variables with `$`.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemd_would_read_otherwise_is_escaped() {
        assert_eq!(quoted(r#"/a b/100%/$x/"c"\d"#), r#""/a b/100%%/$$x/\"c\"\\d""#);
    }
}
