//! What the set-up finds out before anything is stored: a real Dovecot is looked at, signed in to, and listed.

use ringonce_engine::api::Api;
use ringonce_engine::model::error::Fault;
use ringonce_engine::secret::choice::Choice;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::dovecot::{Dovecot, User};
use crate::support::http_peer::HttpPeer;
use crate::support::mail::Mail;
use crate::support::receiver::Receiver;

/// The engine's methods on a data folder of its own, on which nothing runs.
struct House {
    folder: TempDir,
    runtime: Runtime,
    api: Api,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let runtime = Runtime::new().expect("a runtime");
        let secrets = Choice::File(folder.path().join("secrets.json"));
        let api = runtime.block_on(Api::open(folder.path(), Some(&secrets))).expect("it opens");
        Self { folder, runtime, api }
    }

    fn call(&self, method: &str, params: Value) -> Result<Value, Fault> {
        self.runtime.block_on(self.api.call(method, params))
    }

    #[track_caller]
    fn ok(&self, method: &str, params: Value) -> Value {
        self.call(method, params.clone()).unwrap_or_else(|fault| panic!("{method} {params}: {fault}"))
    }

    #[track_caller]
    fn refused(&self, method: &str, params: Value) -> Fault {
        self.call(method, params).expect_err("it is refused")
    }

    /// Everything in the data folder as one text.
    fn stored(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).expect("our folder");
        files.flat_map(|entry| std::fs::read(entry.expect("an entry").path()).unwrap_or_default()).collect()
    }
}

fn server(dovecot: &Dovecot, user: &User, tls: &str) -> Value {
    let port = if tls == "implicit" { dovecot.imaps_port } else { dovecot.imap_port };
    let host = if tls == "none" { "127.0.0.1" } else { "localhost" };
    let ca_file = if tls == "none" { String::new() } else { dovecot.ca_file().display().to_string() };
    json!({ "host": host, "port": port, "tls": tls, "username": user.name, "ca_file": ca_file })
}

fn email(user: &User) -> String {
    format!("{}@localhost", user.name)
}

#[test]
fn a_server_is_looked_at_without_signing_in() {
    let (house, dovecot) = (House::new(), Dovecot::start());
    let user = dovecot.fresh_user();
    for tls in ["implicit", "starttls", "none"] {
        let server = server(&dovecot, &user, tls);
        let found = house.ok("mailbox.probe", json!({ "email": email(&user), "server": server }));
        assert_eq!(found["server"]["tls"], tls);
        assert_eq!(found["idle"], true, "{tls}: Dovecot tells at once: {found}");
        assert_eq!(found["certificate_until"].is_string(), tls != "none", "{tls}: {found}");
        assert_eq!(found["pin"], Value::Null, "{tls}: its authority is trusted");
        assert!(found["millis"].as_u64().is_some_and(|millis| millis < 10_000), "{tls}: {found}");
    }
    assert!(!dovecot.log().contains(&user.name), "no name was sent: {}", dovecot.log());
}

#[test]
fn a_certificate_nobody_vouches_for_is_shown_to_be_pinned() {
    let (house, dovecot) = (House::new(), Dovecot::shared());
    let user = dovecot.fresh_user();
    let probe = |server: Value| house.call("mailbox.probe", json!({ "email": email(&user), "server": server }));
    for tls in ["implicit", "starttls"] {
        let mut server = server(dovecot, &user, tls);
        server["ca_file"] = json!("");
        let found = probe(server.clone()).expect("it answers");
        assert_eq!(found["pin"], json!(dovecot.certificate_sha256), "{tls}: as its owner knows it");
        let password = &user.password;
        let params = json!({ "email": email(&user), "server": server, "password": password });
        let fault = house.refused("mailbox.folders", params.clone());
        assert_eq!(fault.code.as_str(), "tls", "{tls}: no password goes to a stranger: {fault}");
        server["pin"] = found["pin"].clone();
        let found = probe(server.clone()).expect("it answers");
        assert_eq!(found["pin"], Value::Null, "{tls}: the owner trusts it now");
        let params = json!({ "email": email(&user), "server": server, "password": password });
        assert!(house.ok("mailbox.folders", params).is_array());
        server["pin"] = json!("ab".repeat(32));
        assert_eq!(probe(server).expect_err("another one").code.as_str(), "tls", "{tls}: a pin is kept to");
    }
}

#[test]
fn what_is_not_there_is_said_in_time() {
    let house = House::new();
    let closed = crate::support::wait::free_port();
    let server = json!({ "host": "127.0.0.1", "port": closed, "tls": "none", "allow_plaintext": true });
    let fault = house.refused("mailbox.probe", json!({ "email": "ada@example.com", "server": server }));
    assert_eq!(fault.code.as_str(), "unreachable", "{fault}");
    let fault = house.refused("mailbox.probe", json!({ "email": "not an address" }));
    assert_eq!(fault.code.as_str(), "invalid", "{fault}");
}

#[test]
fn folders_are_listed_with_what_they_are_for_and_how_much_is_in_them() {
    let (house, dovecot) = (House::new(), Dovecot::shared());
    let user = dovecot.fresh_user();
    for name in ["Work", "Work/Rechnungen & Belege", "Entwürfe", "Почта", "台北"] {
        dovecot.doveadm(&["mailbox", "create", "-u", &user.name, name]);
    }
    for number in 0..3 {
        dovecot.save(&user, "INBOX", &Mail::new(&format!("Mail {number}")).bytes());
    }
    dovecot.save(&user, "Почта", &Mail::new("Привет").bytes());
    let server = server(dovecot, &user, "implicit");
    let draft = json!({ "email": email(&user), "server": server, "password": user.password });
    let folders = house.ok("mailbox.folders", draft);
    let of = |label: &str| {
        let rows = folders.as_array().expect("rows");
        rows.iter().find(|row| row["label"] == label).unwrap_or_else(|| panic!("no {label} in {folders}")).clone()
    };
    assert_eq!(folders[0], json!({"name": "INBOX", "label": "INBOX", "special": "inbox", "messages": 3}), "first");
    assert_eq!(of("Sent")["special"], "sent");
    assert_eq!(of("Junk")["special"], "junk");
    assert_eq!((&of("Work")["special"], &of("Work")["messages"]), (&Value::Null, &json!(0)));
    assert_eq!(of("Work/Rechnungen & Belege")["name"], "Work/Rechnungen &- Belege");
    assert_eq!(of("Entwürfe")["name"], "Entw&APw-rfe");
    assert_eq!(of("Почта")["messages"], 1);
    assert_eq!(of("台北")["name"], "&U,BTFw-");

    // The name on the wire is what is stored, and a stored mailbox lists by its id.
    let chosen = json!([of("Почта")["name"], "INBOX"]);
    let added = json!({
        "email": email(&user), "server": server, "password": user.password, "folders": chosen, "test": true,
    });
    let id = house.ok("mailbox.add", added);
    assert_eq!(house.ok("mailbox.list", json!(null))[0]["folders"], chosen);
    assert_eq!(house.ok("mailbox.folders", id.clone()), folders, "the password that was stored is used");
    let nothing = json!({ "waiting": 0, "held": 0, "sources": 0, "rules": 0, "routes": [] });
    assert_eq!(house.ok("mailbox.removal", id), nothing);
}

#[test]
fn a_wrong_password_is_explained_and_never_kept() {
    let (house, dovecot) = (House::new(), Dovecot::shared());
    let user = dovecot.fresh_user();
    let server = server(dovecot, &user, "starttls");
    let wrong = "a-password-that-is-wrong";
    let params = |email: &str| json!({ "email": email, "server": server, "password": wrong });
    let fault = house.refused("mailbox.folders", params(&email(&user)));
    assert_eq!(fault.code.as_str(), "sign_in", "{fault}");
    assert!(!fault.to_string().contains(wrong), "{fault}");
    let fault = house.refused("mailbox.folders", params("ada@gmail.com"));
    assert!(fault.next_step.contains("https://myaccount.google.com/apppasswords"), "what Gmail wants: {fault}");
    let stored = house.stored();
    assert!(!stored.windows(wrong.len()).any(|part| part == wrong.as_bytes()), "it is nowhere on the disk");
    assert_eq!(house.ok("mailbox.list", json!(null)), json!([]));
}

#[test]
fn a_destination_is_tried_and_not_kept() {
    let (house, phone) = (House::new(), HttpPeer::start(Receiver::deduplicating()));
    let params = |url: &str| json!({ "kind": "webhook", "name": "phone", "fields": { "url": url } });
    let tried = house.ok("destination.try", params(&phone.url()));
    assert!(tried["millis"].as_u64().is_some(), "{tried}");
    assert_eq!(house.ok("destination.list", json!(null)), json!([]), "it is not kept");
    let closed = format!("http://127.0.0.1:{}/hook", crate::support::wait::free_port());
    let fault = house.refused("destination.try", params(&closed));
    assert_eq!(fault.code.as_str(), "test_failed", "{fault}");
    // Tried, it can be added without a second message; then only what differs is given.
    let mut add = params(&phone.url());
    add["test"] = json!(false);
    let id = house.ok("destination.add", add);
    let fault = house.refused("destination.try", params(&phone.url()));
    assert_eq!(fault.code.as_str(), "conflict", "two of one target are one too many: {fault}");
    house.ok("destination.try", json!({ "id": id["id"], "name": "phone" }));
    let fault = house.refused("destination.try", json!({ "id": id["id"], "name": "p", "fields": { "url": closed } }));
    assert_eq!(fault.code.as_str(), "test_failed", "{fault}");
    assert_eq!(house.ok("data.verify", json!(null))["ok"], true);
}

#[test]
fn a_report_says_how_it_is_and_names_nobody() {
    let (house, dovecot) = (House::new(), Dovecot::shared());
    let user = dovecot.fresh_user();
    let server = server(dovecot, &user, "implicit");
    let add = json!({ "email": email(&user), "server": server, "password": user.password, "test": true });
    house.ok("mailbox.add", add);
    let url = "http://secret.example.net:9/a-secret-topic";
    let add = json!({ "kind": "webhook", "name": "Grandma", "fields": { "url": url }, "test": false });
    house.ok("destination.add", add);
    let path = house.folder.path().join("report.txt");
    house.ok("data.report", json!({ "path": path }));
    let text = std::fs::read_to_string(&path).expect("the report");
    for known in ["TLS implicit, a file of authorities", "webhook", "mails", "of form"] {
        assert!(text.contains(known), "{known:?} is in it:\n{text}");
    }
    for name in [user.name.as_str(), user.password.as_str(), "localhost", "Grandma", "secret"] {
        assert!(!text.replace("secrets in file", "").contains(name), "{name:?} is not in it:\n{text}");
    }
    let fault = house.refused("data.report", json!({ "path": path }));
    assert_eq!(fault.code.as_str(), "conflict", "what is there stays: {fault}");
    house.ok("data.report", json!({ "path": path, "force": true }));
    assert_eq!(house.ok("app.about", json!(null))["data_dir"], json!(house.folder.path()));
}
