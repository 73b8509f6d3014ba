//! Where the secrets of a data folder are kept: chosen once, at first use, and kept with the folder.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::model::error::{Fault, FaultCode};
use crate::secret::SecretStore;
use crate::secret::file::FileSecrets;
use crate::secret::keyring::KeyringSecrets;

/// What the owner asks for with `--secrets`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The system's keyring.
    Keyring,
    /// A file of mode 0600; an absolute path.
    File(PathBuf),
}

impl Choice {
    /// From `keyring` or `file:PATH`; a relative path is taken from the working directory.
    ///
    /// # Errors
    /// `invalid` for anything else.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let refused = |cause: String| {
            Fault::new(FaultCode::Invalid, "Nothing was done", cause, "give --secrets keyring or --secrets file:PATH")
        };
        match text.strip_prefix("file:") {
            None if text == "keyring" => Ok(Self::Keyring),
            None => Err(refused(format!("{text:?} is no place for secrets"))),
            Some("") => Err(refused("the path of the secrets file is empty".to_owned())),
            Some(path) => std::path::absolute(path)
                .map(Self::File)
                .map_err(|error| refused(format!("the path {path:?} cannot be used ({error})"))),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("keyring"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// Where the secrets of one data folder are; its text is what the folder's settings keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// One item of the system's keyring.
    Keyring {
        /// Names the item; random, so that a folder may move and two folders never share one.
        vault: String,
    },
    /// A file of mode 0600.
    File(PathBuf),
}

impl Place {
    /// The place for a choice, made new.
    #[must_use]
    pub fn new(choice: &Choice) -> Self {
        match choice {
            Choice::Keyring => Self::Keyring { vault: uuid::Uuid::new_v4().simple().to_string() },
            Choice::File(path) => Self::File(path.clone()),
        }
    }

    /// The choice it came from.
    #[must_use]
    pub fn choice(&self) -> Choice {
        match self {
            Self::Keyring { .. } => Choice::Keyring,
            Self::File(path) => Choice::File(path.clone()),
        }
    }

    /// From what the settings keep; `None` where that is damaged.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("keyring", vault) if !vault.is_empty() => Some(Self::Keyring { vault: vault.to_owned() }),
            ("file", path) if !path.is_empty() => Some(Self::File(PathBuf::from(path))),
            _ => None,
        }
    }

    /// Opens it. A file is created where there is none; the keyring is not asked before a secret is needed.
    ///
    /// # Errors
    /// `secret`, where the file cannot be used.
    pub fn open(&self) -> Result<Arc<dyn SecretStore>, Fault> {
        Ok(match self {
            Self::Keyring { vault } => Arc::new(KeyringSecrets::new(vault.clone())),
            Self::File(path) => Arc::new(FileSecrets::open(path)?),
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring { vault } => write!(f, "keyring:{vault}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// The place in force, from what the folder keeps and what was asked for. `true`: it is not kept yet.
///
/// # Errors
/// `conflict` where another place was chosen before; `secret` where what is kept cannot be read.
pub fn effective(stored: Option<&str>, wanted: Option<&Choice>) -> Result<(Place, bool), Fault> {
    let Some(stored) = stored else {
        return Ok((Place::new(wanted.unwrap_or(&Choice::Keyring)), true));
    };
    let Some(place) = Place::parse(stored) else {
        return Err(Fault::new(
            FaultCode::Secret,
            "Secrets cannot be read or stored",
            "the data folder does not say where they are",
            "restore the data folder from its last copy",
        ));
    };
    match wanted {
        Some(wanted) if *wanted != place.choice() => Err(Fault::new(
            FaultCode::Conflict,
            "Nothing was done",
            format!("this data folder already keeps its secrets in {}", place.choice()),
            "leave --secrets out, or use another data folder with --data-dir",
        )),
        _ => Ok((place, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_choice_stands() {
        let keyring = Choice::Keyring;
        let file = Choice::File("/tmp/s".into());
        let (place, new) = effective(None, None).unwrap();
        assert!(new && place.choice() == keyring, "the keyring is the default: {place}");
        let (kept, new) = effective(Some(&place.to_string()), Some(&keyring)).unwrap();
        assert_eq!((kept, new), (place.clone(), false), "the same choice again finds the same item");
        let fault = effective(Some(&place.to_string()), Some(&file)).unwrap_err();
        assert!(fault.code == FaultCode::Conflict && fault.cause.ends_with("in keyring"), "{fault}");
        let (place, new) = effective(None, Some(&file)).unwrap();
        assert!(new && place.to_string() == "file:/tmp/s", "{place}");
        assert_eq!(effective(Some("file:/tmp/s"), None).unwrap(), (place, false), "without --secrets the kept one");
        assert_eq!(effective(Some("nonsense"), None).unwrap_err().code, FaultCode::Secret, "damaged");
    }

    #[test]
    fn a_choice_is_read_from_the_command_line() {
        assert_eq!(Choice::parse("keyring").unwrap(), Choice::Keyring);
        assert_eq!(Choice::parse("file:/a/b").unwrap(), Choice::File("/a/b".into()));
        let relative = Choice::parse("file:b").unwrap();
        assert!(matches!(&relative, Choice::File(path) if path.is_absolute()), "{relative}");
        for bad in ["", "file", "file:", "kwallet", "keyring:x"] {
            assert_eq!(Choice::parse(bad).unwrap_err().code, FaultCode::Invalid, "{bad:?}");
        }
    }
}
