//! What a front end calls: one file per page, each method with typed parameters and a view as its result.
//!
//! The same calls work over a running engine and, without one, on the data folder alone; then nothing is sent.

pub mod about;
pub mod alarms;
pub mod attention;
pub mod data;
pub mod demo;
pub mod destination;
pub mod destination_form;
pub mod doctor;
pub mod duplicates;
pub mod explain;
pub mod history;
pub mod ingest;
pub mod mail;
pub mod mailbox;
mod mailbox_link;
pub mod mailbox_server;
pub mod mailbox_setup;
pub mod methods;
mod named;
pub mod notification;
pub mod removal;
pub mod report;
pub mod route;
pub mod rule;
pub mod rule_try;
pub mod settings;
pub mod source;
pub mod status;
pub mod test;
pub mod trial;
#[cfg(feature = "types")]
pub mod types;
pub mod view;
pub mod wait;
pub mod watch;
pub mod window;

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::clock::Clock;
use crate::kernel::Kernel;
use crate::model::error::{Fault, FaultCode};
use crate::model::topic::Topic;
use crate::secret::SecretName;
use crate::secret::choice::Choice;
use crate::secret::kept::{KeptSecrets, SETTING};
use crate::store::error::StoreError;
use crate::store::readers::Readers;
use crate::store::table::setting;
use crate::store::{Read, Store, Tx};
use crate::supervise::live::Live;

/// Hex digits of an id: 48 bits for a handful of things of one owner.
const ID_CHARS: usize = 12;

/// Everything a front end can ask for.
pub struct Api {
    readers: Arc<Readers>,
    kernel: Option<Kernel>,
    secrets: Arc<KeptSecrets>,
    clock: Clock,
    live: Option<Live>,
}

impl Api {
    /// Over a data folder whose lock the caller holds; with `live`, over the engine that runs on it.
    #[must_use]
    pub fn new(kernel: Kernel, secrets: Arc<KeptSecrets>, live: Option<Live>) -> Self {
        let (readers, clock) = (kernel.store.readers(), kernel.clock.clone());
        Self { readers, clock, kernel: Some(kernel), secrets, live }
    }

    /// Over a data folder on which nothing runs and whose lock the caller holds: what is configured and looked at is
    /// done, nothing is sent. The database is made where there is none.
    ///
    /// # Errors
    /// `storage` and `newer`, where the database cannot be used; `conflict`, where the secrets are elsewhere.
    pub async fn open(data_dir: &Path, secrets: Option<&Choice>) -> Result<Self, Fault> {
        let clock = Clock::system();
        let store = Store::open(data_dir, clock.now())?;
        let stored = store.read(setting::list).await?;
        let secrets = Arc::new(KeptSecrets::new(stored.get(SETTING).map(String::as_str), secrets)?);
        Ok(Self::new(Kernel::new(store, clock), secrets, None))
    }

    /// Over a data folder, without its lock, only to look; `None`: there is nothing yet.
    ///
    /// # Errors
    /// As for [`Api::open`].
    pub async fn look(data_dir: &Path, secrets: Option<&Choice>) -> Result<Option<Self>, Fault> {
        let Some(readers) = Store::look(data_dir)?.map(Arc::new) else { return Ok(None) };
        let stored = Readers::read(Arc::clone(&readers), setting::list).await?;
        let secrets = Arc::new(KeptSecrets::new(stored.get(SETTING).map(String::as_str), secrets)?);
        Ok(Some(Self { readers, kernel: None, secrets, clock: Clock::system(), live: None }))
    }

    /// Calls a method by its name.
    ///
    /// # Errors
    /// `not_found` for an unknown method, `invalid` for parameters that do not fit, else what the method says.
    pub async fn call(&self, name: &str, params: Value) -> Result<Value, Fault> {
        let method = methods::find(name).ok_or_else(|| {
            Fault::new(
                FaultCode::NotFound,
                "Nothing was done",
                format!("there is no method {name:?}"),
                "use programs of one version together",
            )
        })?;
        (method.call)(self, params).await
    }

    /// The kernel of the running engine.
    #[must_use]
    pub fn running(&self) -> Option<&Kernel> {
        self.live.as_ref().and(self.kernel.as_ref())
    }

    /// The running engine's health and readers.
    #[must_use]
    pub fn live(&self) -> Option<&Live> {
        self.live.as_ref()
    }

    async fn read<T, F>(&self, query: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Read<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        Ok(Readers::read(Arc::clone(&self.readers), query).await?)
    }

    async fn write<T, F>(&self, job: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let kernel = self.kernel()?;
        let in_job = kernel.clone();
        let written = kernel
            .store
            .write(move |tx| {
                // Whatever was changed, what is in memory of the configuration is read anew.
                in_job.reconfigure();
                job(tx)
            })
            .await;
        if written.is_err() {
            kernel.reconfigure();
        }
        Ok(written?)
    }

    /// A query that may find that the owner named something that is not there.
    async fn find<T, F>(&self, query: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Read<'_>) -> named::Named<T> + Send + 'static,
    {
        self.read(query).await?
    }

    /// A change that may find, before it writes anything, that the owner named something that is not there.
    async fn change<T, F>(&self, topics: &[Topic], job: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Tx<'_>) -> named::Named<T> + Send + 'static,
    {
        let done = self.write(job).await??;
        self.changed(topics);
        Ok(done)
    }

    fn kernel(&self) -> Result<&Kernel, Fault> {
        self.kernel.as_ref().ok_or_else(|| {
            Fault::new(
                FaultCode::Internal,
                "Nothing was changed",
                "the data was opened only to look",
                "please report this",
            )
        })
    }

    /// Tells whoever shows it, and the engine that has to act on it.
    fn changed(&self, topics: &[Topic]) {
        let Some(kernel) = &self.kernel else { return };
        kernel.changed(topics);
        kernel.reconfigured.notify_one();
        kernel.lanes.wake_all();
        kernel.sweep.notify_one();
    }

    /// Stores a secret, and with the first one where the secrets are.
    async fn keep_secret(&self, name: &SecretName, value: SecretString) -> Result<(), Fault> {
        self.secrets.open()?.set(name, value).await?;
        self.keep_place().await
    }

    /// Removes a secret of something that was not stored after all.
    async fn forget_secret(&self, name: &SecretName) {
        if let Err(fault) = self.secrets.remove(name).await {
            tracing::warn!(name = name.0, "A secret that is not needed stays where it is: {fault}");
        }
    }

    /// A random id of something the owner configures: short enough to type.
    fn new_id(&self) -> String {
        let mut id = uuid::Uuid::new_v4().simple().to_string();
        id.truncate(ID_CHARS);
        id
    }

    async fn keep_place(&self) -> Result<(), Fault> {
        let Some(place) = self.secrets.to_keep() else { return Ok(()) };
        let now_at = self.clock.now();
        self.write(move |tx| setting::set(tx, SETTING, &place, now_at)).await?;
        self.secrets.mark_kept();
        Ok(())
    }
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P, Fault> {
    // A method without parameters may be called without any.
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_json::from_value(params)
        .map_err(|error| invalid(format!("the parameters do not fit ({error})"), "check what was given"))
}

fn give<R: Serialize>(result: Result<R, Fault>) -> Result<Value, Fault> {
    serde_json::to_value(result?).map_err(|error| {
        Fault::new(FaultCode::Internal, "The result cannot be shown", error.to_string(), "please report this")
    })
}

fn invalid(cause: impl Into<String>, next_step: impl Into<String>) -> Fault {
    Fault::new(FaultCode::Invalid, "Nothing was changed", cause, next_step)
}

fn not_found(what: &str, name: &str, list: &str) -> Fault {
    Fault::new(
        FaultCode::NotFound,
        "Nothing was done",
        format!("there is no {what} {name:?}"),
        format!("see `ringonce {list}`"),
    )
}

#[cfg(test)]
mod tests;
