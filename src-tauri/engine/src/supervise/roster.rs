//! A roster: what should run by name, and what does. A changed one is stopped, awaited and started anew, so that
//! there is never a second one of a name.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A part that is asked to stop may take this long; then it is ended, and awaited.
const STOP_WAIT: Duration = Duration::from_secs(35);

/// Parts of one kind.
pub struct Roster<Spec> {
    running: BTreeMap<String, Part<Spec>>,
}

struct Part<Spec> {
    spec: Spec,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl<Spec> Default for Roster<Spec> {
    fn default() -> Self {
        Self { running: BTreeMap::new() }
    }
}

impl<Spec: PartialEq + Clone> Roster<Spec> {
    /// Brings what runs in line with what should.
    pub async fn update<F, R>(&mut self, wanted: BTreeMap<String, Spec>, start: F)
    where
        F: Fn(&Spec, CancellationToken) -> R,
        R: Future<Output = ()> + Send + 'static,
    {
        let is_wanted = |name: &String, part: &Part<Spec>| wanted.get(name) == Some(&part.spec);
        let names: Vec<String> =
            self.running.iter().filter(|(name, part)| !is_wanted(name, part)).map(|(name, _)| name.clone()).collect();
        let leaving: Vec<Part<Spec>> = names.iter().filter_map(|name| self.running.remove(name)).collect();
        end_all(leaving).await;
        for (name, spec) in wanted {
            if self.running.contains_key(&name) {
                continue;
            }
            let stop = CancellationToken::new();
            let task = tokio::spawn(start(&spec, stop.clone()));
            self.running.insert(name, Part { spec, stop, task });
        }
    }

    /// Stops everything, each finishing the call in hand.
    pub async fn end(&mut self) {
        end_all(std::mem::take(&mut self.running).into_values().collect()).await;
    }
}

async fn end_all<Spec>(parts: Vec<Part<Spec>>) {
    for part in &parts {
        part.stop.cancel();
    }
    for part in parts {
        end(part.task).await;
    }
}

/// Waits for a task that was asked to stop, ends it if it does not, and waits for that too.
pub async fn end(mut task: JoinHandle<()>) {
    if tokio::time::timeout(STOP_WAIT, &mut task).await.is_err() {
        task.abort();
        let _ = task.await;
    }
}
