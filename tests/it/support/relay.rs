//! A TCP relay in front of a server: notes the moment a line passes, and breaks the line in every way a network does.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::wait;

/// Between two looks at the state, while nothing passes.
const PAUSE: Duration = Duration::from_millis(2);
/// What is noted when it passes to the client.
const NOTED: &[u8] = b" EXISTS\r\n";

/// What it does with what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// Passes it on at once.
    Pass,
    /// Passes each piece on after this long, both ways.
    Delay(Duration),
    /// Keeps everything, both ways, as a half-open connection does; new connections are taken and stay silent.
    Blackhole,
    /// Resets new connections; old ones pass.
    Refuse,
    /// To the client: this many bytes at a time, with this pause after each.
    Drip(usize, Duration),
}

/// A relay on loopback, until it is dropped.
pub struct Relay {
    /// Where the client connects.
    pub port: u16,
    core: Arc<Core>,
    listener: Option<JoinHandle<()>>,
}

struct Core {
    target: u16,
    state: Mutex<State>,
    stop: AtomicBool,
}

struct State {
    passing: Passing,
    /// Reset each line after this many more bytes to the client.
    cut_after: Option<usize>,
    /// Reset each line before this goes to the client.
    reset_at: Option<Vec<u8>>,
    live: Vec<Arc<Pair>>,
    connections: usize,
    noted: Vec<Instant>,
}

/// One connection through the relay. The sockets close when the last holder drops it.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// It ends by RST: nothing polite is sent any more.
    was_reset: AtomicBool,
    /// Its own, where it has one.
    passing: Mutex<Option<Passing>>,
    ends: AtomicUsize,
}

impl Relay {
    /// In front of a loopback port.
    #[must_use]
    pub fn start(target: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let state = State {
            passing: Passing::Pass,
            cut_after: None,
            reset_at: None,
            live: Vec::new(),
            connections: 0,
            noted: Vec::new(),
        };
        let core = Arc::new(Core { target, state: Mutex::new(state), stop: AtomicBool::new(false) });
        let thread_core = Arc::clone(&core);
        let listener = thread::spawn(move || thread_core.listen(&listener));
        Self { port, core, listener: Some(listener) }
    }

    /// What happens to what passes from now on.
    pub fn set(&self, passing: Passing) {
        self.core.state().passing = passing;
    }

    /// What happens to what passes on the lines there are now; new ones pass.
    pub fn set_old(&self, passing: Passing) {
        for pair in &self.core.state().live {
            *pair.passing.lock().expect("no panic while held") = Some(passing);
        }
    }

    /// Resets the next line that carries more than this many further bytes to the client; once.
    pub fn cut_after(&self, bytes: usize) {
        self.core.state().cut_after = Some(bytes);
    }

    /// Resets each line that is about to carry these words to the client, within one piece.
    pub fn reset_at(&self, words: &str) {
        self.core.state().reset_at = Some(words.into());
    }

    /// Ends every line by RST, to both sides.
    pub fn reset(&self) {
        self.core.state().live.drain(..).for_each(|pair| pair.reset());
    }

    /// Ends every line politely.
    pub fn close(&self) {
        for pair in self.core.state().live.drain(..) {
            // One that is gone already is closed.
            drop(pair.client.shutdown(Shutdown::Both));
            drop(pair.server.shutdown(Shutdown::Both));
        }
    }

    /// Connections made so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.core.state().connections
    }

    /// When each line `… EXISTS` went to the client, so far.
    #[must_use]
    pub fn exists(&self) -> Vec<Instant> {
        self.core.state().noted.clone()
    }

    /// Waits until that many have gone.
    #[track_caller]
    pub fn wait_exists(&self, count: usize, limit: Duration) -> Vec<Instant> {
        wait::until(&format!("{count} EXISTS lines passed"), limit, || self.exists().len() >= count);
        self.exists()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.core.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
        self.close();
    }
}

impl Core {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while held")
    }

    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((client, _)) = listener.accept() {
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            if self.state().passing == Passing::Refuse {
                linger_none(&client);
                continue;
            }
            // A server that is down looks to the client as one behind a relay does: the line ends at once.
            drop(self.join(client));
        }
    }

    fn join(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.target))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (was_reset, passing, ends) = (AtomicBool::new(false), Mutex::new(None), AtomicUsize::new(0));
        let pair = Arc::new(Pair { client, server, was_reset, passing, ends });
        {
            let mut state = self.state();
            state.connections += 1;
            state.live.push(Arc::clone(&pair));
        }
        for to_client in [false, true] {
            let (core, pair) = (Arc::clone(self), Arc::clone(&pair));
            thread::spawn(move || {
                // How the line ended is for the two sides to see, not for the relay.
                drop(core.pump(&pair, to_client));
                core.ended(&pair, to_client);
            });
        }
        Ok(())
    }

    fn pump(&self, pair: &Pair, to_client: bool) -> io::Result<()> {
        let (mut from, mut to) = if to_client { (&pair.server, &pair.client) } else { (&pair.client, &pair.server) };
        let mut buffer = vec![0; 65_536];
        let mut tail = Vec::new();
        loop {
            let count = from.read(&mut buffer)?;
            let passing = self.passing(pair);
            if count == 0 {
                return Ok(());
            }
            let mut bytes = &buffer[..count];
            if let Passing::Delay(pause) = passing {
                thread::sleep(pause);
            }
            if to_client && self.is_reset_at(bytes) {
                pair.reset();
                return Ok(());
            }
            let cut = to_client && self.cut(&mut bytes);
            if to_client {
                self.note(&mut tail, bytes);
            }
            match passing {
                Passing::Drip(piece, pause) if to_client => {
                    for piece in bytes.chunks(piece) {
                        to.write_all(piece)?;
                        thread::sleep(pause);
                    }
                }
                _ => to.write_all(bytes)?,
            }
            if cut {
                pair.reset();
                return Ok(());
            }
        }
    }

    /// One direction has ended: the other side is told, and after both the pair is forgotten.
    fn ended(&self, pair: &Arc<Pair>, to_client: bool) {
        if !pair.was_reset.load(Ordering::SeqCst) {
            let to = if to_client { &pair.client } else { &pair.server };
            // It may be gone already.
            drop(to.shutdown(Shutdown::Write));
        }
        if pair.was_reset.load(Ordering::SeqCst) || pair.ends.fetch_add(1, Ordering::SeqCst) == 1 {
            self.state().live.retain(|live| !Arc::ptr_eq(live, pair));
        }
    }

    /// How to pass the piece in hand: waits while nothing may pass.
    fn passing(&self, pair: &Pair) -> Passing {
        loop {
            let own = *pair.passing.lock().expect("no panic while held");
            let passing = own.unwrap_or(self.state().passing);
            let over = self.stop.load(Ordering::SeqCst) || pair.was_reset.load(Ordering::SeqCst);
            if passing != Passing::Blackhole || over {
                return passing;
            }
            thread::sleep(PAUSE);
        }
    }

    fn is_reset_at(&self, bytes: &[u8]) -> bool {
        let state = self.state();
        state.reset_at.as_ref().is_some_and(|words| bytes.windows(words.len()).any(|window| window == words.as_slice()))
    }

    /// Shortens the piece to what may still pass; `true`: the line ends after it.
    fn cut(&self, bytes: &mut &[u8]) -> bool {
        let mut state = self.state();
        let Some(left) = state.cut_after else {
            return false;
        };
        if bytes.len() < left {
            state.cut_after = Some(left - bytes.len());
            return false;
        }
        state.cut_after = None;
        *bytes = &bytes[..left];
        true
    }

    /// Notes each line that ends in this piece, before it goes on.
    fn note(&self, tail: &mut Vec<u8>, bytes: &[u8]) {
        let now = Instant::now();
        tail.extend_from_slice(bytes);
        let count = tail.windows(NOTED.len()).filter(|window| *window == NOTED).count();
        self.state().noted.extend(std::iter::repeat_n(now, count));
        let keep = tail.len().saturating_sub(NOTED.len() - 1);
        tail.drain(..keep);
    }
}

impl Pair {
    /// Ends both sides by RST. Reading ends at once, so that both directions let go of the sockets; the last one
    /// closes them, and without time to linger a close sends RST instead of FIN.
    fn reset(&self) {
        self.was_reset.store(true, Ordering::SeqCst);
        for socket in [&self.client, &self.server] {
            linger_none(socket);
            // One that is gone already needs none.
            drop(socket.shutdown(Shutdown::Read));
        }
    }
}

/// The close of this socket will be an RST.
pub(crate) fn linger_none(socket: &TcpStream) {
    // A socket that is gone already needs none.
    drop(socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO)));
}
