//! Dovecot.

use crate::servers::row::{SESSIONS, Server, tell};
use crate::support::dovecot::{Dovecot, Options, User};

struct Real {
    dovecot: Dovecot,
    user: User,
}

impl Server for Real {
    fn name(&self) -> &'static str {
        "Dovecot"
    }

    fn port(&self) -> u16 {
        self.dovecot.imap_port
    }

    fn user(&self) -> User {
        self.user.clone()
    }

    fn renumber(&mut self) -> bool {
        self.dovecot.set_uid_validity(&self.user, "INBOX", 4711);
        true
    }

    fn restart(&mut self) -> Option<&'static str> {
        self.dovecot.doveadm(&["reload"]);
        self.dovecot.kick(&self.user);
        Some("reload and kick")
    }

    fn is_limited(&self) -> bool {
        true
    }
}

#[test]
fn dovecot() {
    let extra = format!("mail_max_userip_connections = {SESSIONS}");
    let dovecot = Dovecot::start_with(&Options { extra, ..Options::default() });
    let user = dovecot.fresh_user();
    tell(&mut Real { dovecot, user });
}
