//! The way of a command to the data: through the running program, or by itself.

use std::path::PathBuf;

use ringonce_engine::api::Api;
use ringonce_engine::api::methods::{Access, find};
use ringonce_engine::api::settings::SecretsParams;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::client::Client;
use ringonce_engine::rpc::lock::{DataLock, default_data_dir, prepare};
use ringonce_engine::rpc::reach::{Reach, reach, running};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::Global;

/// A way to call methods of `api`.
pub(crate) struct Session {
    way: Way,
}

enum Way {
    /// A program runs on the data folder.
    Running(Client),
    /// Nobody does; the lock keeps it so while we write.
    Alone { api: Box<Api>, _lock: Option<DataLock> },
}

impl Session {
    /// Opens the way that a method needs.
    pub(crate) async fn open(global: &Global, method: &str) -> Result<Self, Fault> {
        let access = find(method).map_or(Access::Write, |method| method.access);
        let data_dir = prepare(&data_dir(global)?)?;
        let way = match access {
            Access::Read => match running(&data_dir).await {
                Some(client) => Some(Way::Running(client)),
                None => look(&data_dir, global).await?,
            },
            Access::Write => None,
        };
        let way = match way {
            Some(way) => way,
            None => match reach(&data_dir).await? {
                Reach::Running(client) => Way::Running(client),
                Reach::Ours(lock) => {
                    let api = Api::open(&data_dir, global.secrets.as_ref()).await?;
                    Way::Alone { api: Box::new(api), _lock: Some(lock) }
                }
            },
        };
        let mut session = Self { way };
        if let Some(choice) = &global.secrets {
            let params = SecretsParams { choice: choice.to_string() };
            session.call("settings.secrets", &params).await?;
        }
        Ok(session)
    }

    /// Calls a method.
    pub(crate) async fn call(&mut self, method: &str, params: &impl Serialize) -> Result<Value, Fault> {
        let params = serde_json::to_value(params).map_err(|error| unexpected(method, &error))?;
        match &mut self.way {
            Way::Running(client) => client.call(method, params).await,
            Way::Alone { api, .. } => api.call(method, params).await,
        }
    }

    /// The running program, to be told what happens.
    pub(crate) fn into_client(self) -> Option<Client> {
        match self.way {
            Way::Running(client) => Some(client),
            Way::Alone { .. } => None,
        }
    }
}

/// Opens the way, calls one method, and closes it.
pub(crate) async fn call(global: &Global, method: &str, params: &impl Serialize) -> Result<Value, Fault> {
    Session::open(global, method).await?.call(method, params).await
}

/// A result as the view it is.
pub(crate) fn view<T: DeserializeOwned>(method: &str, value: Value) -> Result<T, Fault> {
    serde_json::from_value(value).map_err(|error| unexpected(method, &error))
}

/// The data folder, as given or the platform's.
pub(crate) fn data_dir(global: &Global) -> Result<PathBuf, Fault> {
    global.data_dir.clone().map_or_else(default_data_dir, Ok)
}

/// `None`: there is nothing to look at yet, or it has to be brought up to date first.
async fn look(data_dir: &std::path::Path, global: &Global) -> Result<Option<Way>, Fault> {
    match Api::look(data_dir, global.secrets.as_ref()).await {
        Ok(api) => Ok(api.map(|api| Way::Alone { api: Box::new(api), _lock: None })),
        Err(fault) if fault.code == FaultCode::Busy => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn unexpected(method: &str, error: &serde_json::Error) -> Fault {
    Fault::new(
        FaultCode::Protocol,
        "The answer cannot be shown",
        format!("{method} gave something else than expected ({error})"),
        "use programs of one version together",
    )
}
