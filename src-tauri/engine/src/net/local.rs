//! The local socket: one file that only its owner may use. Both sides check whom they talk to.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::net::{UnixListener, UnixStream};

/// Longest path a socket may have on every system (`sun_path`, with its closing NUL).
const PATH_BYTES_MAX: usize = 103;

/// Where the socket of a data folder stands: in `runtime_dir` (`$XDG_RUNTIME_DIR`) under a name made from the folder's
/// canonical path, else in the folder itself.
#[must_use]
pub fn socket_path(data_dir: &Path, runtime_dir: Option<&Path>) -> PathBuf {
    match runtime_dir.filter(|dir| dir.is_absolute() && dir.is_dir()) {
        Some(dir) => {
            let hash = Sha256::digest(data_dir.as_os_str().as_bytes());
            let name: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            dir.join(format!("ringonce-{name}.sock"))
        }
        None => data_dir.join("socket"),
    }
}

/// Waits for clients. The file goes when this is dropped.
pub struct Listener {
    inner: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens at the path, with mode 0600. Whatever stands there is removed first: only whoever holds the lock of
    /// the data folder may call this, for then what stands there is left over from a program that ended badly.
    ///
    /// # Errors
    /// Where the path is too long for a socket, or its folder does not take it.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_bytes().len();
        if bytes > PATH_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("the path {} has {bytes} bytes, a socket's has at most {PATH_BYTES_MAX}", path.display()),
            ));
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let inner = UnixListener::bind(path)?;
        let listener = Self { inner, path: path.to_owned() };
        // Until here another user could connect; `accept` checks who it is.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// The next client of the same user; others are turned away.
    ///
    /// # Errors
    /// As of the system's `accept`; the caller may go on after a pause.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.inner.accept().await?;
            match same_user(&stream) {
                Ok(()) => return Ok(stream),
                Err(error) => tracing::warn!(%error, "A client of the local socket was turned away"),
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "The local socket was gone already");
        }
    }
}

/// Connects to the socket at the path.
///
/// # Errors
/// Where nobody listens, or somebody else does.
pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    same_user(&stream)?;
    Ok(stream)
}

fn same_user(stream: &UnixStream) -> io::Result<()> {
    let (peer, own) = (stream.peer_cred()?.uid(), rustix::process::geteuid().as_raw());
    if peer == own {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the other side is user {peer}, we are user {own}"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_path_depends_on_the_folder_and_stays_short() {
        let runtime = tempfile::tempdir().unwrap();
        let path = socket_path(Path::new("/home/a/.local/share/ringonce"), Some(runtime.path()));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(path.parent(), Some(runtime.path()));
        // printf '%s' /home/a/.local/share/ringonce | sha256sum
        assert_eq!(name, "ringonce-d6997b5a.sock");
        assert_ne!(path, socket_path(Path::new("/home/b"), Some(runtime.path())), "another folder, another socket");
        for dir in [None, Some(Path::new("relative")), Some(Path::new("/no/such/folder"))] {
            assert_eq!(socket_path(Path::new("/data"), dir), Path::new("/data/socket"), "{dir:?}");
        }
    }

    #[tokio::test]
    async fn a_stale_file_is_replaced_and_ours_goes_with_us() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        std::fs::write(&path, "left over").unwrap();
        let listener = Listener::bind(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "mode of the socket");
        let (client, server) = tokio::join!(connect(&path), listener.accept());
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
        drop(listener);
        assert!(!path.exists(), "the file is gone");
        assert_eq!(connect(&path).await.unwrap_err().kind(), io::ErrorKind::NotFound);
        let long = folder.path().join("x".repeat(PATH_BYTES_MAX));
        assert_eq!(Listener::bind(&long).err().map(|error| error.kind()), Some(io::ErrorKind::InvalidInput));
    }
}
