//! Addresses that belong into the owner's browser or mail program.

use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::model::link;

/// Opens a link with what the owner chose for it. It is started without a shell, and not waited for.
///
/// # Errors
/// `invalid` for what is no link that may be opened; `unreachable`, where nothing opens it.
pub(crate) fn open(text: &str) -> Result<(), Fault> {
    let refused = |code, cause: String, next_step| Fault::new(code, "The page was not opened", cause, next_step);
    let url = link::parse(text).ok_or_else(|| {
        refused(FaultCode::Invalid, "the address is not one to be opened".to_owned(), "please report this".to_owned())
    })?;
    open::that_detached(url.as_str()).map_err(|error| {
        refused(
            FaultCode::Unreachable,
            format!("no program could be started for it ({error})"),
            format!("open {url} yourself"),
        )
    })
}
