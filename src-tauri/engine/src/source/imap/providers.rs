//! Where the big providers keep their mail, how one signs in there, and what the owner has to do first. For any other
//! domain: the places worth a try.
//!
//! Hosts, ports and forms of the user name are from Mozilla's directory of providers (github.com/thunderbird/autoconfig,
//! as of 2026-03) where nothing else is said; what is marked `[G]` is common knowledge that was not checked at its source.

use crate::model::mailbox::{ImapServer, Tls};

/// One provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// Stable word.
    pub id: &'static str,
    /// As people know it.
    pub name: &'static str,
    /// Domains of its addresses.
    domains: &'static [&'static str],
    /// First words of its domains in single countries: `yahoo` is `yahoo.de` and `yahoo.co.uk` too.
    families: &'static [&'static str],
    /// Host of its IMAP.
    pub host: &'static str,
    /// Port of its IMAP.
    pub port: u16,
    /// Protection of the connection.
    pub tls: Tls,
    /// Only the part before the `@` is the user name.
    local_part: bool,
    /// What lets a mail program in.
    pub sign_in: SignIn,
    /// IMAP is off until the owner switches it on in the provider's settings.
    pub enable_imap: bool,
    /// The provider's page about it.
    pub help: &'static str,
    /// Where it is known from, and how surely.
    pub evidence: &'static str,
}

/// What lets a mail program in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignIn {
    /// The password of the account, or one for mail programs where the account has a second factor.
    Password,
    /// Only a password made for mail programs.
    AppPassword,
    /// Only OAuth, which Ringonce does not have yet.
    OAuth,
    /// The password that the provider's own program on this computer shows.
    Bridge,
}

impl SignIn {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Password, Self::AppPassword, Self::OAuth, Self::Bridge];

    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::AppPassword => "app_password",
            Self::OAuth => "oauth",
            Self::Bridge => "bridge",
        }
    }
}

/// What most have in common.
const USUAL: Provider = Provider {
    id: "",
    name: "",
    domains: &[],
    families: &[],
    host: "",
    port: 993,
    tls: Tls::Implicit,
    local_part: false,
    sign_in: SignIn::Password,
    enable_imap: false,
    help: "",
    evidence: "directory",
};

/// Every provider known.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        id: "gmail",
        name: "Gmail",
        domains: &["gmail.com", "googlemail.com"],
        host: "imap.gmail.com",
        sign_in: SignIn::AppPassword,
        help: "https://myaccount.google.com/apppasswords",
        evidence: "directory; IMAP is always on since 2025, app passwords need the second factor [G]",
        ..USUAL
    },
    Provider {
        id: "outlook",
        name: "Outlook",
        domains: &["msn.com", "windowslive.com", "livemail.tw"],
        families: &["outlook", "hotmail", "live"],
        host: "outlook.office365.com",
        sign_in: SignIn::OAuth,
        help: "https://support.microsoft.com/office/d088b986-291d-42b8-9564-9c414e2aa040",
        evidence: "directory (OAuth2 is its only way); passwords off since 2024-09-16 (learn.microsoft.com)",
        ..USUAL
    },
    Provider {
        id: "yahoo",
        name: "Yahoo",
        domains: &["ymail.com", "myyahoo.com", "rocketmail.com"],
        families: &["yahoo"],
        host: "imap.mail.yahoo.com",
        sign_in: SignIn::AppPassword,
        help: "https://login.yahoo.com/account/security",
        evidence: "directory; only app passwords [G]",
        ..USUAL
    },
    Provider {
        id: "aol",
        name: "AOL",
        domains: &["aim.com", "netscape.net", "compuserve.com"],
        families: &["aol"],
        host: "imap.aol.com",
        sign_in: SignIn::AppPassword,
        help: "https://login.aol.com/account/security",
        evidence: "directory; only app passwords [G]",
        ..USUAL
    },
    Provider {
        id: "icloud",
        name: "iCloud",
        domains: &["icloud.com", "me.com", "mac.com"],
        host: "imap.mail.me.com",
        local_part: true,
        sign_in: SignIn::AppPassword,
        help: "https://account.apple.com",
        evidence: "directory; only app passwords (support.apple.com/HT202304)",
        ..USUAL
    },
    Provider {
        id: "gmx",
        name: "GMX",
        domains: &["gmx.net", "gmx.de", "gmx.at", "gmx.ch", "gmx.eu", "gmx.biz", "gmx.org", "gmx.info"],
        host: "imap.gmx.net",
        enable_imap: true,
        help: "https://hilfe.gmx.net/pop-imap/einschalten.html",
        evidence: "directory, switching on too",
        ..USUAL
    },
    Provider {
        id: "gmx.com",
        name: "GMX",
        domains: &["gmx.com", "gmx.us", "gmx.li"],
        families: &["gmx"],
        host: "imap.gmx.com",
        enable_imap: true,
        help: "https://support.gmx.com/pop-imap/toggle.html",
        evidence: "directory; switching on as at gmx.net [G]",
        ..USUAL
    },
    Provider {
        id: "web.de",
        name: "WEB.DE",
        domains: &["web.de"],
        host: "imap.web.de",
        local_part: true,
        enable_imap: true,
        help: "https://hilfe.web.de/pop-imap/einschalten.html",
        evidence: "directory, switching on too",
        ..USUAL
    },
    Provider {
        id: "t-online",
        name: "T-Online",
        domains: &["t-online.de", "magenta.de"],
        host: "secureimap.t-online.de",
        sign_in: SignIn::AppPassword,
        help: "https://www.telekom.de/hilfe/apps-dienste/e-mail/programme/passwort-verwalten",
        evidence: "directory, the password of its own too",
        ..USUAL
    },
    Provider {
        id: "mail.com",
        name: "mail.com",
        domains: &["mail.com", "email.com", "post.com", "usa.com", "europe.com", "consultant.com", "dr.com"],
        host: "imap.mail.com",
        enable_imap: true,
        help: "https://support.mail.com/pop-imap/imap/index.html",
        evidence: "directory; switching on as at its sister gmx.com, and in paid accounts only [G]",
        ..USUAL
    },
    Provider {
        id: "fastmail",
        name: "Fastmail",
        domains: &["fastmail.com", "fastmail.fm", "fastmail.net", "fastmail.org", "messagingengine.com", "sent.com"],
        host: "imap.fastmail.com",
        sign_in: SignIn::AppPassword,
        help: "https://app.fastmail.com/settings/security",
        evidence: "directory; only app passwords [G]",
        ..USUAL
    },
    Provider {
        id: "proton",
        name: "Proton Mail",
        domains: &["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
        host: "127.0.0.1",
        port: 1143,
        tls: Tls::StartTls,
        sign_in: SignIn::Bridge,
        help: "https://proton.me/mail/bridge",
        evidence: "proton.me/support/protonmail-bridge-faq (password); port, STARTTLS and own certificate [G]",
        ..USUAL
    },
    Provider {
        id: "zoho",
        name: "Zoho Mail",
        domains: &["zoho.com", "zohomail.com"],
        host: "imap.zoho.com",
        enable_imap: true,
        help: "https://www.zoho.com/mail/help/imap-access.html",
        evidence: "directory; switching on by its help page",
        ..USUAL
    },
    Provider {
        id: "zoho.eu",
        name: "Zoho Mail",
        domains: &["zoho.eu", "zohomail.eu"],
        host: "imap.zoho.eu",
        enable_imap: true,
        help: "https://www.zoho.com/mail/help/imap-access.html",
        evidence: "directory; switching on by its help page",
        ..USUAL
    },
    Provider {
        id: "zoho.in",
        name: "Zoho Mail",
        domains: &["zoho.in", "zohomail.in"],
        host: "imap.zoho.in",
        enable_imap: true,
        help: "https://www.zoho.com/mail/help/imap-access.html",
        evidence: "directory; switching on by its help page",
        ..USUAL
    },
    Provider {
        id: "yandex",
        name: "Yandex",
        domains: &["yandex.ru", "yandex.com", "yandex.by", "yandex.kz", "yandex.ua", "ya.ru", "narod.ru"],
        host: "imap.yandex.com",
        sign_in: SignIn::AppPassword,
        enable_imap: true,
        help: "https://id.yandex.com/security/app-passwords",
        evidence: "directory, switching on too; only app passwords [G]",
        ..USUAL
    },
    Provider {
        id: "mail.ru",
        name: "Mail.ru",
        domains: &["mail.ru", "inbox.ru", "list.ru", "bk.ru", "internet.ru"],
        host: "imap.mail.ru",
        sign_in: SignIn::AppPassword,
        help: "https://account.mail.ru/user/2-step-auth/passwords",
        evidence: "directory; only passwords for other programs [G]",
        ..USUAL
    },
    Provider {
        id: "rambler",
        name: "Rambler",
        domains: &["rambler.ru", "lenta.ru", "ro.ru"],
        host: "imap.rambler.ru",
        enable_imap: true,
        help: "https://help.rambler.ru/mail/mail-pochtovye-klienty/1275/",
        evidence: "directory; further domains and switching on [G]",
        ..USUAL
    },
    Provider {
        id: "onet",
        name: "Onet Poczta",
        domains: &[
            "onet.pl",
            "onet.eu",
            "onet.com.pl",
            "poczta.onet.pl",
            "poczta.onet.eu",
            "op.pl",
            "vp.pl",
            "spoko.pl",
        ],
        host: "imap.poczta.onet.pl",
        help: "https://pomoc.poczta.onet.pl/baza-wiedzy/konfiguracja-poczty-w-programie-mozilla-thunderbird/",
        ..USUAL
    },
    Provider {
        id: "wp",
        name: "WP Poczta",
        domains: &["wp.pl"],
        host: "imap.wp.pl",
        local_part: true,
        enable_imap: true,
        help: "https://pomoc.wp.pl",
        evidence: "directory; switching on as at its sister o2 [G]",
        ..USUAL
    },
    Provider {
        id: "o2",
        name: "o2 Poczta",
        domains: &["o2.pl", "go2.pl", "tlen.pl", "prokonto.pl"],
        host: "poczta.o2.pl",
        local_part: true,
        enable_imap: true,
        help: "https://pomoc.o2.pl/aktywacja-dostepu-dla-programow-pocztowych",
        evidence: "directory, switching on too",
        ..USUAL
    },
    Provider {
        id: "interia",
        name: "Interia Poczta",
        domains: &["interia.pl", "interia.eu", "interia.com", "poczta.fm", "intmail.pl", "vip.interia.pl"],
        host: "poczta.interia.pl",
        enable_imap: true,
        help: "https://pomoc.interia.pl",
        evidence: "host and switching on as in several open mail programs; domains and user name [G]",
        ..USUAL
    },
];

impl Provider {
    /// The provider of an address.
    #[must_use]
    pub fn of(email: &str) -> Option<&'static Self> {
        let domain = domain(email)?;
        let exact = PROVIDERS.iter().find(|one| one.domains.contains(&domain.as_str()));
        // Yahoo of Japan is a company of its own with other servers.
        let in_country = (domain != "yahoo.co.jp").then(|| country_family(&domain)).flatten();
        exact.or_else(|| PROVIDERS.iter().find(|one| in_country.is_some_and(|family| one.families.contains(&family))))
    }

    /// Where and how a mailbox of this provider is read.
    #[must_use]
    pub fn server(&self, email: &str) -> ImapServer {
        let username = if self.local_part { email.rsplit_once('@').map_or(email, |(local, _)| local) } else { email };
        server(self.host, self.port, self.tls, username)
    }

    /// What to try where it refuses a password, for people.
    #[must_use]
    pub fn advice(&self) -> String {
        let Self { name, help, .. } = self;
        let switch = if self.enable_imap { ", and switch IMAP on in its settings" } else { "" };
        match self.sign_in {
            SignIn::Password => format!("check both{switch}; with a second factor it wants an app password: {help}"),
            SignIn::AppPassword => {
                format!("{name} takes only a password made for mail programs{switch}; make one at {help}")
            }
            SignIn::OAuth => {
                format!("{name} takes no passwords from mail programs; its own sign-in (OAuth) is not built yet")
            }
            SignIn::Bridge => format!("give the password that the Bridge on this computer shows, see {help}"),
        }
    }
}

/// Where the mail of an address may be, the likeliest first: at its provider, else at the usual names of its domain.
#[must_use]
pub fn places(email: &str) -> Vec<ImapServer> {
    if let Some(provider) = Provider::of(email) {
        return vec![provider.server(email)];
    }
    let Some(domain) = domain(email) else { return Vec::new() };
    let hosts = ["imap", "mail"].map(|word| format!("{word}.{domain}"));
    let of = |port, tls| hosts.iter().map(move |host| server(host, port, tls, email));
    of(993, Tls::Implicit).chain(of(143, Tls::StartTls)).collect()
}

fn server(host: &str, port: u16, tls: Tls, username: &str) -> ImapServer {
    ImapServer {
        host: host.to_owned(),
        port,
        tls,
        username: username.to_owned(),
        ca_file: None,
        pin: None,
        allow_plaintext: false,
    }
}

fn domain(email: &str) -> Option<String> {
    email.trim().rsplit_once('@').map(|(_, domain)| domain.to_ascii_lowercase()).filter(|domain| !domain.is_empty())
}

/// The first word of a domain that is one word under a country, its `co` or `com`, or `com` itself.
fn country_family(domain: &str) -> Option<&str> {
    let (family, rest) = domain.split_once('.')?;
    let country = rest.strip_prefix("co.").or_else(|| rest.strip_prefix("com.")).unwrap_or(rest);
    let is_country = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_country || rest == "com").then_some(family)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_address_leads_to_its_provider() {
        let case = |email: &str, expected: &str| {
            assert_eq!(Provider::of(email).map_or("", |one| one.id), expected, "{email}");
        };
        case("a@gmail.com", "gmail");
        case("a@Googlemail.COM ", "gmail");
        case("a@outlook.com", "outlook");
        case("a@hotmail.co.uk", "outlook");
        case("a@outlook.com.br", "outlook");
        case("a@live.nl", "outlook");
        case("a@live.example.com", "");
        case("a@outlook.example", "");
        case("a@yahoo.de", "yahoo");
        case("a@yahoo.com.mx", "yahoo");
        case("a@yahoo.co.jp", "");
        case("a@gmx.de", "gmx");
        case("a@gmx.co.uk", "gmx.com");
        case("a@me.com", "icloud");
        case("a@pm.me", "proton");
        case("a@tlen.pl", "o2");
        case("a@vp.pl", "onet");
        case("a@interia.eu", "interia");
        case("a@ya.ru", "yandex");
        case("a@bk.ru", "mail.ru");
        case("a@zohomail.eu", "zoho.eu");
        case("a@mail.gmail.com", "");
        case("a@example.org", "");
        case("nobody", "");
        case("a@", "");
    }

    #[test]
    fn the_user_name_is_as_the_provider_wants_it() {
        let case = |email: &str, expected: &str| {
            let server = places(email).into_iter().next().unwrap();
            let said = format!("{} {}:{} {}", server.username, server.host, server.port, server.tls.as_str());
            assert_eq!(said, expected, "{email}");
        };
        case("ada@gmail.com", "ada@gmail.com imap.gmail.com:993 implicit");
        case("ada@icloud.com", "ada imap.mail.me.com:993 implicit");
        case("ada@web.de", "ada imap.web.de:993 implicit");
        case("ada@proton.me", "ada@proton.me 127.0.0.1:1143 starttls");
    }

    #[test]
    fn an_unknown_domain_gives_the_usual_places_in_order() {
        let found: Vec<String> =
            places("a@b@Example.org").iter().map(|s| format!("{}:{} {}", s.host, s.port, s.tls.as_str())).collect();
        let expected = [
            "imap.example.org:993 implicit",
            "mail.example.org:993 implicit",
            "imap.example.org:143 starttls",
            "mail.example.org:143 starttls",
        ];
        assert_eq!(found, expected, "protection from the first byte goes before STARTTLS");
        assert!(places("nobody").is_empty());
    }

    #[test]
    fn the_table_is_whole_and_unambiguous() {
        let (mut ids, mut domains, mut families) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for one in PROVIDERS {
            assert!(ids.insert(one.id), "{} stands there twice", one.id);
            assert!(!one.name.is_empty() && !one.host.is_empty() && !one.evidence.is_empty(), "{} is whole", one.id);
            assert!(one.help.starts_with("https://"), "{}: {}", one.id, one.help);
            assert!(one.tls != Tls::None, "{} is protected", one.id);
            assert!(!one.advice().contains("  "), "{}", one.advice());
            for domain in one.domains {
                assert!(domains.insert(domain), "{domain} has two providers");
                assert_eq!(*domain, domain.to_ascii_lowercase(), "looked up in lower case");
            }
            assert!(one.families.iter().all(|family| families.insert(family)), "{} shares a family", one.id);
        }
        assert!(ids.len() >= 10, "ten big ones at least");
    }
}
