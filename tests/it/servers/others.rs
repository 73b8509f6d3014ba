//! Cyrus and pymap, where they are. Courier needs a mail transfer agent and a file monitor installed as services, which
//! tests do not do to a machine.

use std::process::{Child, Command, Stdio};

use crate::servers::row::{SESSIONS, Server, tell};
use crate::support::cyrus::{Cyrus, python_program};
use crate::support::dovecot::User;
use crate::support::wait::{self, secs};

impl Server for Cyrus {
    fn name(&self) -> &'static str {
        "Cyrus"
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn user(&self) -> User {
        self.user.clone()
    }

    fn renumber(&mut self) -> bool {
        false
    }

    fn restart(&mut self) -> Option<&'static str> {
        Cyrus::restart(self);
        Some("stop and start")
    }

    fn is_limited(&self) -> bool {
        true
    }
}

#[test]
fn cyrus() {
    match Cyrus::start(SESSIONS) {
        Ok(mut cyrus) => tell(&mut cyrus),
        Err(why) => eprintln!("| Cyrus    | not shown: {why} |"),
    }
}

struct Pymap {
    port: u16,
    child: Child,
}

impl Server for Pymap {
    fn name(&self) -> &'static str {
        "pymap"
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn user(&self) -> User {
        User { name: "demouser".to_owned(), password: "demopass".to_owned() }
    }

    fn renumber(&mut self) -> bool {
        false
    }

    fn restart(&mut self) -> Option<&'static str> {
        None
    }

    fn is_limited(&self) -> bool {
        false
    }
}

impl Drop for Pymap {
    fn drop(&mut self) {
        // It is ours, and gone either way.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn pymap() {
    let Some(program) = python_program("pymap") else {
        eprintln!("| pymap    | not shown: it is not there: `cargo xtask setup` brings it where Python's venv is |");
        return;
    };
    let port = wait::free_port();
    let args = [
        "--host",
        "127.0.0.1",
        "--port",
        &port.to_string(),
        "--no-tls",
        "--no-service",
        "admin",
        "dict",
        "--demo-data",
    ]
    .map(str::to_owned);
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("pymap runs");
    let mut pymap = Pymap { port, child };
    wait::until("pymap answers", secs(30), || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    tell(&mut pymap);
}
