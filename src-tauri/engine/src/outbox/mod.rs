//! The outbox: claims due notifications, calls their channels, settles what came of it. It applies no rules.

pub mod call;
pub mod expire;
pub mod lane;
pub mod lanes;
mod moves;
pub mod reconcile;
pub mod rescue;
pub mod route;
pub mod settle;
pub mod status;
pub mod sweep;

use crate::channel;
use crate::model::destination::Destination;
use crate::model::settings::Settings;
use crate::outbox::status::Facts;

/// The machine's view of a destination.
fn facts<'a>(destination: &Destination, any_unknown: bool, settings: &'a Settings, now_at: i64) -> Facts<'a> {
    let class = channel::class(&destination.kind, &destination.fields);
    Facts { class, policy: destination.policy, any_unknown, settings, now_at, random: fastrand::f64() }
}
