//! What single providers do differently. Each fact has a name, its evidence and its effect here.

/// A provider's peculiarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quirk {
    /// Its name in the log.
    pub(crate) name: &'static str,
    /// Where it was seen.
    pub(crate) evidence: &'static str,
    /// Domains of the server's host.
    hosts: &'static [&'static str],
    /// Words in the greeting.
    greeting: &'static [&'static str],
    /// What is done about it.
    pub(crate) effect: Effect,
}

/// What is done about a quirk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// ID is sent after sign-in and before a folder is opened.
    IdAfterLogin,
    /// SASL-IR is not used though it is offered.
    NoInitialResponse,
}

/// Every quirk known.
const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "coremail-id",
        evidence: "NO SELECT Unsafe Login without ID (himalaya#549, himalaya#651, bichon#25)",
        hosts: &["163.com", "126.com", "yeah.net", "qq.com"],
        greeting: &["coremail"],
        effect: Effect::IdAfterLogin,
    },
    Quirk {
        name: "coremail-sasl-ir",
        evidence: "offers SASL-IR and answers it with BAD (io-imap changelog 0.5.0)",
        hosts: &["163.com", "126.com", "yeah.net"],
        greeting: &["coremail"],
        effect: Effect::NoInitialResponse,
    },
];

/// Whether an effect applies to a server.
pub(crate) fn applies(effect: Effect, host: &str, greeting: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let greeting = greeting.to_ascii_lowercase();
    let found = QUIRKS.iter().filter(|quirk| quirk.effect == effect).find(|quirk| {
        quirk.hosts.iter().any(|domain| host.strip_suffix(domain).is_some_and(|h| h.is_empty() || h.ends_with('.')))
            || quirk.greeting.iter().any(|word| greeting.contains(word))
    });
    if let Some(quirk) = found {
        tracing::debug!(quirk = quirk.name, evidence = quirk.evidence, "The server has a known quirk");
    }
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quirk_is_found_by_host_or_greeting() {
        let case = |effect, host, greeting, expected| {
            assert_eq!(applies(effect, host, greeting), expected, "{effect:?} {host} {greeting}");
        };
        case(Effect::IdAfterLogin, "imap.163.com", "", true);
        case(Effect::IdAfterLogin, "imap.QQ.com", "", true);
        case(Effect::NoInitialResponse, "imap.qq.com", "", false);
        case(Effect::IdAfterLogin, "imap.not163.com", "", false);
        case(Effect::IdAfterLogin, "mail.example.com", "Coremail System IMap Server Ready", true);
        case(Effect::IdAfterLogin, "imap.example.com", "Dovecot ready", false);
    }
}
