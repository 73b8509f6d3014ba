//! The template of a mailbox's links, as the owner gives it.

use crate::api::invalid;
use crate::model::error::Fault;
use crate::model::link::check_template;

/// A template as it is kept; the outer `None`: nothing was given, the inner one: none is wanted.
///
/// # Errors
/// `invalid`, with what would fit.
pub(super) fn check(given: Option<&str>) -> Result<Option<Option<String>>, Fault> {
    let Some(template) = given.map(str::trim) else { return Ok(None) };
    if template.is_empty() {
        return Ok(Some(None));
    }
    check_template(template).map_err(|wanted| {
        invalid(format!("{template:?} cannot be the link of a mailbox"), format!("give --link-template {wanted}"))
    })?;
    Ok(Some(Some(template.to_owned())))
}
