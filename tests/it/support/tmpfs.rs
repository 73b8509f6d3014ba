//! A small disk that can be full. Mounting takes root; the gate runs as root, elsewhere such a test says that it is
//! left out.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk of its own, unmounted when dropped.
pub struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    /// Mounts one. `None`, with a printed reason, for anybody but root.
    ///
    /// # Panics
    /// Root may not mount.
    #[must_use]
    pub fn mount(kib: u64) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("ringonce-disk-").tempdir().expect("a scratch folder");
        if fs::metadata(dir.path()).expect("our folder").uid() != 0 {
            eprintln!("Left out: only root can mount a small disk");
            return None;
        }
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k,mode=0700"), "tmpfs"])
            .arg(dir.path())
            .output()
            .expect("mount runs");
        assert!(mounted.status.success(), "No small disk: {}", String::from_utf8_lossy(&mounted.stderr));
        Some(Self { dir })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Fills it up to the last byte.
    pub fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.filler()).expect("room for a name");
        for piece in [65_536, 4096, 1] {
            let piece = vec![0; piece];
            loop {
                match file.write(&piece) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("Filling the disk: {error}"),
                }
            }
        }
    }

    /// Fills it up but for so many bytes.
    pub fn fill_but(&self, free: u64) {
        self.fill();
        let file = File::options().write(true).open(self.filler()).expect("the disk was filled");
        let bytes = file.metadata().expect("our file").len();
        file.set_len(bytes.saturating_sub(free)).expect("a file can always be made shorter");
    }

    /// Gives the room back.
    pub fn release(&self) {
        fs::remove_file(self.filler()).expect("the disk was filled");
    }

    fn filler(&self) -> PathBuf {
        self.dir.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process that still has a file open there keeps the disk until it ends; the folder is free at once.
        let unmounted = Command::new("umount").arg("--lazy").arg(self.dir.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} stays mounted", self.dir.path().display());
        }
    }
}
