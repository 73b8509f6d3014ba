//! What the window's pages call, over a data folder on which nothing runs.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::Api;
use crate::clock::Clock;
use crate::kernel::Kernel;
use crate::model::error::{Fault, FaultCode};
use crate::secret::kept::KeptSecrets;
use crate::store::Store;

/// Noon of a day, UTC.
const NOW: i64 = 1_767_268_800_000;

struct Bench {
    api: Api,
    mailbox: String,
    folder: tempfile::TempDir,
}

impl Bench {
    /// A mailbox, and two destinations called `phone` and `desk`.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel::new(Store::open(folder.path(), NOW).unwrap(), Clock::manual(NOW));
        let api = Api::new(kernel, Arc::new(KeptSecrets::in_memory()), None);
        let mailbox = json!({"email": "me@example.org", "server": {"no_imap": true}, "test": false});
        let added = api.call("mailbox.add", mailbox).await.unwrap();
        let bench = Self { api, mailbox: added["id"].as_str().unwrap().to_owned(), folder };
        for name in ["phone", "desk"] {
            let fields = json!({"url": format!("http://127.0.0.1:9/{name}")});
            let params = json!({"kind": "webhook", "name": name, "fields": fields, "test": false});
            bench.call("destination.add", params).await;
        }
        bench
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.api.call(method, params).await.unwrap_or_else(|fault| panic!("{method}: {fault}"))
    }

    async fn refused(&self, method: &str, params: Value) -> Fault {
        self.api.call(method, params).await.expect_err("must be refused")
    }

    /// A mail comes by a path; its key.
    async fn put(&self, path: &str, delivery: &str, from: &str, subject: &str) -> String {
        use base64::prelude::{BASE64_STANDARD, Engine as _};
        let mail = format!("Message-ID: <{subject}@example.org>\r\nFrom: {from}\r\nSubject: {subject}\r\n\r\nText\r\n");
        let mail = BASE64_STANDARD.encode(mail);
        let put = json!({"mailbox": self.mailbox, "path": path, "delivery_id": delivery, "mail": mail});
        self.call("ingest.put", put).await["message_key"].as_str().unwrap().to_owned()
    }

    async fn arrive(&self, subject: &str) -> String {
        self.put("imap", subject, "Ada <ada@example.org>", subject).await
    }

    /// A field of each row.
    async fn list(&self, method: &str, params: Value, field: &str) -> Vec<String> {
        let rows = self.call(method, params).await;
        rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap_or("null").to_owned()).collect()
    }
}

#[tokio::test]
async fn a_search_finds_what_came_just_now_and_what_was_decided_since() {
    let bench = Bench::new().await;
    bench.arrive("Invoice").await;
    let find = async |params: Value| bench.list("history.list", params, "subject").await;
    assert_eq!(find(json!({"text": "invo ada"})).await, ["Invoice"]);
    let quote = bench.arrive("Invoices and a quote").await;
    assert_eq!(find(json!({"text": "INVO"})).await, ["Invoices and a quote", "Invoice"], "committed since the last");
    assert_eq!(find(json!({"text": "invo", "limit": 1})).await, ["Invoices and a quote"]);
    assert_eq!(find(json!({"text": "invo", "limit": 1, "before": quote})).await, ["Invoice"]);
    assert_eq!(find(json!({"destination": "phone", "outcome": "sending", "text": "quote"})).await.len(), 1);
    assert_eq!(find(json!({"destination": "no such"})).await, [""; 0]);
    assert_eq!(find(json!({"mailbox": "me@example.org", "since": "2026-01-01T12:00:00Z"})).await.len(), 2);
    assert_eq!(find(json!({"until": "2026-01-01T12:00:00Z"})).await, [""; 0], "exclusive");
    let row = &bench.call("history.list", json!({"text": "quote"})).await[0];
    let key = row["notifications"][0]["dispatch_key"].clone();
    bench.call("notification.dismiss", json!({"id": key})).await;
    let to = json!({"destination": row["notifications"][0]["destination"], "outcome": "sending"});
    assert_eq!(find(to).await.len(), 2, "the other notification of the same mail is still to be sent");
    for (field, value) in [("outcome", "gone"), ("since", "yesterday")] {
        assert_eq!(bench.refused("history.list", json!({field: value})).await.code, FaultCode::Invalid, "{field}");
    }
    let looking = Api::look(bench.folder.path(), None).await.unwrap().unwrap();
    bench.arrive("A late quote").await;
    let rows = looking.call("history.list", json!({"text": "quote"})).await.unwrap();
    assert_eq!(rows[0]["subject"], "A late quote", "who may not write looks at what is not in the index");
    assert_eq!(rows.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_row_says_who_wrote_and_why_in_a_stable_word() {
    let bench = Bench::new().await;
    let said = async |key: &str| {
        let row = bench.call("explain.get", json!({"id": key})).await;
        (row["from_name"].clone(), row["reason_code"].clone(), row["rule_id"].clone())
    };
    let first = bench.arrive("First").await;
    assert_eq!(said(&first).await, (json!("Ada"), json!("everything_else"), Value::Null));
    let rule = json!({"conditions": ["subject is Second"], "silent": "not now"});
    let rule = bench.call("rule.add", rule).await["id"].clone();
    let second = bench.arrive("Second").await;
    assert_eq!(said(&second).await, (json!("Ada"), Value::Null, rule), "a rule's own reason has no word");
}

#[tokio::test]
async fn repeats_say_why_and_are_found_and_counted_by_that() {
    let bench = Bench::new().await;
    bench.arrive("Once").await;
    for (path, delivery) in [("imap", "1"), ("webhook", "2"), ("webhook", "2")] {
        bench.put(path, delivery, "Bob <bob@example.org>", "Thrice").await;
    }
    for delivery in ["3", "4"] {
        bench.put("imap", delivery, "Eve <eve@example.org>", "Twice").await;
    }
    let find = async |params: Value| bench.list("duplicates.list", params, "subject").await;
    assert_eq!(find(json!({})).await, ["Twice", "Thrice"]);
    assert_eq!(find(json!({"reason": "reconnect"})).await, ["Thrice"]);
    assert_eq!(find(json!({"reason": "push_and_idle", "text": "bob"})).await, ["Thrice"]);
    assert_eq!(find(json!({"reason": "push_and_idle", "text": "eve"})).await, [""; 0]);
    assert_eq!(find(json!({"reason": "same_id"})).await, ["Twice"]);
    assert_eq!(find(json!({"text": "once"})).await, [""; 0], "it came once");
    let row = &bench.call("duplicates.list", json!({"text": "thrice"})).await[0];
    assert_eq!((&row["from"], &row["from_name"]), (&json!("bob@example.org"), &json!("Bob")));
    assert_eq!((&row["row"]["decision"], &row["row"]["sightings"]), (&json!("notify"), &json!(3)));
    let codes: Vec<&Value> = row["suppressed"].as_array().unwrap().iter().map(|one| &one["reason_code"]).collect();
    assert_eq!(codes, ["push_and_idle", "reconnect"]);
    let summary = bench.call("duplicates.summary", json!({"days": 7})).await;
    assert_eq!(summary["reasons"], json!({"push_and_idle": 1, "reconnect": 1, "same_id": 1}));
    let days = summary["days"].as_array().unwrap();
    assert_eq!(days.len(), 7, "a day without anything is a day");
    assert_eq!((&days[6]["sightings"], &days[6]["duplicates"]), (&json!(6), &json!(3)), "today is the last");
    assert_eq!(days[0]["sightings"], 0);
    assert_eq!(bench.refused("duplicates.summary", json!({"days": 0})).await.code, FaultCode::Invalid);
    assert_eq!(bench.refused("duplicates.list", json!({"reason": "luck"})).await.code, FaultCode::Invalid);
    let nothing = Bench::new().await.call("duplicates.summary", json!({"days": 7})).await;
    assert_eq!(nothing, json!({"days": [], "reasons": {}}));
}

#[tokio::test]
async fn a_rule_is_changed_in_its_place_switched_off_and_tried_before_it_is_kept() {
    let bench = Bench::new().await;
    bench.arrive("Offer").await;
    let add = async |params: Value| bench.call("rule.add", params).await["id"].as_str().unwrap().to_owned();
    let first = add(json!({"conditions": ["subject is Offer"], "silent": "adverts"})).await;
    let second = add(json!({"conditions": [], "silent": "all"})).await;
    bench.call("rule.switch", json!({"id": second, "off": true})).await;
    let listed = bench.call("rule.list", json!({})).await;
    assert_eq!((&listed[0]["off"], &listed[1]["off"]), (&json!(false), &json!(true)));
    let decided = async |subject: &str| {
        let key = bench.arrive(subject).await;
        bench.call("explain.get", json!({"id": key})).await["reason"].clone()
    };
    assert_eq!(decided("News").await, "everything else", "a rule that is off is not asked");
    bench.call("rule.switch", json!({"id": second, "off": false})).await;
    assert_eq!(decided("More news").await, "all");

    let phone = bench.call("destination.list", json!({})).await[0]["id"].clone();
    let mut draft = json!({"id": first, "mailbox": "me@example.org", "conditions": ["subject starts Off"],
        "routes": [phone], "silent": null});
    let tried = bench.call("rule.try_draft", json!({"last": 50, "rules": [draft]})).await;
    let oldest = &tried[2];
    assert_eq!((&oldest["subject"], &oldest["decision"]), (&json!("Offer"), &json!("notify")), "{tried}");
    assert_eq!((&oldest["rule_id"], &oldest["from_name"]), (&json!(first), &json!("Ada")), "{tried}");
    assert_eq!((&oldest["at"], &tried[0]["rule_id"]), (&json!("2026-01-01T12:00:00.000Z"), &Value::Null), "{tried}");
    draft["routes"] = json!(["no such"]);
    let params = json!({"last": 50, "rules": [draft]});
    assert_eq!(bench.refused("rule.try_draft", params).await.code, FaultCode::NotFound);
    assert_eq!(bench.list("rule.list", json!({}), "silent").await, ["adverts", "all"], "trying changes nothing");

    draft["routes"] = json!([]);
    assert_eq!(bench.refused("rule.set", draft.clone()).await.code, FaultCode::Invalid, "it does not say what to do");
    draft["silent"] = json!("offers");
    bench.call("rule.switch", json!({"id": first, "off": true})).await;
    bench.call("rule.set", draft.clone()).await;
    let changed = bench.call("rule.list", json!({})).await;
    assert_eq!((&changed[0]["silent"], &changed[0]["mailbox"]), (&json!("offers"), &json!(bench.mailbox)));
    assert_eq!((&changed[0]["off"], &changed[1]["silent"]), (&json!(true), &json!("all")), "what is not given stays");
    draft["id"] = json!("no such");
    assert_eq!(bench.refused("rule.set", draft).await.code, FaultCode::NotFound);
    assert_eq!(bench.refused("rule.switch", json!({"id": "x", "off": true})).await.code, FaultCode::NotFound);
}

#[tokio::test]
async fn the_owner_rings_again_where_it_is_wanted_each_time_by_keys_of_its_own() {
    let bench = Bench::new().await;
    let key = bench.arrive("Ring me").await;
    let mut operations = Vec::new();
    for destinations in [json!(["desk"]), json!(["desk", "desk"]), json!(["phone", "desk"])] {
        let params = json!({"message_key": key, "destinations": destinations});
        operations.push(bench.call("notification.notify_to", params).await["operation_key"].clone());
    }
    operations
        .push(bench.call("notification.notify_again", json!({"message_key": key})).await["operation_key"].clone());
    let row = bench.call("explain.get", json!({"id": key})).await;
    let told: Vec<&Value> = row["notifications"].as_array().unwrap().iter().map(|one| &one["destination"]).collect();
    assert_eq!(told, ["phone", "desk", "desk", "desk", "phone", "desk", "phone", "desk"]);
    let mut keys: Vec<&str> =
        row["notifications"].as_array().unwrap().iter().map(|one| one["dispatch_key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 8, "no key stands for two");
    operations.push(row["operation_key"].clone());
    let mut distinct: Vec<&str> = operations.iter().map(|one| one.as_str().unwrap()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 5, "the row shows the first action");
    let nobody = json!({"message_key": key, "destinations": []});
    assert_eq!(bench.refused("notification.notify_to", nobody).await.code, FaultCode::Conflict);
    let unknown = json!({"message_key": key, "destinations": ["desk", "attic"]});
    assert_eq!(bench.refused("notification.notify_to", unknown).await.code, FaultCode::NotFound);
    let after = bench.call("explain.get", json!({"id": key})).await;
    assert_eq!(after["notifications"].as_array().unwrap().len(), 8, "what is refused does nothing");
    let status = bench.call("status.get", json!({})).await;
    let to_do = status["by_destination"].as_object().unwrap();
    assert_eq!(to_do.len(), 2);
    let pending: i64 = to_do.values().map(|one| one["pending"].as_i64().unwrap()).sum();
    assert_eq!((pending, status["pending"].as_i64().unwrap()), (8, 8));
    assert!(to_do.values().all(|one| one["retry_at"].is_null()), "due at once: nothing waits for a retry");
}

#[tokio::test]
async fn a_test_goes_to_everybody_or_to_one_and_never_waits_for_a_resume() {
    let bench = Bench::new().await;
    let told = async |params: Value| {
        let sent = bench.call("test.send", params).await;
        let row = bench.call("explain.get", json!({"id": sent["message_key"]})).await;
        assert_eq!((&row["mailbox_id"], &row["reason_code"]), (&json!("ringonce"), &json!("test")));
        let rows = row["notifications"].as_array().unwrap().clone();
        rows.iter().map(|one| one["destination"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(json!({})).await, ["phone", "desk"]);
    assert_eq!(told(json!({})).await, ["phone", "desk"], "each is a message of its own");
    assert_eq!(told(json!({"destination": "desk"})).await, ["desk"]);
    bench.call("destination.pause", json!({"id": "phone"})).await;
    assert_eq!(told(json!({})).await, ["desk"]);
    assert_eq!(bench.refused("test.send", json!({"destination": "phone"})).await.code, FaultCode::Conflict);
    assert_eq!(bench.refused("test.send", json!({"destination": "attic"})).await.code, FaultCode::NotFound);
    bench.call("destination.pause", json!({"id": "desk"})).await;
    assert_eq!(bench.refused("test.send", json!({})).await.code, FaultCode::Conflict, "nobody would be told");
    let status = bench.call("status.get", json!({})).await;
    assert_eq!(status["today"]["sightings"], 0, "our own are not counted");
}

#[tokio::test]
async fn fields_say_what_their_values_look_like() {
    let bench = Bench::new().await;
    let kinds = bench.call("destination.kinds", json!({})).await;
    let form = |kind: &str, key: &str| {
        let kind = kinds.as_array().unwrap().iter().find(|one| one["kind"] == kind).unwrap();
        kind["fields"].as_array().unwrap().iter().find(|one| one["key"] == key).unwrap()["form"].clone()
    };
    assert_eq!(form("webhook", "url"), json!({"kind": "url"}));
    assert_eq!(form("webhook", "receiver_deduplicates"), json!({"kind": "bool"}));
    assert_eq!(form("ntfy", "priority"), json!({"kind": "number", "min": 1, "max": 5}));
    assert_eq!(form("ntfy", "topic"), json!({"kind": "text"}));
}
