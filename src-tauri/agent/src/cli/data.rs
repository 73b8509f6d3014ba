//! `ringonce verify`, `prune`

use ringonce_engine::api::data::{Pruned, Verified};
use ringonce_engine::api::view::Nothing;

use crate::cli::failure::{Done, Failure};
use crate::cli::session::{call, view};
use crate::cli::{Global, out, words};

pub(crate) async fn verify(global: &Global) -> Done {
    let found = call(global, "data.verify", &Nothing {}).await?;
    let verified: Verified = view("data.verify", found.clone())?;
    if global.json {
        out::json(&found)?;
    } else if verified.ok {
        out::line(&format!("Sound: {} checks.", verified.checks))?;
    } else {
        for broken in &verified.broken {
            let examples = words::one_line(&broken.examples.join(", "));
            out::line(&format!("Broken: {} ({} times): {examples}", broken.invariant, broken.count))?;
        }
    }
    if verified.ok { Ok(()) } else { Err(Failure::Found) }
}

pub(crate) async fn prune(global: &Global) -> Done {
    let done = call(global, "data.prune", &Nothing {}).await?;
    if global.json {
        return out::json(&done);
    }
    let Pruned { emptied, forgotten } = view("data.prune", done)?;
    out::line(&format!("{emptied} mails emptied, {forgotten} forgotten."))
}
