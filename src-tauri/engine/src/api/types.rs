//! The methods and views as TypeScript, for the window. Built only with the feature `types`; the text is committed as
//! `ui/src/lib/api/types.ts`, and a test compares.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use ts_rs::{Config, TS, TypeVisitor};

use crate::api::Api;
use crate::api::methods::{METHODS, Reach};
use crate::api::view::WireFault;
use crate::decide::reason;
use crate::model::destination::{Policy as P, Privacy as V};
use crate::model::error::{Fault, FaultCode as Code};
use crate::model::mailbox::{FolderRole as FolderRoleWord, Tls as T};
use crate::model::notification::Status;
use crate::model::outcome::Fate as F;
use crate::model::repeat::RepeatReason as R;
use crate::model::sighting::Verdict as D;
use crate::model::topic::Topic as Changed;
use crate::source::imap::providers::SignIn;
use crate::source::{HealthState as H, Method as M};
use crate::supervise::windows::TrayState as Tray;

const HEAD: &str = "/**
 * What the engine and the window say to each other. Generated from the engine's `api` by `cargo xtask types`; change
 * it there.
 */
";

/// A text that takes only some values, or has a name of its own in TypeScript.
macro_rules! texts {
    ($(#[doc = $doc:literal] $name:ident = $words:expr;)+) => {
        $(
            #[doc = $doc]
            pub struct $name;

            impl TS for $name {
                type WithoutGenerics = Self;
                type OptionInnerType = Self;

                fn name(_: &Config) -> String {
                    stringify!($name).to_owned()
                }

                fn inline(config: &Config) -> String {
                    Self::name(config)
                }

                fn decl(config: &Config) -> String {
                    format!("type {} = {};", Self::name(config), union(&$words))
                }

                fn docs() -> Option<String> {
                    Some(concat!("/**\n *", $doc, "\n */\n").to_owned())
                }

                fn output_path() -> Option<PathBuf> {
                    Some(PathBuf::new())
                }
            }
        )+
    };
}

texts! {
    /// RFC 3339, UTC, milliseconds.
    Time = [""; 0];
    /// What a change makes out of date.
    Topic = Changed::ALL.map(Changed::as_str);
    /// The kinds of fault a front end treats differently.
    FaultCode = Code::ALL.map(Code::as_str);
    /// How a mailbox or a source is doing; `stopped`: nothing runs.
    MailboxState = [
        H::Starting.as_str(),
        H::Watching.as_str(),
        H::Offline.as_str(),
        H::SignIn.as_str(),
        H::Failing.as_str(),
        H::Paused.as_str(),
        "stopped",
    ];
    /// Whether the owner sees a tray icon.
    TrayState = [Tray::Shown, Tray::NoHost, Tray::None].map(Tray::as_str);
    /// How a source hears of mail.
    WatchMethod = [M::Idle, M::Poll, M::Push, M::None].map(M::as_str);
    /// Protection of an IMAP connection.
    Tls = [T::Implicit, T::StartTls, T::None].map(T::as_str);
    /// What a folder is for.
    FolderRole = FolderRoleWord::ALL.map(FolderRoleWord::as_str);
    /// What lets a mail program in; `bridge`: what the provider's own program on this computer shows.
    SignInWay = SignIn::ALL.map(SignIn::as_str);
    /// How a destination is doing.
    DestinationState = ["ready", "failing", "paused", "sign_in"];
    /// What is worse: told twice, or not told.
    Policy = [P::NeverTwice, P::NeverLost].map(P::as_str);
    /// How much of a mail leaves this computer.
    Privacy = [V::Full, V::Sender, V::None].map(V::as_str);
    /// What can be done where an answer is lost.
    DeliveryClass = ["A", "B", "C"];
    /// What was decided.
    DecisionWord = ["notify", "silent", "hold"];
    /// What was decided when it came; empty: nothing.
    WasDecision = ["notify", "silent", "hold", ""];
    /// What a sighting was found to be.
    Verdict = [D::New, D::Repeat, D::Duplicate, D::Collision, D::Baseline, D::Old].map(D::as_str);
    /// What a suppressed sighting was found to be.
    SuppressedVerdict = [D::Repeat, D::Duplicate].map(D::as_str);
    /// Where a notification stands.
    NotificationStatus = Status::ALL.map(Status::as_str);
    /// A fixed reason.
    ReasonCode = reason::codes();
    /// What became of a mail.
    Fate = F::ALL.map(F::as_str);
    /// Why a report was suppressed.
    RepeatReason = R::ALL.map(R::as_str);
    /// Where a notification stands that waits for the owner.
    AttentionStatus = [Status::Dead, Status::Uncertain].map(Status::as_str);
    /// What came of an attempt.
    Outcome = ["accepted", "deferred", "rejected", "unknown", "abandoned"];
}

fn union(words: &[&str]) -> String {
    if words.is_empty() {
        return "string".to_owned();
    }
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" | ")
}

/// What a method takes and gives, in TypeScript.
pub struct Signature {
    params: String,
    result: String,
}

/// Collects the types that methods mention, each once.
pub struct Collector {
    config: Config,
    seen: HashSet<TypeId>,
    declared: BTreeMap<String, String>,
}

impl Collector {
    /// Takes note of what a method mentions.
    pub fn signature<P, R>(&mut self, _: impl AsyncFn(&Api, P) -> Result<R, Fault>) -> Signature
    where
        P: TS + 'static,
        R: TS + 'static,
    {
        self.take::<P>();
        self.take::<R>();
        Signature { params: P::name(&self.config), result: R::name(&self.config) }
    }

    fn take<X: TS + 'static + ?Sized>(&mut self) {
        self.visit::<X>();
        X::visit_generics(self);
    }
}

impl TypeVisitor for Collector {
    fn visit<X: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<X>()) {
            return;
        }
        if X::output_path().is_some() {
            let declaration = X::decl(&self.config);
            let text = format!("{}export {}\n", X::docs().unwrap_or_default(), declaration);
            let before = self.declared.insert(X::ident(&self.config), text);
            debug_assert!(before.is_none(), "two types are called {}", X::ident(&self.config));
        }
        X::visit_dependencies(self);
    }
}

/// The whole text.
#[must_use]
pub fn text() -> String {
    let config = Config::new().with_large_int("number");
    let mut collector = Collector { config, seen: HashSet::new(), declared: BTreeMap::new() };
    collector.take::<Topic>();
    collector.take::<WireFault>();
    let mut methods = String::new();
    for method in METHODS.iter().filter(|method| method.reach == Reach::Window) {
        let Signature { params, result } = (method.signature)(&mut collector);
        let _ = writeln!(methods, "  '{}': [{params}, {result}];", method.name);
    }
    let mut text = HEAD.to_owned();
    for declaration in collector.declared.values() {
        let _ = write!(text, "\n{}", lay_out(declaration));
    }
    let _ = write!(
        text,
        "\n/** Every method of the engine a window may call: parameters and result. */\nexport interface Methods {{\n{methods}}}\n"
    );
    text
}

/// One field a line, indented, and a comment of one line on one.
fn lay_out(declaration: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in declaration.replace("/**\n * ", "/** ").replace("\n */\n", " */\n").replace(", };", ",\n};").lines() {
        inside &= line != "};";
        let _ = writeln!(out, "{}{}", if inside { "  " } else { "" }, line.trim_end());
        inside |= line.ends_with("{ ");
    }
    out
}
