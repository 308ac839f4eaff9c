//! Connections that can be cut from inside a request, as networks do.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// A switch that breaks what it is built into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut(Arc<AtomicBool>);

impl Cut {
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_cut(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A listener whose connections break one by one, or all at once with `stopped`.
pub(crate) struct Port {
    listener: TcpListener,
    stopped: Cut,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

#[cfg(not(feature = "tls"))]
type Stream = TcpStream;
#[cfg(feature = "tls")]
type Stream =
    tokio_util::either::Either<TcpStream, Box<tokio_rustls::server::TlsStream<TcpStream>>>;

impl Port {
    pub(crate) fn new(listener: TcpListener, stopped: Cut) -> Self {
        Self {
            listener,
            stopped,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// The same, speaking TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn with_tls(self) -> Self {
        Self { tls: Some(super::certificates::acceptor()), ..self }
    }

    #[cfg(not(feature = "tls"))]
    async fn connection(&mut self) -> (Stream, SocketAddr) {
        Listener::accept(&mut self.listener).await
    }

    /// The next connection; those that fail to agree on TLS are dropped.
    #[cfg(feature = "tls")]
    async fn connection(&mut self) -> (Stream, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            let Some(tls) = &self.tls else { return (Stream::Left(stream), address) };
            if let Ok(stream) = tls.accept(stream).await {
                return (Stream::Right(Box::new(stream)), address);
            }
        }
    }
}

impl Listener for Port {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Wire, SocketAddr) {
        let (stream, address) = self.connection().await;
        (Wire { stream, own: Cut::default(), stopped: self.stopped.clone() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Port>> for Cut {
    fn connect_info(stream: IncomingStream<'_, Port>) -> Self {
        stream.io().own.clone()
    }
}

pub(crate) struct Wire {
    stream: Stream,
    own: Cut,
    stopped: Cut,
}

impl Wire {
    fn check(&self) -> io::Result<()> {
        if self.own.is_cut() || self.stopped.is_cut() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
