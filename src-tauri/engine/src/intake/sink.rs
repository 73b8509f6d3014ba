//! The way in for sources: what they report goes through intake, what they ask is looked up.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::intake;
use crate::kernel::Kernel;
use crate::model::ids::{AccountId, DeliveryKey};
use crate::model::mailbox::FolderCursor;
use crate::model::sighting::Report;
use crate::source::{Found, NotStored, Sink};
use crate::store::table::{delivery, folder};

impl Sink for Kernel {
    fn report(&self, report: Report) -> BoxFuture<'_, Result<Vec<Found>, NotStored>> {
        async move {
            let taken = intake::take_in(self, report).await.map_err(|error| NotStored(error.to_string()))?;
            let found = taken.into_iter().map(|one| Found {
                verdict: one.verdict,
                message_key: one.message_key,
                awaits_mail: one.awaits_mail,
            });
            Ok(found.collect())
        }
        .boxed()
    }

    fn cursor<'a>(
        &'a self,
        account_id: &'a AccountId,
        folder: &'a str,
    ) -> BoxFuture<'a, Result<Option<FolderCursor>, NotStored>> {
        let (account_id, folder) = (account_id.clone(), folder.to_owned());
        let query = self.store.read(move |read| folder::get(read, &account_id, &folder));
        async move { query.await.map_err(|error| NotStored(error.to_string())) }.boxed()
    }

    fn known<'a>(&'a self, deliveries: &'a [DeliveryKey]) -> BoxFuture<'a, Result<Vec<bool>, NotStored>> {
        let deliveries = deliveries.to_vec();
        let query = self.store.read(move |read| deliveries.iter().map(|key| delivery::exists(read, key)).collect());
        async move { query.await.map_err(|error| NotStored(error.to_string())) }.boxed()
    }
}
