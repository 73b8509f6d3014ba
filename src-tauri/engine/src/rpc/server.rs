//! The server's side of the local socket. It runs inside one future: whoever polls that runs every client.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::api::history::WatchRow;
use crate::limits::{RPC_CALLS_MAX, RPC_CLIENTS_MAX, RPC_REQUEST_BYTES_MAX, RPC_STOP_WAIT, RPC_WRITE_WAIT};
use crate::model::error::{Fault, FaultCode};
use crate::model::happening::Happening;
use crate::model::topic::Topic;
use crate::net::local::{Listener, socket_path};
use crate::rpc::lock::DataLock;
use crate::rpc::{Answer, Event, Request};
use crate::supervise::windows::Attached;

/// Pause after a failed accept (no file descriptors left, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Listens for clients of one data folder.
pub struct Server {
    listener: Listener,
}

impl Server {
    /// Starts to listen and says so in the lock file. `data_dir` is the canonical path of the folder that is locked.
    ///
    /// # Errors
    /// `storage`, where no socket can be made.
    pub fn bind(lock: &mut DataLock, data_dir: &Path, runtime_dir: Option<&Path>) -> Result<Self, Fault> {
        let path = socket_path(data_dir, runtime_dir);
        let made = Listener::bind(&path).and_then(|listener| lock.publish(&path).map(|()| listener));
        made.map(|listener| Self { listener }).map_err(|error| {
            Fault::new(
                FaultCode::Storage,
                "Ringonce does not run",
                format!("no local socket can be made at {} ({error})", path.display()),
                "set XDG_RUNTIME_DIR to a folder of yours with a short path, or use another --data-dir",
            )
        })
    }

    /// Serves until `stop`; then calls in hand are finished, for a while.
    pub async fn serve(&self, api: &Api, stop: &CancellationToken) {
        let mut clients = FuturesUnordered::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(()) = clients.next() => {}
                accepted = self.listener.accept(), if clients.len() < RPC_CLIENTS_MAX => match accepted {
                    Ok(stream) => clients.push(serve_client(stream, api, stop)),
                    Err(error) => {
                        tracing::warn!(%error, "No client can be taken on the local socket now");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        let finish = async { while clients.next().await.is_some() {} };
        if tokio::time::timeout(RPC_STOP_WAIT, finish).await.is_err() {
            tracing::info!("Calls of clients were still in hand when the program stopped");
        }
    }
}

/// What a client asked to be told.
#[derive(Default)]
struct Subscriptions {
    topics: Option<Receiver<Topic>>,
    happened: Option<Receiver<Happening>>,
    window: Option<Attached>,
}

async fn serve_client(stream: UnixStream, api: &Api, stop: &CancellationToken) {
    let (read, mut write) = stream.into_split();
    let mut lines = FramedRead::new(read, LinesCodec::new_with_max_length(RPC_REQUEST_BYTES_MAX));
    let mut calls = FuturesUnordered::new();
    let mut told = Subscriptions::default();
    // A client that closed its side still gets its answers, and what it asked for is done even if it does not.
    let (mut reads, mut writes) = (true, true);
    while reads || !calls.is_empty() {
        let out = tokio::select! {
            biased;
            () = stop.cancelled(), if reads => {
                reads = false;
                continue;
            }
            Some(answer) = calls.next() => to_line(&answer),
            line = lines.next(), if reads && calls.len() < RPC_CALLS_MAX => match take(line) {
                Ok(Some(request)) if matches!(request.method.as_str(), "subscribe" | "watch" | "window") => {
                    to_line(&told.subscribe(&request, api))
                }
                Ok(Some(request)) => {
                    calls.push(answer(request, api));
                    continue;
                }
                Ok(None) => {
                    reads = false;
                    continue;
                }
                Err(fault) => {
                    // Where the next request would begin cannot be told.
                    reads = false;
                    to_line(&Answer { id: 0, result: None, error: Some(fault.into()) })
                }
            },
            event = told.next(), if reads => to_line(&event),
        };
        if writes && !send(&mut write, &out).await {
            (reads, writes) = (false, false);
        }
    }
    if writes && told.window.is_some() && stop.is_cancelled() {
        send(&mut write, &to_line(&Event::Bye)).await;
    }
}

/// The request on a line; `None`: there are no more; the error: the line is none.
fn take(line: Option<Result<String, LinesCodecError>>) -> Result<Option<Request>, Fault> {
    let cause = match line {
        None | Some(Err(LinesCodecError::Io(_))) => return Ok(None),
        Some(Ok(line)) => match serde_json::from_str(&line) {
            Ok(request) => return Ok(Some(request)),
            Err(error) => format!("a request could not be read ({error})"),
        },
        Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
            format!("a request is longer than {RPC_REQUEST_BYTES_MAX} bytes")
        }
    };
    Err(Fault::new(FaultCode::Invalid, "Nothing was done", cause, "use programs of one version together"))
}

async fn answer(request: Request, api: &Api) -> Answer {
    let Request { id, method, params } = request;
    let done = AssertUnwindSafe(api.call(&method, params)).catch_unwind().await;
    let result = done.unwrap_or_else(|_| {
        tracing::error!(method, "A call ended in a panic");
        Err(Fault::new(
            FaultCode::Internal,
            "It is not known whether this was done",
            "a bug in Ringonce",
            "please report this",
        ))
    });
    match result {
        Ok(result) => Answer { id, result: Some(result), error: None },
        Err(fault) => Answer { id, result: None, error: Some(fault.into()) },
    }
}

impl Subscriptions {
    fn subscribe(&mut self, request: &Request, api: &Api) -> Answer {
        let (Some(kernel), Some(live)) = (api.running(), api.live()) else {
            let fault = Fault::new(FaultCode::Internal, "Nothing is told", "no engine runs", "please report this");
            return Answer { id: request.id, result: None, error: Some(fault.into()) };
        };
        let mut result = serde_json::json!({});
        match request.method.as_str() {
            "watch" => self.happened = Some(kernel.happened.subscribe()),
            "window" => {
                self.window = self.window.take().or_else(|| live.windows().attach());
                result = serde_json::json!({ "first": self.window.is_some() });
            }
            _ => self.topics = Some(kernel.topics.subscribe()),
        }
        Answer { id: request.id, result: Some(result), error: None }
    }

    /// The next event; never, where nothing was asked for.
    async fn next(&mut self) -> Event {
        let Self { topics, happened, window } = self;
        tokio::select! {
            topics = changed(topics) => Event::Changed { topics },
            event = row(happened) => event,
            event = asked(window) => event,
        }
    }
}

/// What changed since, each topic once.
async fn changed(topics: &mut Option<Receiver<Topic>>) -> Vec<String> {
    let Some(receiver) = topics else { return std::future::pending().await };
    let all = || Topic::ALL.into_iter().collect::<BTreeSet<Topic>>();
    let mut found = match receiver.recv().await {
        Ok(topic) => BTreeSet::from([topic]),
        Err(RecvError::Lagged(_)) => all(),
        Err(RecvError::Closed) => return std::future::pending().await,
    };
    loop {
        match receiver.try_recv() {
            Ok(topic) => {
                found.insert(topic);
            }
            Err(TryRecvError::Lagged(_)) => found = all(),
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
    found.into_iter().map(|topic| topic.as_str().to_owned()).collect()
}

async fn asked(window: &mut Option<Attached>) -> Event {
    match window {
        Some(window) => Event::Open { place: window.asked().await },
        None => std::future::pending().await,
    }
}

async fn row(happened: &mut Option<Receiver<Happening>>) -> Event {
    let Some(receiver) = happened else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(row) => Event::Watch { row: serde_json::to_value(WatchRow::from(row)).unwrap_or_default() },
        Err(RecvError::Lagged(count)) => Event::Missed { count },
        Err(RecvError::Closed) => std::future::pending().await,
    }
}

fn to_line(value: &impl serde::Serialize) -> Vec<u8> {
    // Views are made of texts, numbers and lists: they always have a JSON form.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

async fn send(write: &mut OwnedWriteHalf, line: &[u8]) -> bool {
    matches!(tokio::time::timeout(RPC_WRITE_WAIT, write.write_all(line)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

    use super::*;
    use crate::clock::Clock;
    use crate::kernel::Kernel;
    use crate::model::happening;
    use crate::rpc::client::Client;
    use crate::rpc::lock::{Holder, Taken};
    use crate::rpc::reach::{Reach, own, reach};
    use crate::secret::kept::KeptSecrets;
    use crate::store::Store;
    use crate::supervise::live::Live;

    const LIMIT: Duration = Duration::from_secs(10);

    struct Running {
        folder: tempfile::TempDir,
        lock: DataLock,
        api: Api,
        server: Server,
    }

    fn start() -> Running {
        let folder = tempfile::tempdir().unwrap();
        let Taken::Ours(mut lock) = DataLock::try_take(folder.path()).unwrap() else { panic!("nobody holds it") };
        let server = Server::bind(&mut lock, folder.path(), None).unwrap();
        let store = Store::open(folder.path(), 1).unwrap();
        let kernel = Kernel::new(store, Clock::system());
        let api = Api::new(kernel, Arc::new(KeptSecrets::in_memory()), Some(Live::default()));
        Running { folder, lock, api, server }
    }

    /// Runs a client's side while the server serves it.
    async fn with_server(running: &Running, client: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let both = async {
            tokio::join!(running.server.serve(&running.api, &stop), async {
                client.await;
                stop.cancel();
            })
        };
        tokio::time::timeout(LIMIT, both).await.expect("the server ends once it is told to and its clients are done");
    }

    #[tokio::test]
    async fn a_command_finds_the_running_program_and_a_second_one_is_refused() {
        let running = start();
        with_server(&running, async {
            let Ok(Reach::Running(mut client)) = reach(running.folder.path()).await else { panic!("it runs") };
            let status = client.call("status.get", json!({})).await.unwrap();
            assert_eq!(status["running"], true, "{status}");
            let set = json!({"key": "processing.max_attempts", "value": "7"});
            assert_eq!(client.call("settings.set", set).await.unwrap()["value"], "7");
            let fault = client.call("settings.set", json!({"key": "x", "value": "7"})).await.unwrap_err();
            assert_eq!((fault.code, fault.next_step.as_str()), (FaultCode::NotFound, "see `ringonce settings list`"));
            let fault = client.call("no.such", json!({})).await.unwrap_err();
            assert_eq!(fault.code, FaultCode::NotFound, "{fault}");
            let fault = client.call("settings.get", json!({"key": "x", "more": 1})).await.unwrap_err();
            assert_eq!(fault.code, FaultCode::Invalid, "unknown parameters are refused: {fault}");
            let fault = own(running.folder.path()).await.unwrap_err();
            assert!(fault.cause.contains(&format!("process {}", std::process::id())), "{fault}");
        })
        .await;
        let Running { folder, lock, server, .. } = running;
        drop((server, lock));
        assert_eq!(Holder::read(folder.path()), Holder::default());
        assert!(matches!(reach(folder.path()).await, Ok(Reach::Ours(_))), "once it is gone a command works by itself");
    }

    #[tokio::test]
    async fn a_listener_is_told_each_topic_once_and_what_happens() {
        let running = start();
        with_server(&running, async {
            let path = Holder::read(running.folder.path()).socket.unwrap();
            let mut client = Client::connect(&path).await.unwrap();
            for method in ["subscribe", "watch"] {
                client.call(method, json!({})).await.unwrap();
            }
            let kernel = running.api.running().unwrap();
            kernel.changed(&[Topic::Status, Topic::History, Topic::Status]);
            let event = client.event(LIMIT).await.unwrap();
            assert_eq!(event, Some(Event::Changed { topics: vec!["status".to_owned(), "history".to_owned()] }));
            let happening = Happening {
                event: happening::Event::Ring,
                message_key: Some("k".into()),
                subject: "s".to_owned(),
                reason: "r".to_owned(),
                at: 0,
            };
            kernel.happened(happening.clone());
            let event = client.event(LIMIT).await.unwrap();
            let row = serde_json::to_value(WatchRow::from(happening)).unwrap();
            assert_eq!(event, Some(Event::Watch { row }));
            assert_eq!(client.event(Duration::from_millis(1)).await.unwrap(), None, "and nothing else");
            // Between events, a call is still answered.
            kernel.changed(&[Topic::Rules]);
            assert!(client.call("settings.list", json!({})).await.is_ok());
        })
        .await;
    }

    #[tokio::test]
    async fn a_window_is_raised_and_told_of_the_end() {
        let running = start();
        let path = Holder::read(running.folder.path()).socket.unwrap();
        let mut window = Client::connect(&path).await.unwrap();
        with_server(&running, async {
            let fault = window.call("window.open", json!({})).await.unwrap_err();
            assert!(fault.cause.contains("without a screen"), "nobody could start one: {fault}");
            for time in ["first", "again"] {
                assert_eq!(window.call("window", json!({})).await.unwrap(), json!({"first": true}), "{time}");
            }
            let mut second = Client::connect(&path).await.unwrap();
            assert_eq!(second.call("window", json!({})).await.unwrap(), json!({"first": false}));
            second.call("window.open", json!({"place": "#/attention"})).await.unwrap();
            let event = window.event(LIMIT).await.unwrap();
            assert_eq!(event, Some(Event::Open { place: Some("#/attention".to_owned()) }));
            let fault = second.call("window.open", json!({"place": "javascript:"})).await.unwrap_err();
            assert_eq!(fault.code, FaultCode::Invalid, "{fault}");
            let mut third = Client::connect(&path).await.unwrap();
            third.call("status.get", json!({})).await.unwrap();
        })
        .await;
        assert_eq!(window.event(LIMIT).await.unwrap(), Some(Event::Bye), "it stopped on purpose");
        let free = running.api.live().unwrap().windows().attach();
        assert!(free.is_some(), "whoever is gone is the window no more");
    }

    #[tokio::test]
    async fn bad_lines_and_half_closed_clients_harm_nobody() {
        let running = start();
        with_server(&running, async {
            let path = Holder::read(running.folder.path()).socket.unwrap();
            let answer = async |sent: &[u8]| {
                let stream = crate::net::local::connect(&path).await.unwrap();
                let (read, mut write) = stream.into_split();
                // The server may close on a line that is too long before all of it is sent.
                let _ = write.write_all(sent).await;
                drop(write);
                let mut line = String::new();
                let mut read = BufReader::new(read);
                read.read_line(&mut line).await.unwrap();
                let mut rest = String::new();
                read.read_to_string(&mut rest).await.unwrap();
                assert_eq!(rest, "", "nothing follows");
                line
            };
            let good = answer(b"{\"id\": 7, \"method\": \"settings.list\"}\n").await;
            assert!(good.starts_with("{\"id\":7,\"result\":["), "answered though its side is closed: {good}");
            let bad = answer(b"{\"id\": 7}\n").await;
            assert!(bad.contains("\"invalid\"") && bad.contains("method"), "{bad}");
            assert!(answer(b"\xff\xfe\n").await.is_empty(), "not even text: closed");
            let long = vec![b'x'; RPC_REQUEST_BYTES_MAX + 10];
            assert!(answer(&long).await.contains("longer than"), "a line without end is cut off");
            assert!(answer(b"").await.is_empty());
        })
        .await;
    }
}
