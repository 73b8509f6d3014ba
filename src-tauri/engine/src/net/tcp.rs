//! TCP connections: all addresses of a host, within one time limit.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout_at};

use crate::net::error::{NetError, NetErrorKind};

/// The next address is tried beside the one before it after this long (RFC 8305 section 5).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);
/// A silent line is asked this often whether it still stands; most routers forget one after five minutes.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(120);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(20);
const KEEPALIVE_TRIES: u32 = 4;

/// Connects to the first address of `host` that answers.
///
/// # Errors
/// `Dns`, `NoNetwork`, `Refused`, `Timeout` (`limit` covers the name's look-up too) or `Io`; nothing was sent.
pub async fn connect(host: &str, port: u16, limit: Duration) -> Result<TcpStream, NetError> {
    let peer = format!("{host}:{port}");
    let work = async {
        let addresses = resolve(host, port).await?;
        let stream = race(&addresses).await.map_err(|error| NetError::from_io(&error, &peer))?;
        tune(&stream).map_err(|error| NetError::from_io(&error, &peer))?;
        Ok(stream)
    };
    timeout_at(Instant::now() + limit, work).await.unwrap_or_else(|_| Err(NetError::timeout(&peer)))
}

/// Whether a host's name means this computer itself.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let host = bare(host).trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// An IPv6 address as it stands in a URL, without its brackets.
#[must_use]
pub fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether this computer has any way out. Connecting a UDP socket sends nothing; it only asks the routing table
/// (addresses of RFC 5737 and RFC 3849, which belong to nobody).
#[must_use]
pub fn has_route() -> bool {
    own_addresses() != OwnAddresses::default()
}

/// Under which addresses this computer goes out, by IPv4 and IPv6. Others: another network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnAddresses([Option<IpAddr>; 2]);

/// See [`has_route`].
#[must_use]
pub fn own_addresses() -> OwnAddresses {
    let ask = |own: &str, far: &str| {
        let socket = UdpSocket::bind(own).ok()?;
        socket.connect(far).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    };
    OwnAddresses([ask("0.0.0.0:0", "192.0.2.1:9"), ask("[::]:0", "[2001:db8::1]:9")])
}

/// Looks a host's name up.
///
/// # Errors
/// `Dns` or `NoNetwork`.
pub async fn look_up(host: &str) -> Result<(), NetError> {
    resolve(host, 0).await.map(|_| ())
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
    let unknown = || NetError::new(NetErrorKind::Dns, format!("the name {host:?} could not be looked up"));
    match lookup_host((bare(host), port)).await {
        Ok(addresses) => {
            let addresses: Vec<SocketAddr> = addresses.collect();
            if addresses.is_empty() { Err(unknown()) } else { Ok(addresses) }
        }
        Err(_) if !has_route() => Err(NetError::no_network()),
        Err(_) => Err(unknown()),
    }
}

/// Tries the addresses one after the other, the next one early where one is silent.
async fn race(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut waiting = addresses.iter();
    let mut tries = FuturesUnordered::new();
    let mut last_error = io::Error::from(io::ErrorKind::NotFound);
    loop {
        let next = waiting.next();
        if let Some(address) = next {
            tries.push(TcpStream::connect(*address));
        } else if tries.is_empty() {
            return Err(last_error);
        }
        let pause =
            async { if waiting.len() == 0 { std::future::pending().await } else { sleep(NEXT_ADDRESS_AFTER).await } };
        tokio::select! {
            Some(tried) = tries.next() => match tried {
                Ok(stream) => return Ok(stream),
                Err(error) => last_error = error,
            },
            () = pause => {}
        }
    }
}

fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive =
        TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_EVERY).with_retries(KEEPALIVE_TRIES);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}

/// A listener on a free loopback port, for a scripted peer.
#[cfg(test)]
pub(crate) async fn loopback() -> (tokio::net::TcpListener, u16) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn only_this_computer_is_loopback() {
        for (host, expected) in [
            ("localhost", true),
            ("LocalHost.", true),
            ("127.0.0.1", true),
            ("127.8.9.1", true),
            ("::1", true),
            ("[::1]", true),
            ("::ffff:127.0.0.1", true),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("192.168.0.1", false),
            ("0.0.0.0", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }

    #[tokio::test]
    async fn a_port_nobody_listens_at_refuses() {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let error = connect("127.0.0.1", port, Duration::from_secs(5)).await.unwrap_err();
        assert_eq!(error.kind, NetErrorKind::Refused, "{error}");
        assert!(error.detail.contains(&port.to_string()), "the port is named: {error}");
    }

    #[tokio::test]
    async fn a_dead_address_does_not_hide_a_living_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let alive = listener.local_addr().unwrap();
        let dead = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let stream = race(&[dead, alive]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), alive, "the second address was taken");
    }

    #[tokio::test]
    async fn a_silent_address_does_not_hold_up_a_living_one() {
        // A listener whose queue is full drops further SYNs: a connect to it hangs, as with a firewall.
        let full = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        full.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
        full.listen(0).unwrap();
        let silent = full.local_addr().unwrap().as_socket().unwrap();
        let _fill = TcpStream::connect(silent).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let alive = listener.local_addr().unwrap();
        let limit = Duration::from_secs(10);
        let stream = timeout_at(Instant::now() + limit, race(&[silent, alive])).await.expect("not held up").unwrap();
        assert_eq!(stream.peer_addr().unwrap(), alive);
        let error = connect("127.0.0.1", silent.port(), Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(error.kind, NetErrorKind::Timeout, "alone it is a timeout: {error}");
    }

    #[tokio::test]
    async fn a_name_that_does_not_exist_is_told_from_a_computer_without_network() {
        let error = connect("nonsense.invalid", 993, Duration::from_secs(20)).await.unwrap_err();
        let expected = if has_route() { NetErrorKind::Dns } else { NetErrorKind::NoNetwork };
        assert_eq!(error.kind, expected, "{error}");
    }

    #[tokio::test]
    async fn the_line_is_kept_alive_and_without_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream = connect("localhost", port, Duration::from_secs(5)).await.unwrap();
        assert!(stream.nodelay().unwrap(), "small writes leave at once");
        assert!(SockRef::from(&stream).keepalive().unwrap(), "a dead line is noticed");
    }
}
