//! What the owner gives of a destination: checked, tested and kept.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};

use crate::api::destination::{AddParams, SetParams, TryParams};
use crate::api::trial::TestResult;
use crate::api::view::{Id, Nothing, SecretText};
use crate::api::{Api, invalid, named, trial};
use crate::channel::configure::configure;
use crate::channel::{self, Kind};
use crate::model::destination::{Destination, PauseReason, Policy, Privacy};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DestinationId;
use crate::model::topic::Topic;
use crate::outbox::route::cancel;
use crate::secret::SecretName;
use crate::store::table::{destination, outbox, route};

const TOPICS: &[Topic] = &[Topic::Destinations, Topic::Status, Topic::Attention];

/// Adds a destination, tested unless that is waived; gives its id.
///
/// # Errors
/// `invalid`, naming the field; `conflict` for a target that is there already; `test_failed`; `secret`.
pub async fn add(api: &Api, params: AddParams) -> Result<Id, Fault> {
    let kind = channel::kind(&params.kind).ok_or_else(|| trial::unknown_kind(&params.kind))?;
    let secrets = exposed(params.secrets);
    let checked = configure(kind, &params.fields, &secrets)?;
    let new = Destination {
        id: DestinationId(api.new_id()),
        name: check_name(&params.name)?,
        kind: kind.id.to_owned(),
        fields: checked.fields,
        recipient: checked.recipient,
        policy: params.policy.as_deref().map(parse_policy).transpose()?.unwrap_or(kind.policy),
        privacy: params.privacy.as_deref().map(parse_privacy).transpose()?.unwrap_or(Privacy::Full),
        max_age_seconds: check_max_age(params.max_age_seconds)?.or(kind.max_age_seconds),
        fallback_only: params.fallback_only,
        paused: None,
    };
    if params.test {
        trial::run(api, &new, secrets.clone()).await?;
    }
    for (field, secret) in &secrets {
        api.keep_secret(&SecretName::destination(&new.id, field), secret.clone()).await?;
    }
    let id = new.id.clone();
    let stored = store(api, new).await;
    if stored.is_err() {
        for field in secrets.keys() {
            api.forget_secret(&SecretName::destination(&id, field)).await;
        }
    }
    stored.map(|()| Id { id: id.0 })
}

/// Changes a destination, tested unless that is waived. One that was stopped because its credentials were refused is
/// used again.
///
/// # Errors
/// As for [`add`]; `not_found`.
pub async fn set(api: &Api, params: SetParams) -> Result<Nothing, Fault> {
    let old = find(api, params.id).await?;
    let kind = channel::kind(&old.kind).ok_or_else(|| trial::unknown_kind(&old.kind))?;
    let given = exposed(params.secrets);
    let fields = changed_fields(&old, params.fields);
    let secrets = changed_secrets(stored_secrets(api, kind, &old.id).await?, &given);
    let checked = configure(kind, &fields, &secrets)?;
    let new = Destination {
        name: params.name.as_deref().map(check_name).transpose()?.unwrap_or(old.name),
        fields: checked.fields,
        recipient: checked.recipient,
        policy: params.policy.as_deref().map(parse_policy).transpose()?.unwrap_or(old.policy),
        privacy: params.privacy.as_deref().map(parse_privacy).transpose()?.unwrap_or(old.privacy),
        max_age_seconds: match params.max_age_seconds {
            None => old.max_age_seconds,
            given => check_max_age(given)?,
        },
        fallback_only: params.fallback_only.unwrap_or(old.fallback_only),
        paused: old.paused.filter(|paused| *paused != PauseReason::SignIn),
        ..old
    };
    if params.test {
        trial::run(api, &new, secrets.clone()).await?;
    }
    for field in given.keys() {
        let name = SecretName::destination(&new.id, field);
        match secrets.get(field) {
            Some(secret) => api.keep_secret(&name, secret.clone()).await?,
            None => api.secrets.remove(&name).await?,
        }
    }
    let id = new.id.0.clone();
    store(api, new).await?;
    if !given.is_empty() {
        api.kernel()?.secret_replaced(&id);
    }
    Ok(Nothing {})
}

/// Sends a test message to a destination that is not stored, or not as it is given here; nothing of it is kept but the
/// message in the history.
///
/// # Errors
/// `invalid`, naming the field; `not_found`; `conflict` for a target that is there already; `test_failed`.
pub async fn r#try(api: &Api, params: TryParams) -> Result<TestResult, Fault> {
    let given = exposed(params.secrets);
    let old = match params.id {
        Some(id) => Some(find(api, id).await?),
        None => None,
    };
    let kind_id = old.as_ref().map(|old| old.kind.clone()).or(params.kind).unwrap_or_default();
    let kind = channel::kind(&kind_id).ok_or_else(|| trial::unknown_kind(&kind_id))?;
    let (fields, secrets) = match &old {
        Some(old) => {
            (changed_fields(old, params.fields), changed_secrets(stored_secrets(api, kind, &old.id).await?, &given))
        }
        None => (params.fields, given),
    };
    let checked = configure(kind, &fields, &secrets)?;
    let wanted = Destination {
        id: old.as_ref().map_or_else(|| DestinationId(api.new_id()), |old| old.id.clone()),
        name: check_name(&params.name)?,
        kind: kind.id.to_owned(),
        fields: checked.fields,
        recipient: checked.recipient,
        policy: Policy::NeverTwice,
        privacy: Privacy::Full,
        max_age_seconds: None,
        fallback_only: false,
        paused: None,
    };
    trial::run(api, &wanted, secrets).await
}

/// Sends a test message to a destination.
///
/// # Errors
/// `not_found`; `test_failed`; `secret`.
pub async fn test(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let found = find(api, params.id).await?;
    let kind = channel::kind(&found.kind).ok_or_else(|| trial::unknown_kind(&found.kind))?;
    let secrets = stored_secrets(api, kind, &found.id).await?;
    trial::run(api, &found, secrets).await.map(|_| Nothing {})
}

/// Removes a destination and its secrets. What waits for it is cancelled; its history stays.
///
/// # Errors
/// `not_found`; `conflict`, where a route names it; `secret`, where its secrets cannot be removed.
pub async fn remove(api: &Api, params: Id) -> Result<Nothing, Fault> {
    let found = find(api, params.id).await?;
    let id = found.id.clone();
    if let Some(route) = api.read(route::list).await?.into_iter().find(|route| route.members.contains(&id)) {
        return Err(Fault::new(
            FaultCode::Conflict,
            "Nothing was changed",
            format!("the route {:?} tells by it", route.name),
            format!("remove that first: ringonce route remove {}", route.id),
        ));
    }
    let secret_fields =
        channel::kind(&found.kind).into_iter().flat_map(|kind| kind.fields).filter(|field| field.secret);
    for field in secret_fields {
        api.secrets.remove(&SecretName::destination(&found.id, field.key)).await?;
    }
    let now_at = api.clock.now();
    api.change(TOPICS, move |tx| {
        for row in outbox::list_unfinished_of(*tx, &found.id)? {
            cancel(tx, &row, "its destination was removed", now_at)?;
        }
        destination::mark_removed(tx, &found.id, now_at)?;
        Ok(Ok(Nothing {}))
    })
    .await
}

async fn find(api: &Api, id: String) -> Result<Destination, Fault> {
    api.find(move |read| named::destination(read, &id)).await
}

/// Stores it, new or changed.
async fn store(api: &Api, new: Destination) -> Result<(), Fault> {
    let now_at = api.clock.now();
    api.change(TOPICS, move |tx| {
        if let Some(fault) = trial::taken(tx, &new)? {
            return Ok(Err(fault));
        }
        destination::put(tx, &new, now_at)?;
        // Its test left it marked as removed.
        destination::mark_kept(tx, &new.id)?;
        Ok(Ok(()))
    })
    .await
}

fn changed_fields(old: &Destination, given: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut fields = old.fields.clone();
    for (key, value) in given {
        // Without a value the default counts again; a name that does not exist has to be refused later.
        if value.is_empty() && fields.contains_key(&key) {
            fields.remove(&key);
        } else {
            fields.insert(key, value);
        }
    }
    fields
}

fn changed_secrets(
    mut secrets: BTreeMap<String, SecretString>,
    given: &BTreeMap<String, SecretString>,
) -> BTreeMap<String, SecretString> {
    for (field, secret) in given {
        if secret.expose_secret().is_empty() && secrets.contains_key(field) {
            secrets.remove(field);
        } else {
            secrets.insert(field.clone(), secret.clone());
        }
    }
    secrets
}

/// The secrets of a destination that are there.
async fn stored_secrets(api: &Api, kind: &Kind, id: &DestinationId) -> Result<BTreeMap<String, SecretString>, Fault> {
    let mut secrets = BTreeMap::new();
    for field in kind.fields.iter().filter(|field| field.secret) {
        if let Some(secret) = api.secrets.get(&SecretName::destination(id, field.key)).await? {
            secrets.insert(field.key.to_owned(), secret);
        }
    }
    Ok(secrets)
}

fn exposed(secrets: BTreeMap<String, SecretText>) -> BTreeMap<String, SecretString> {
    secrets.into_iter().map(|(field, secret)| (field, secret.0)).collect()
}

fn check_name(name: &str) -> Result<String, Fault> {
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(invalid("a destination needs a name of one line", "give it with --name"));
    }
    Ok(name.to_owned())
}

fn check_max_age(seconds: Option<i64>) -> Result<Option<i64>, Fault> {
    match seconds {
        Some(..0) => Err(invalid("an age cannot be negative", "give --max-age in seconds, 0 for none")),
        other => Ok(other.filter(|seconds| *seconds > 0)),
    }
}

fn parse_policy(text: &str) -> Result<Policy, Fault> {
    Policy::parse(text)
        .ok_or_else(|| invalid(format!("{text:?} is no policy"), "give --policy never-twice or never-lost"))
}

fn parse_privacy(text: &str) -> Result<Privacy, Fault> {
    Privacy::parse(text)
        .ok_or_else(|| invalid(format!("{text:?} is no privacy level"), "give --privacy full, sender or none"))
}
