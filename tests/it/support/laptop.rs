//! A laptop on a network of its own: a network namespace (Linux, root), joined to this computer by one cable. Inside
//! it lines can be cut off without either end being told.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::support::program::{self, Program};

/// The namespace, until it is dropped.
pub struct Laptop {
    name: String,
    net: u8,
    address: u8,
}

impl Laptop {
    /// A new one, or why there can be none.
    ///
    /// # Errors
    /// The words of what failed.
    pub fn new() -> Result<Self, String> {
        static COUNT: AtomicU8 = AtomicU8::new(0);
        if fs::metadata("/proc/self").map_or(0, |us| us.uid()) != 0 {
            return Err("only root may make a network namespace".to_owned());
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        // Two test runs at one time have networks of their own.
        let net = u8::try_from((pid + u32::from(count) * 41) % 250).expect("below 250");
        let laptop = Self { name: format!("rgo-{pid}-{count}"), net, address: 2 };
        let (far, near, own) = (format!("rh{pid}-{count}"), format!("rl{pid}-{count}"), laptop.server_address());
        run(&["ip", "netns", "add", &laptop.name])?;
        run(&["ip", "link", "add", &far, "type", "veth", "peer", "name", &near, "netns", &laptop.name])?;
        run(&["ip", "addr", "add", &format!("{own}/24"), "dev", &far])?;
        run(&["ip", "link", "set", &far, "up"])?;
        laptop.inside(&["ip", "link", "set", "lo", "up"])?;
        laptop.inside(&["ip", "link", "set", &near, "name", "wlan"])?;
        laptop.inside(&["iptables", "--version"])?;
        laptop.join()?;
        Ok(laptop)
    }

    /// Where this computer is reached from inside.
    #[must_use]
    pub fn server_address(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 213, self.net, 1)
    }

    /// From now on the program runs inside.
    pub fn take_in(&self, program: &mut Program) {
        let wrapper = program.scratch().join("inside");
        let script = format!("#!/bin/sh\nexec ip netns exec {} {} \"$@\"\n", self.name, program::binary().display());
        fs::write(&wrapper, script).expect("a file of our own");
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("our own file");
        program.use_binary(&wrapper);
    }

    /// Every line there is to a port carries nothing any more, and nobody is told; new ones do. How many there were.
    pub fn deaden_lines(&self, port: u16) -> usize {
        let filter = format!("dport = :{port}");
        let lines = self.inside(&["ss", "-Htn", "state", "established", &filter]).expect("ss runs");
        let own = |line: &str| Some(line.split_whitespace().nth(2)?.rsplit_once(':')?.1.to_owned());
        let ports: Vec<String> = lines.lines().filter_map(own).collect();
        for own in &ports {
            self.inside(&["iptables", "-A", "INPUT", "-p", "tcp", "--dport", own, "-j", "DROP"])
                .expect("iptables runs");
            self.inside(&["iptables", "-A", "OUTPUT", "-p", "tcp", "--sport", own, "-j", "DROP"])
                .expect("iptables runs");
        }
        ports.len()
    }

    /// Leaves the network: no address, no route.
    pub fn leave(&self) {
        self.inside(&["ip", "addr", "flush", "dev", "wlan"]).expect("the address goes");
    }

    /// Joins it again, under another address.
    pub fn join_as_another(&mut self) {
        self.address += 1;
        self.join().expect("it joins the network");
    }

    fn join(&self) -> Result<(), String> {
        let own = Ipv4Addr::new(10, 213, self.net, self.address);
        self.inside(&["ip", "addr", "add", &format!("{own}/24"), "dev", "wlan"])?;
        self.inside(&["ip", "link", "set", "wlan", "up"])?;
        self.inside(&["ip", "route", "add", "default", "via", &self.server_address().to_string()])?;
        Ok(())
    }

    fn inside(&self, words: &[&str]) -> Result<String, String> {
        run(&[&["ip", "netns", "exec", &self.name], words].concat())
    }
}

impl Drop for Laptop {
    fn drop(&mut self) {
        // What could not be made cannot be removed; the cable goes with its end.
        drop(run(&["ip", "netns", "del", &self.name]));
    }
}

fn run(words: &[&str]) -> Result<String, String> {
    let Output { status, stdout, stderr } = Command::new(words[0])
        .args(&words[1..])
        .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
        .output()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    if status.success() {
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    } else {
        Err(format!("{}: {}", words.join(" "), String::from_utf8_lossy(&stderr).trim()))
    }
}
