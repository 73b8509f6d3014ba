//! `ringonce route …`

use clap::Subcommand;
use ringonce_engine::api::destination::DestinationView;
use ringonce_engine::api::route::{AddParams, RouteView};
use ringonce_engine::api::view::{Id, Nothing};

use crate::cli::failure::Done;
use crate::cli::session::{Session, call, view};
use crate::cli::{Global, out, table};

#[derive(Subcommand)]
pub(crate) enum Route {
    /// Add a route; prints its id.
    Add {
        /// Your name for it.
        name: String,
        /// The destination, by id or name.
        #[arg(long, value_name = "DEST")]
        to: String,
        /// Where to tell if that fails; may be given several times.
        #[arg(long = "fallback", value_name = "DEST")]
        fallbacks: Vec<String>,
    },
    /// Every route.
    List,
    /// Remove a route; its destinations stay.
    Remove {
        /// Its id or name.
        id: String,
    },
}

pub(crate) async fn run(global: &Global, command: Route) -> Done {
    match command {
        Route::Add { name, to, fallbacks } => {
            let added = call(global, "route.add", &AddParams { name, to, fallbacks }).await?;
            if global.json { out::json(&added) } else { out::line(&view::<Id>("route.add", added)?.id) }
        }
        Route::List => list(global).await,
        Route::Remove { id } => {
            let done = call(global, "route.remove", &Id { id }).await?;
            if global.json { out::json(&done) } else { Ok(()) }
        }
    }
}

async fn list(global: &Global) -> Done {
    let mut session = Session::open(global, "route.list").await?;
    let rows = session.call("route.list", &Nothing {}).await?;
    if global.json {
        return out::json(&rows);
    }
    let destinations = session.call("destination.list", &Nothing {}).await?;
    let destinations: Vec<DestinationView> = view("destination.list", destinations)?;
    let name = |id: &String| {
        destinations.iter().find(|row| row.status.id == *id).map_or(id.clone(), |row| row.status.name.clone())
    };
    let cells = |row: RouteView| {
        let fallbacks: Vec<String> = row.fallbacks.iter().map(name).collect();
        vec![row.id, row.name, name(&row.to), fallbacks.join(", ")]
    };
    let rows: Vec<RouteView> = view("route.list", rows)?;
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    table::print(&["ID", "NAME", "TO", "FALLBACKS"], &rows)
}
