//! `ringonce settings …`

use clap::Subcommand;
use ringonce_engine::api::settings::{GetParams, SetParams, SettingView};
use ringonce_engine::api::view::Nothing;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::{Global, out, table};

#[derive(Subcommand)]
pub(crate) enum Settings {
    /// Every setting with its value.
    List,
    /// Print the value of a setting.
    Get {
        /// Its name.
        key: String,
    },
    /// Change a setting.
    Set {
        /// Its name.
        key: String,
        /// Its new value; lists are comma-separated.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

pub(crate) async fn run(global: &Global, command: Settings) -> Done {
    match command {
        Settings::List => list(global).await,
        Settings::Get { key } => {
            let row = call(global, "settings.get", &GetParams { key }).await?;
            if global.json { out::json(&row) } else { out::line(&view::<SettingView>("settings.get", row)?.value) }
        }
        Settings::Set { key, value } => {
            let row = call(global, "settings.set", &SetParams { key, value }).await?;
            if global.json { out::json(&row) } else { Ok(()) }
        }
    }
}

async fn list(global: &Global) -> Done {
    let rows = call(global, "settings.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let rows: Vec<SettingView> = view("settings.list", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| vec![row.key, row.value, row.default]).collect();
    table::print(&["SETTING", "VALUE", "DEFAULT"], &rows)
}
