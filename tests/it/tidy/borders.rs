//! Who may import whom, inside the engine and from outside.

use crate::tidy::rust_text::{code, is_word, without_tests};
use crate::tidy::sizes::is_test;

/// Modules of the engine, lowest first: each may import from its own line and from those before it.
const LAYERS: [&[&str]; 8] = [
    &["model", "clock", "limits", "crash", "words"],
    &["mail", "identity", "decide"],
    &["secret", "net"],
    &["store", "source", "channel"],
    &["kernel", "payload", "notify", "self_message", "alarm", "intake", "outbox"],
    &["supervise", "engine"],
    &["api"],
    &["rpc"],
];

/// These stand on one line and do not know each other.
const STRANGERS: [&str; 3] = ["store", "source", "channel"];

const ENGINE: &str = "src-tauri/engine/src/";

/// Words of a library or of a kind of socket, and the places that may use them.
const LIBRARIES: &[(&[&str], &[&str])] = &[
    (&["rusqlite"], &["src-tauri/engine/src/store/"]),
    (&["async_imap", "imap_proto"], &["src-tauri/engine/src/source/imap/"]),
    (&["mail_parser"], &["src-tauri/engine/src/mail/"]),
    (
        &["keyring", "keyring_core", "secret_service", "zbus_secret_service_keyring_store"],
        &["src-tauri/engine/src/secret/"],
    ),
    (&["notify_rust"], &["src-tauri/engine/src/channel/desktop"]),
    (&["zbus"], &["src-tauri/engine/src/channel/desktop", "src-tauri/agent/src/tray/"]),
    (&["tokio_rustls", "rustls", "rustls_native_certs"], &["src-tauri/engine/src/net/"]),
    (
        &["TcpStream", "TcpListener", "TcpSocket", "UdpSocket", "ToSocketAddrs", "lookup_host"],
        &["src-tauri/engine/src/net/"],
    ),
    (&["UnixStream", "UnixListener", "UnixSocket"], &["src-tauri/engine/src/net/", "src-tauri/engine/src/rpc/"]),
    (&["tauri"], &["src-tauri/src/", "src-tauri/build.rs"]),
];

/// Imports of one file of the engine that go down the list, or to a module that is not on it.
pub(crate) fn check_layers(path: &str, text: &str) -> Vec<String> {
    let Some(inside) = path.strip_prefix(ENGINE).filter(|inside| *inside != "lib.rs" && !is_test(path)) else {
        return Vec::new();
    };
    let own = inside.split(['/', '.']).next().unwrap_or_default();
    let Some(own_layer) = layer(own) else {
        return vec![format!("the module `{own}` has no place in the list of layers (tidy/borders.rs)")];
    };
    let mut said = Vec::new();
    for imported in imported(&without_tests(&code(text))) {
        let stranger = own != imported && [own, imported.as_str()].iter().all(|name| STRANGERS.contains(name));
        match layer(&imported) {
            Some(layer) if layer > own_layer => {
                said.push(format!("`{own}` must not know `{imported}`, which stands above it"));
            }
            Some(_) if stranger => said.push(format!("`{own}` and `{imported}` do not know each other")),
            Some(_) => {}
            None => said.push(format!("`crate::{imported}` is no module of the list of layers")),
        }
    }
    said.dedup();
    said
}

/// Libraries that one file uses and must not. Tests of the engine may use what they like.
pub(crate) fn check_libraries(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("src-tauri/") || path.starts_with("src-tauri/xtask/") || is_test(path) {
        return Vec::new();
    }
    let code = without_tests(&code(text));
    let mut said = Vec::new();
    for (words, places) in LIBRARIES {
        if places.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        said.extend(
            words.iter().filter(|word| uses(&code, word)).map(|word| format!("`{word}` belongs to {places:?} alone")),
        );
    }
    said
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// First words after `crate::`, each of a group in braces too.
fn imported(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, start) in code.match_indices("crate::") {
        if code[..index].ends_with(is_word) {
            continue;
        }
        let rest = &code[index + start.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_words(group)),
            None => found.push(first_word(rest)),
        }
    }
    found
}

/// First words of the parts of `a::b, c::{d, e}}…`, up to the closing brace.
fn group_words(group: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (index, char) in group.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' | ',' if depth == 0 => {
                let word = first_word(group[start..index].trim_start());
                if !word.is_empty() {
                    found.push(word);
                }
                start = index + 1;
                if char == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|char| is_word(*char)).collect()
}

/// Whether `name` stands there as the start of a path, as an import or as a type: not as a part of another word, and
/// not as a module or field of our own.
fn uses(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(index, _)| {
        let (before, after) = (&code[..index], &code[index + name.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let is_type = name.starts_with(char::is_uppercase) || name == "lookup_host";
        let is_crate =
            after.starts_with("::") || before.trim_end().ends_with("use") || after.trim_start().starts_with("as ");
        let is_ours = before.ends_with('.') || before.ends_with("::") && !before.ends_with(" ::");
        whole && (is_type || is_crate && !is_ours)
    })
}

#[cfg(test)]
mod tests {
    use super::{check_layers, check_libraries};

    #[track_caller]
    fn layers(inside: &str, text: &str, expected: usize) {
        let said = check_layers(&format!("src-tauri/engine/src/{inside}"), text);
        assert_eq!(said.len(), expected, "{inside}: {text}: {said:?}");
    }

    #[test]
    fn imports_down_the_list_are_found() {
        layers("channel/ntfy.rs", "use crate::net::http;", 0);
        layers("channel/ntfy.rs", "use crate::store::Store;", 1);
        layers("store/open.rs", "use crate::{model::ids, intake};", 1);
        layers("store/open.rs", "use crate::{model::{ids, outbox}, clock};", 0);
        layers("decide/mod.rs", "fn f() { crate::store::open() }", 1);
        layers("decide/mod.rs", "/// See [`crate::store`].\nfn f() { g(\"crate::store\") }", 0);
        layers("decide/mod.rs", "#[cfg(test)]\nmod tests { use crate::store::Store; }", 0);
        layers("intake.rs", "use crate::store::Store;\nuse crate::decide;", 0);
        layers("model/ids.rs", "use crate::mail::Mail;", 1);
        layers("helpers.rs", "", 1);
        layers("api/mod.rs", "use crate::helpers::f;", 1);
        layers("lib.rs", "use crate::rpc;", 0);
        layers("api/mod.rs", "pub(crate) fn f() {}", 0);
    }

    #[track_caller]
    fn libraries(path: &str, text: &str, expected: usize) {
        let said = check_libraries(path, text);
        assert_eq!(said.len(), expected, "{path}: {text}: {said:?}");
    }

    #[test]
    fn libraries_out_of_place_are_found() {
        let (outbox, store) = ("src-tauri/engine/src/outbox/lane.rs", "src-tauri/engine/src/store/open.rs");
        libraries(outbox, "use rusqlite::Connection;", 1);
        libraries(outbox, "fn f(c: &rusqlite::Connection) {}", 1);
        libraries(store, "use rusqlite::Connection;", 0);
        libraries(outbox, "use std::net::TcpStream;", 1);
        libraries(outbox, "use std::net::IpAddr;", 0);
        libraries("src-tauri/engine/src/net/tcp.rs", "use tokio::net::TcpStream;", 0);
        libraries("src-tauri/engine/src/rpc/server.rs", "use tokio::net::UnixStream;", 0);
        libraries("src-tauri/agent/src/main.rs", "use tokio::net::UnixStream;", 1);
        libraries("src-tauri/engine/src/secret/mod.rs", "use keyring::Entry;", 0);
        libraries("src-tauri/engine/src/api/mod.rs", "use keyring;", 1);
        libraries(
            "src-tauri/agent/src/main.rs",
            "use ringonce_engine::secret::keyring::Keyring; mod keyring; x.keyring",
            0,
        );
        libraries(outbox, "// rusqlite::Connection\nlet x = \"rusqlite::\";", 0);
        libraries(outbox, "let my_rusqlite = rusqlite_like::f();", 0);
        libraries("src-tauri/engine/src/outbox/tests.rs", "use rusqlite::Connection;", 0);
        libraries("tests/it/main.rs", "use rusqlite::Connection;", 0);
    }
}
