//! Checks the fields of a destination against what its channel asks for.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::channel::{Field, Form, Kind};
use crate::identity::keys::{self, TargetField};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::Recipient;

/// Fields that were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Fields that are not secret, with defaults; what is stored.
    pub fields: BTreeMap<String, String>,
    /// The real target they name.
    pub recipient: Recipient,
}

/// Checks given fields and secrets, and fills in defaults.
///
/// # Errors
/// `invalid`, naming the field and what would fit: unknown, missing, secret given in the open or the other way
/// round, or not of its form.
pub fn configure(
    kind: &Kind,
    given: &BTreeMap<String, String>,
    secrets: &BTreeMap<String, SecretString>,
) -> Result<Checked, Fault> {
    check_names(kind, given, secrets)?;
    let mut fields = BTreeMap::new();
    for field in kind.fields {
        let value = if field.secret {
            secrets.get(field.key).map(|secret| secret.expose_secret().to_owned())
        } else {
            given.get(field.key).cloned().or_else(|| field.default.map(str::to_owned))
        };
        let Some(value) = value else {
            if field.required {
                return Err(refused(kind, &format!("the field {} is missing", field.key), &hint(field)));
            }
            continue;
        };
        let clean = check_form(field, &value).map_err(|allowed| {
            // A secret is never shown, and neither is a URL, which may hold one.
            let cause = match field.form {
                Form::Bool | Form::Number { .. } => format!("the field {} does not take {value:?}", field.key),
                Form::Url | Form::Text => format!("the field {} does not take what was given", field.key),
            };
            refused(kind, &cause, &format!("give {allowed}"))
        })?;
        if !field.secret {
            fields.insert(field.key.to_owned(), clean);
        }
    }
    let targets = kind.fields.iter().filter(|field| field.target).filter_map(|field| {
        let value = fields.get(field.key)?;
        Some(TargetField { name: field.key, value, is_url: field.form == Form::Url })
    });
    let recipient = keys::recipient(kind.id, targets);
    Ok(Checked { fields, recipient })
}

/// A URL among checked fields.
///
/// # Errors
/// `internal` where it is not there or not a URL, which [`configure`] does not let pass.
pub(crate) fn url(fields: &BTreeMap<String, String>, key: &str) -> Result<Url, Fault> {
    fields.get(key).and_then(|value| Url::parse(value).ok()).ok_or_else(|| {
        Fault::new(
            FaultCode::Invalid,
            "The destination cannot be used",
            format!("its field {key} is not a URL"),
            format!("set it: --set {key}=https://…"),
        )
    })
}

fn check_names(
    kind: &Kind,
    given: &BTreeMap<String, String>,
    secrets: &BTreeMap<String, SecretString>,
) -> Result<(), Fault> {
    let open: BTreeSet<&str> = given.keys().map(String::as_str).collect();
    let hidden: BTreeSet<&str> = secrets.keys().map(String::as_str).collect();
    for (name, is_secret) in open.into_iter().map(|name| (name, false)).chain(hidden.into_iter().map(|n| (n, true))) {
        let Some(field) = kind.fields.iter().find(|field| field.key == name) else {
            let names: Vec<&str> = kind.fields.iter().map(|field| field.key).collect();
            let cause = format!("{} has no field {name:?}", kind.id);
            return Err(refused(kind, &cause, &format!("its fields are {}", names.join(", "))));
        };
        if field.secret != is_secret {
            let cause = format!("the field {name} is {}a secret", if field.secret { "" } else { "not " });
            return Err(refused(kind, &cause, &hint(field)));
        }
    }
    Ok(())
}

/// The value as it is kept; the error says in words what would fit.
fn check_form(field: &Field, value: &str) -> Result<String, String> {
    let value = value.trim();
    match field.form {
        Form::Url => checked_url(value),
        Form::Text if value.is_empty() || value.chars().any(char::is_control) => {
            Err("one line of text that is not empty".to_owned())
        }
        Form::Text => Ok(value.to_owned()),
        Form::Bool if matches!(value, "true" | "false") => Ok(value.to_owned()),
        Form::Bool => Err("true or false".to_owned()),
        Form::Number { min, max } => match value.parse::<i64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(number.to_string()),
            _ => Err(format!("a whole number from {min} to {max}")),
        },
    }
}

/// A URL as browsers write it: scheme and host in lower case, without a default port.
fn checked_url(value: &str) -> Result<String, String> {
    let wanted = || "a URL that begins with http:// or https:// and names a host".to_owned();
    let url = Url::parse(value).map_err(|_| wanted())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wanted());
    }
    // It is stored and shown, and names and passwords have no place there.
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL without a name or password in it".to_owned());
    }
    if url.fragment().is_some() {
        return Err("a URL without a part after #".to_owned());
    }
    Ok(url.to_string())
}

fn hint(field: &Field) -> String {
    if field.secret { format!("give it as --secret {}=-", field.key) } else { format!("give --set {}=…", field.key) }
}

fn refused(kind: &Kind, cause: &str, next_step: &str) -> Fault {
    Fault::new(FaultCode::Invalid, format!("The {} destination was not saved", kind.id), cause, next_step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::KINDS;

    fn run(kind: &str, given: &[(&str, &str)], secrets: &[(&str, &str)]) -> Result<Checked, Fault> {
        let given = given.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let secrets = secrets.iter().map(|(k, v)| ((*k).to_owned(), SecretString::from((*v).to_owned()))).collect();
        configure(crate::channel::kind(kind).unwrap(), &given, &secrets)
    }

    #[test]
    fn defaults_are_filled_in_and_targets_normalized() {
        let checked = run("ntfy", &[("topic", " mail "), ("server", "HTTPS://Push.Example.COM:443/")], &[]).unwrap();
        let pairs = |map: &BTreeMap<String, String>| format!("{map:?}");
        assert_eq!(
            pairs(&checked.fields),
            r#"{"priority": "3", "server": "https://push.example.com/", "topic": "mail"}"#
        );
        let same = run("ntfy", &[("topic", "mail"), ("server", "https://push.example.com"), ("priority", "5")], &[]);
        assert_eq!(checked.recipient, same.unwrap().recipient, "spelled otherwise it is the same target");
        let default = run("ntfy", &[("topic", "mail")], &[("token", "tk_1")]).unwrap();
        let spelled_out = run("ntfy", &[("topic", "mail"), ("server", "https://ntfy.sh/")], &[]).unwrap();
        assert_eq!(default.recipient, spelled_out.recipient, "a default makes the recipient too");
        assert_ne!(checked.recipient, default.recipient, "another server is another target");
        assert!(!format!("{default:?}").contains("tk_1"), "a secret is not among the fields");
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would() {
        let check = |kind: &str, given: &[(&str, &str)], secrets: &[(&str, &str)], words: [&str; 2]| {
            let fault = run(kind, given, secrets).expect_err("must be refused");
            assert_eq!(fault.code, FaultCode::Invalid);
            for word in words {
                assert!(fault.to_string().contains(word), "{word:?} is not said: {fault}");
            }
        };
        check("ntfy", &[("topik", "x")], &[], ["\"topik\"", "server, topic, priority, token"]);
        check("ntfy", &[], &[], ["topic is missing", "--set topic="]);
        check("ntfy", &[("topic", "x"), ("token", "y")], &[], ["token is a secret", "--secret token=-"]);
        check("ntfy", &[], &[("topic", "x")], ["topic is not a secret", "--set topic="]);
        check("ntfy", &[("topic", "x"), ("priority", "6")], &[], ["\"6\"", "from 1 to 5"]);
        check("ntfy", &[("topic", "a\nb")], &[], ["topic", "one line"]);
        check("ntfy", &[("topic", "x"), ("server", "ntfy.sh")], &[], ["server", "https://"]);
        check("webhook", &[("url", "ftp://example.com/")], &[], ["url", "http://"]);
        check("webhook", &[("url", "http://")], &[], ["url", "names a host"]);
        check("webhook", &[("url", "http://me:pw@example.com/")], &[], ["url", "without a name or password"]);
        check("webhook", &[("url", "http://example.com/#x")], &[], ["url", "after #"]);
        check(
            "webhook",
            &[("url", "http://example.com/"), ("receiver_deduplicates", "yes")],
            &[],
            ["\"yes\"", "true or false"],
        );
        check("command", &[("command", "  ")], &[], ["command", "not empty"]);
        check("command", &[("command", "x"), ("time_limit_seconds", "0")], &[], ["time_limit_seconds", "1 to 120"]);
        let fault = run("webhook", &[("url", "http://me:hunter2@example.com/")], &[]).unwrap_err();
        assert!(!fault.to_string().contains("hunter2"), "a password is not repeated: {fault}");
    }

    #[test]
    fn every_kind_is_whole() {
        for kind in KINDS {
            assert_eq!(crate::channel::kind(kind.id).map(|found| found.id), Some(kind.id), "ids are unique");
            assert!(kind.fields.iter().all(|field| !(field.secret && field.default.is_some())), "{}", kind.id);
            for field in kind.fields {
                let default = field.default.map(|value| check_form(field, value));
                assert!(default.is_none_or(|checked| checked.is_ok()), "{} {}: default", kind.id, field.key);
            }
        }
    }
}
