//! A scripted HTTP peer: does to each request what the test says, and records all of them.
//!
//! What it is, a webhook's receiver or ntfy, is an [`App`]; what goes wrong on the way is a [`Mode`].

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::support::http::{Answer, Line, Request};
use crate::support::relay::linger_none;
use crate::support::tls::Issued;
use crate::support::wait;

/// What a peer does with requests that arrive whole.
pub trait App: Send + 'static {
    /// Takes the request for good and says what it would answer.
    fn take(&mut self, request: &Request) -> Answer;

    /// A request that only reads: it follows the script of reads.
    fn is_read(&self, request: &Request) -> bool {
        request.method == "GET"
    }
}

/// What happens to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Taken and answered.
    Accept,
    /// Taken; the answer is a success without the id.
    AcceptNoId,
    /// Taken; the answer is a success that is no JSON.
    AcceptBadJson,
    /// Taken; the line is closed without an answer.
    AcceptThenClose,
    /// Taken; the line is reset without an answer.
    AcceptThenReset,
    /// Taken; nothing is answered, and the line stays open.
    AcceptThenHang,
    /// Taken; the answer breaks off in the middle of its body.
    AcceptThenCut,
    /// Taken and answered; then the line is closed without a word about it.
    AcceptThenEnd,
    /// Taken at once, answered later.
    AcceptAnswerAfter(Duration),
    /// The line is closed at once; it is taken later.
    CloseThenAcceptAfter(Duration),
    /// Not taken; the line is closed.
    Close,
    /// Not taken; the line is reset.
    Reset,
    /// Not taken, not answered; the line stays open.
    Hang,
    /// Not taken; answered so.
    Answer(Answer),
}

impl Mode {
    /// Not taken; a status without a body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::Answer(Answer::status(status))
    }

    /// Not taken; a status with `Retry-After`.
    #[must_use]
    pub fn retry_after(status: u16, seconds: u64) -> Self {
        Self::Answer(Answer::status(status).header("Retry-After", seconds))
    }

    /// What becomes of the line.
    fn after(&self) -> After {
        match self {
            Self::AcceptThenReset | Self::Reset => After::Reset,
            Self::AcceptThenClose
            | Self::AcceptThenHang
            | Self::AcceptThenCut
            | Self::AcceptThenEnd
            | Self::CloseThenAcceptAfter(_)
            | Self::Close
            | Self::Hang => After::Closed,
            Self::Accept | Self::AcceptNoId | Self::AcceptBadJson | Self::AcceptAnswerAfter(_) | Self::Answer(_) => {
                After::Goes
            }
        }
    }

    /// A page of somebody else: a captive portal.
    #[must_use]
    pub fn portal() -> Self {
        Self::Answer(
            Answer::status(200).header("Content-Type", "text/html").body("<html>Welcome to our network</html>"),
        )
    }
}

/// What becomes of a line after a request.
enum After {
    /// It takes the next one.
    Goes,
    /// It is closed.
    Closed,
    /// It is reset.
    Reset,
}

/// A peer that listens on loopback until it is dropped.
pub struct HttpPeer<A: App> {
    /// Its port.
    pub port: u16,
    core: Arc<Core<A>>,
    listener: Option<JoinHandle<()>>,
}

struct Core<A> {
    app: Mutex<A>,
    script: Mutex<Script>,
    requests: Mutex<Vec<Request>>,
    open: Mutex<HashMap<usize, TcpStream>>,
    connections: Mutex<usize>,
    stop: AtomicBool,
    tls: Option<Arc<ServerConfig>>,
}

struct Script {
    next: VecDeque<Mode>,
    then: Mode,
    next_reads: VecDeque<Mode>,
    then_reads: Mode,
    close_on_connect: bool,
}

impl<A: App> HttpPeer<A> {
    /// Starts one without TLS.
    #[must_use]
    pub fn start(app: A) -> Self {
        Self::start_with(app, None)
    }

    /// Starts one inside TLS.
    #[must_use]
    pub fn start_tls(app: A, issued: &Issued) -> Self {
        Self::start_with(app, Some(issued.server_config()))
    }

    fn start_with(app: A, tls: Option<Arc<ServerConfig>>) -> Self {
        let script = Script {
            next: VecDeque::new(),
            then: Mode::Accept,
            next_reads: VecDeque::new(),
            then_reads: Mode::Accept,
            close_on_connect: false,
        };
        let core = Arc::new(Core {
            app: Mutex::new(app),
            script: Mutex::new(script),
            requests: Mutex::default(),
            open: Mutex::default(),
            connections: Mutex::default(),
            stop: AtomicBool::new(false),
            tls,
        });
        let mut peer = Self { port: 0, core, listener: None };
        peer.up();
        peer
    }

    /// Its URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.core.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// What happens to each request that writes, from now on.
    pub fn set(&self, mode: Mode) {
        let mut script = self.core.script();
        script.next.clear();
        script.then = mode;
    }

    /// What happens to the next requests that write, in order; then what [`set`](Self::set) said.
    pub fn next(&self, modes: impl IntoIterator<Item = Mode>) {
        self.core.script().next.extend(modes);
    }

    /// What happens to each request that reads, from now on.
    pub fn set_reads(&self, mode: Mode) {
        let mut script = self.core.script();
        script.next_reads.clear();
        script.then_reads = mode;
    }

    /// What happens to the next requests that read, in order.
    pub fn next_reads(&self, modes: impl IntoIterator<Item = Mode>) {
        self.core.script().next_reads.extend(modes);
    }

    /// Each connection is closed before a byte is read, or no longer.
    pub fn close_on_connect(&self, yes: bool) {
        self.core.script().close_on_connect = yes;
    }

    /// Stops listening and resets every connection: connecting is refused.
    pub fn down(&mut self) {
        self.core.stop.store(true, Ordering::SeqCst);
        // Wakes the listener; where it is gone already, nothing is to be woken.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(listener) = self.listener.take() {
            listener.join().expect("the listener does not panic");
        }
        for (_, socket) in self.core.open().drain() {
            linger_none(&socket);
            // Wakes the thread that reads; it lets go of the socket, and the close is an RST.
            drop(socket.shutdown(Shutdown::Read));
        }
    }

    /// Listens again on the same port.
    pub fn up(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).expect("the port is still ours");
        self.port = listener.local_addr().expect("it is bound").port();
        self.core.stop.store(false, Ordering::SeqCst);
        let core = Arc::clone(&self.core);
        self.listener = Some(thread::spawn(move || core.listen(&listener)));
    }

    /// The app, to look into or to set.
    pub fn app(&self) -> MutexGuard<'_, A> {
        self.core.app.lock().expect("no panic while held")
    }

    /// Every request so far, reads included.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.core.requests.lock().expect("no panic while held").clone()
    }

    /// Requests so far that write.
    #[must_use]
    pub fn writes(&self) -> Vec<Request> {
        let requests = self.requests();
        let app = self.app();
        requests.into_iter().filter(|request| !app.is_read(request)).collect()
    }

    /// Waits until that many requests that write have come.
    #[track_caller]
    pub fn wait_writes(&self, count: usize, limit: Duration) -> Vec<Request> {
        wait::until(&format!("the peer had {count} requests"), limit, || self.writes().len() >= count);
        self.writes()
    }

    /// Connections made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        *self.core.connections.lock().expect("no panic while held")
    }
}

impl<A: App> Drop for HttpPeer<A> {
    fn drop(&mut self) {
        self.down();
    }
}

impl<A: App> Core<A> {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no panic while held")
    }

    fn open(&self) -> MutexGuard<'_, HashMap<usize, TcpStream>> {
        self.open.lock().expect("no panic while held")
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((socket, _)) = listener.accept() {
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            let number = {
                let mut connections = self.connections.lock().expect("no panic while held");
                *connections += 1;
                *connections
            };
            let core = Arc::clone(self);
            thread::spawn(move || {
                // A broken line is what these tests are about; the client's side is what they look at.
                drop(core.serve(socket, number));
                core.open().remove(&number);
            });
        }
    }

    fn serve(&self, socket: TcpStream, number: usize) -> io::Result<()> {
        if self.script().close_on_connect {
            return Ok(());
        }
        socket.set_nodelay(true)?;
        self.open().insert(number, socket.try_clone()?);
        let line = match &self.tls {
            None => Line::Plain(socket),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                Line::Tls(Box::new(StreamOwned::new(session, socket)))
            }
        };
        let mut line = BufReader::new(line);
        while let Some(request) = Request::read(&mut line, number)? {
            let mode = self.mode_of(&request);
            self.requests.lock().expect("no panic while held").push(request.clone());
            match self.act(&mode, &request, line.get_mut())? {
                After::Goes => {}
                After::Closed => return line.get_ref().socket().shutdown(Shutdown::Both),
                After::Reset => {
                    linger_none(line.get_ref().socket());
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn mode_of(&self, request: &Request) -> Mode {
        let is_read = self.app.lock().expect("no panic while held").is_read(request);
        let mut script = self.script();
        let next = if is_read { script.next_reads.pop_front() } else { script.next.pop_front() };
        next.unwrap_or_else(|| if is_read { script.then_reads.clone() } else { script.then.clone() })
    }

    fn take(&self, request: &Request) -> Answer {
        self.app.lock().expect("no panic while held").take(request)
    }

    /// Does it.
    fn act(&self, mode: &Mode, request: &Request, line: &mut Line) -> io::Result<After> {
        match mode {
            Mode::Accept => line.write_all(&self.take(request).to_bytes())?,
            Mode::AcceptNoId => {
                self.take(request);
                line.write_all(&Answer::json(200, &json!({"status": "ok"})).to_bytes())?;
            }
            Mode::AcceptBadJson => {
                self.take(request);
                let answer = Answer::status(200).header("Content-Type", "application/json").body("{\"id\": ");
                line.write_all(&answer.to_bytes())?;
            }
            Mode::AcceptThenCut => {
                let bytes = self.take(request).to_bytes();
                line.write_all(&bytes[..bytes.len() - 3])?;
            }
            Mode::AcceptThenEnd => line.write_all(&self.take(request).to_bytes())?,
            Mode::AcceptAnswerAfter(pause) => {
                let answer = self.take(request);
                thread::sleep(*pause);
                line.write_all(&answer.to_bytes())?;
            }
            Mode::CloseThenAcceptAfter(pause) => {
                line.socket().shutdown(Shutdown::Both)?;
                thread::sleep(*pause);
                self.take(request);
            }
            Mode::AcceptThenClose | Mode::AcceptThenReset => drop(self.take(request)),
            Mode::AcceptThenHang => {
                self.take(request);
                hang(line)?;
            }
            Mode::Hang => hang(line)?,
            Mode::Close | Mode::Reset => {}
            Mode::Answer(answer) => line.write_all(&answer.to_bytes())?,
        }
        line.flush()?;
        Ok(mode.after())
    }
}

/// Stays silent until the client goes, or the peer does.
fn hang(line: &mut Line) -> io::Result<()> {
    let mut byte = [0];
    while line.read(&mut byte)? > 0 {}
    Ok(())
}
