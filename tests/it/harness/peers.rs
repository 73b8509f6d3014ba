//! Each mode of the scripted peers does what it says, seen from a client's side.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::Answer;
use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::ntfy_peer::{self, Ntfy};
use crate::support::receiver::Receiver;
use crate::support::wait::secs;

/// What a client sees: a whole answer as text, or how the line ended.
fn ask(port: u16, method: &str, target: &str, headers: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_millis(700)))?;
    let head = format!("{method} {target} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes())?;
    answer(&mut BufReader::new(stream))
}

fn answer(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut text = Vec::new();
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        text.push(byte[0]);
        if text.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8_lossy(&text).into_owned();
    let length = head.split("Content-Length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    stream.read_exact(&mut body)?;
    Ok(head + &String::from_utf8_lossy(&body))
}

fn post(port: u16, key: &str) -> io::Result<String> {
    ask(port, "POST", "/hook", &format!("Idempotency-Key: \"{key}\"\r\n"), "{\"title\":\"Ding\"}")
}

/// Posts once under `mode` and says what the client saw, with how many deliveries the receiver counts.
#[track_caller]
fn check(mode: Mode, seen: &str, deliveries: usize) {
    let peer = HttpPeer::start(Receiver::new());
    peer.set(mode.clone());
    let got = match post(peer.port, "k1") {
        Ok(text) => text,
        Err(error) => error.kind().to_string(),
    };
    assert!(got.contains(seen), "{mode:?}: expected {seen}, got {got}");
    assert_eq!(peer.app().taken().len(), deliveries, "{mode:?}: deliveries");
    assert_eq!(peer.writes().len(), 1, "{mode:?}: every request is recorded");
}

#[test]
fn each_mode_does_what_it_says() {
    let (end, reset, silence) = ("unexpected end of file", "connection reset", "operation would block");
    check(Mode::Accept, "{\"id\":\"taken-1\"}", 1);
    check(Mode::AcceptNoId, "{\"status\":\"ok\"}", 1);
    check(Mode::AcceptBadJson, "{\"id\": ", 1);
    check(Mode::AcceptThenClose, end, 1);
    check(Mode::AcceptThenReset, reset, 1);
    check(Mode::AcceptThenHang, silence, 1);
    check(Mode::AcceptThenCut, end, 1);
    check(Mode::AcceptThenEnd, "taken-1", 1);
    check(Mode::AcceptAnswerAfter(Duration::from_millis(100)), "taken-1", 1);
    check(Mode::CloseThenAcceptAfter(secs(60)), end, 0);
    check(Mode::Close, end, 0);
    check(Mode::Reset, reset, 0);
    check(Mode::Hang, silence, 0);
    check(Mode::retry_after(429, 7), "429 Scripted\r\nRetry-After: 7", 0);
    for status in [401, 404, 500, 502, 503] {
        check(Mode::status(status), &format!("HTTP/1.1 {status} "), 0);
    }
    check(Mode::portal(), "Welcome to our network", 0);
}

#[test]
fn a_late_delivery_comes_after_the_line_is_closed() {
    let peer = HttpPeer::start(Receiver::new());
    peer.set(Mode::CloseThenAcceptAfter(Duration::from_millis(200)));
    let start = Instant::now();
    assert!(post(peer.port, "k1").is_err(), "the line is closed");
    assert!(peer.app().taken().is_empty(), "nothing is taken yet");
    let taken = peer.wait_taken(1, secs(10));
    assert!(taken[0].at - start >= Duration::from_millis(200), "taken later");
}

#[test]
fn a_script_is_followed_in_order() {
    let peer = HttpPeer::start(Receiver::new());
    peer.set(Mode::Accept);
    peer.next([Mode::status(503), Mode::Close]);
    assert!(post(peer.port, "k1").is_ok_and(|text| text.contains(" 503 ")), "first");
    assert!(post(peer.port, "k1").is_err(), "second");
    assert!(post(peer.port, "k1").is_ok_and(|text| text.contains(" 200 ")), "then as set");
    let recorded = peer.wait_writes(3, secs(1));
    assert_eq!(recorded[2].header("idempotency-key"), Some("\"k1\""), "headers are recorded");
    assert_eq!(recorded[2].json(), json!({"title": "Ding"}), "the body is recorded");
}

#[test]
fn a_deduplicating_receiver_delivers_a_key_once() {
    let peer = HttpPeer::start(Receiver::deduplicating());
    peer.next([Mode::AcceptThenClose]);
    assert!(post(peer.port, "k1").is_err(), "the answer is lost");
    assert!(post(peer.port, "k1").is_ok_and(|text| text.contains("taken-1")), "the repeat gets the first id");
    post(peer.port, "k2").expect("another key");
    let keys: Vec<_> = peer.app().taken().iter().map(|taken| taken.key.clone().unwrap()).collect();
    assert_eq!(keys, ["k1", "k2"], "one delivery for each key");
    peer.app().forget_keys();
    post(peer.port, "k1").expect("after the window");
    assert_eq!(peer.app().taken().len(), 3, "past its window a key is new");
}

#[test]
fn a_peer_that_is_down_refuses_and_comes_back_on_its_port() {
    let mut peer = HttpPeer::start(Receiver::new());
    peer.down();
    assert_eq!(post(peer.port, "k1").expect_err("down").kind(), io::ErrorKind::ConnectionRefused);
    peer.up();
    post(peer.port, "k1").expect("up again");
    peer.close_on_connect(true);
    assert!(post(peer.port, "k1").is_err(), "closed before a byte was read");
    assert_eq!(peer.writes().len(), 1, "and nothing recorded");
}

#[test]
fn a_line_carries_several_requests_until_the_peer_ends_it() {
    let peer = HttpPeer::start(Receiver::new());
    peer.next([Mode::Accept, Mode::AcceptThenEnd]);
    let stream = TcpStream::connect(("127.0.0.1", peer.port)).unwrap();
    let mut stream = BufReader::new(stream);
    for _ in 0..2 {
        stream
            .get_mut()
            .write_all(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
            .unwrap();
        answer(&mut stream).unwrap();
    }
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "ended after the second answer");
    let recorded = peer.writes();
    assert_eq!((recorded[0].connection, recorded[1].connection, peer.connections()), (1, 1, 1), "one line");
    assert_eq!(recorded[1].body, b"hi", "chunks are put together");
}

fn ntfy(set: impl FnOnce(&mut Ntfy)) -> HttpPeer<Ntfy> {
    let peer = HttpPeer::start(Ntfy::new());
    set(&mut peer.app());
    peer
}

fn publish(peer: &HttpPeer<Ntfy>, headers: &str, body: &Value) -> Value {
    let text = ask(peer.port, "POST", "/", headers, &body.to_string()).expect("an answer");
    serde_json::from_str(text.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON")
}

fn poll(peer: &HttpPeer<Ntfy>, since: &str) -> Vec<Value> {
    let text = ask(peer.port, "GET", &format!("/mail/json?poll=1&since={since}"), "", "").expect("an answer");
    let body = text.split("\r\n\r\n").nth(1).expect("a body");
    body.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
}

#[test]
fn ntfy_publishes_and_looks_up() {
    let peer = HttpPeer::start(Ntfy::new());
    let key = "a".repeat(64);
    let first = publish(&peer, "", &json!({"topic": "mail", "message": "one", "sequence_id": key}));
    assert_eq!((&first["sequence_id"], &first["event"]), (&json!(key), &json!("message")), "{first}");
    let second = publish(&peer, "", &json!({"topic": "mail", "message": "two", "sequence_id": key}));
    publish(&peer, "", &json!({"topic": "other", "message": "three"}));
    assert_ne!(first["id"], second["id"], "a repeat is a message of its own: ntfy drops nothing");
    assert_eq!(poll(&peer, "all"), [first.clone(), second.clone()], "of this topic");
    assert_eq!(poll(&peer, first["id"].as_str().unwrap()), [second], "after an id");
    assert_eq!(poll(&peer, "10m").len(), 2, "of the last minutes");
    assert_eq!(poll(&peer, &(first["time"].as_i64().unwrap() + 1000).to_string()).len(), 0, "from a second on");
    assert_eq!(publish(&peer, "", &json!({"topic": "no/topic"}))["code"], 40009);
    assert_eq!(publish(&peer, "", &json!({"topic": "mail", "sequence_id": "a b"}))["code"], 40049);
    assert_eq!(peer.wait_published(3, secs(1)).len(), 3, "what was refused rings nowhere");
}

#[test]
fn ntfy_can_be_old_forgetful_slow_or_locked() {
    let peer = ntfy(|server| server.without_sequences = true);
    let answer = publish(&peer, "", &json!({"topic": "mail", "sequence_id": "k"}));
    assert!(answer.get("sequence_id").is_none(), "an old server does not give it back");

    let peer = ntfy(|server| server.cache_off = true);
    publish(&peer, "", &json!({"topic": "mail"}));
    assert_eq!((poll(&peer, "all").len(), peer.app().published().len()), (0, 1), "told, but not to be looked up");

    let peer = ntfy(|server| server.cache_delay = Duration::from_millis(300));
    publish(&peer, "", &json!({"topic": "mail"}));
    assert_eq!(poll(&peer, "all").len(), 0, "not there yet");
    crate::support::wait::until("the row appears", secs(5), || poll(&peer, "all").len() == 1);

    let peer = ntfy(|server| server.token = Some("tk_right".to_owned()));
    assert_eq!(publish(&peer, "", &json!({"topic": "mail"}))["http"], 403, "nobody is not allowed");
    assert_eq!(publish(&peer, "Authorization: Bearer tk_wrong\r\n", &json!({"topic": "mail"}))["http"], 401);
    assert_eq!(publish(&peer, "Authorization: Bearer tk_right\r\n", &json!({"topic": "mail"}))["event"], "message");

    let peer = HttpPeer::start(Ntfy::new());
    peer.set_reads(ntfy_peer::refusal(401, 40101));
    peer.set(ntfy_peer::too_many(42908));
    assert_eq!(poll(&peer, "all")[0]["code"], 40101, "reads follow a script of their own");
    assert_eq!(publish(&peer, "", &json!({"topic": "mail"}))["code"], 42908);
    peer.set(Mode::AcceptThenClose);
    peer.set_reads(Mode::Accept);
    assert!(ask(peer.port, "POST", "/", "", "{\"topic\":\"mail\"}").is_err(), "the answer is lost");
    assert_eq!(poll(&peer, "all").len(), 1, "but a lookup finds it");
    peer.set(Mode::Answer(Answer::status(507)));
    assert!(ask(peer.port, "POST", "/", "", "{}").is_ok_and(|text| text.contains(" 507 ")));
}
