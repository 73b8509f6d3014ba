//! Every page of the real window is looked through by axe-core for what shuts people out.

use ringonce_tests::support::http_peer::{HttpPeer, Mode};
use ringonce_tests::support::mail::Mail;
use ringonce_tests::support::receiver::Receiver;
use serde_json::Value;

use crate::desk::Desk;
use crate::driver::Window;

/// Pages, with a text that stands there once everything is drawn.
const PAGES: [(&str, &str); 9] = [
    ("#/status", "Check now"),
    ("#/history", "Not delivered at all"),
    ("#/duplicates", "Seen twice"),
    ("#/attention", "Not delivered at all"),
    ("#/mailboxes", "owner@localhost"),
    ("#/destinations", "Phone"),
    ("#/rules", "Everything"),
    ("#/general", "Start at login"),
    ("#/setup/mailbox", "One mail, one ring."),
];

const SCAN: &str = "const [done] = [arguments[arguments.length - 1]];
    axe.run(document, { resultTypes: ['violations'] }).then(
        (found) => done(found.violations
            .filter((one) => ['serious', 'critical'].includes(one.impact))
            .map((one) => `${one.id}: ${one.help} (${one.nodes.map((node) => node.html).slice(0, 3).join(' · ')})`)),
        (error) => done([String(error)]),
    );";

#[tokio::test]
async fn no_page_has_a_serious_finding() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../ui/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(source).expect("axe-core is there: run `npm ci` in ui/");
    let receiver = HttpPeer::start(Receiver::new());
    receiver.set(Mode::status(400));
    let desk = Desk::new();
    let mailbox = desk.program.add_unread_mailbox();
    desk.program.add_webhook("Phone", &receiver, &[]);
    let window = Window::open(&desk).await;
    for (subject, times) in [("Not delivered at all", 1), ("Seen twice", 2)] {
        let mail = Mail::new(subject).bytes();
        for _ in 0..times {
            desk.program.ingest(&mailbox, &[], &mail);
        }
    }
    for theme in ["light", "dark"] {
        desk.program.set(&[("ui.theme", theme)]);
        for (place, text) in PAGES {
            window.go(place).await;
            window.see(text).await;
            window.run(&axe).await;
            let found = window.client().execute_async(SCAN, Vec::new()).await.expect("axe runs");
            assert_eq!(found, Value::Array(Vec::new()), "{place}, {theme}");
        }
    }
    window.close().await;
}
