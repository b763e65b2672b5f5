//! Options of both [`TcpStream`](super::TcpStream) and [`TcpSocket`](super::TcpSocket).

/// Goes into an `impl` block of a type with a method `options` that returns a `SockRef`, or another
/// type with the methods of `socket2::Socket`.
macro_rules! of_streams {
    () => {
        /// Returns whether small writes are sent at once instead of being collected
        /// (`TCP_NODELAY`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn nodelay(&self) -> io::Result<bool> {
            self.options().tcp_nodelay()
        }

        /// Sets whether small writes are sent at once instead of being collected (`TCP_NODELAY`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::net::{TcpListener, TcpStream};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let stream = TcpStream::connect(listener.local_addr()?).await?;
        /// stream.set_nodelay(true)?; // For small messages that must not wait.
        /// assert!(stream.nodelay()?);
        /// # Ok(())
        /// # }
        /// ```
        pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
            self.options().set_tcp_nodelay(nodelay)
        }

        /// Returns how long closing the socket waits for unsent data (`SO_LINGER`).
        ///
        /// With `None` closing does not wait, and the system sends the data in the background.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn linger(&self) -> io::Result<Option<Duration>> {
            self.options().linger()
        }

        /// Sets how long closing the socket waits for unsent data; see [`linger`](Self::linger).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        #[deprecated = "dropping the stream then blocks its thread; see set_zero_linger"]
        pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
            self.options().set_linger(linger)
        }

        /// Sets that closing the socket resets the connection: unsent data is dropped, and the peer
        /// gets an error.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        ///
        /// # Examples
        ///
        /// ```
        /// use heist::io::AsyncReadExt;
        /// use heist::net::{TcpListener, TcpStream};
        ///
        /// # #[heist::main(flavor = "current_thread")]
        /// # async fn main() -> std::io::Result<()> {
        /// let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let client = TcpStream::connect(listener.local_addr()?).await?;
        /// let (mut server, _) = listener.accept().await?;
        /// client.set_zero_linger()?;
        /// drop(client);
        /// let error = server.read(&mut [0; 8]).await.unwrap_err();
        /// assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        /// # Ok(())
        /// # }
        /// ```
        pub fn set_zero_linger(&self) -> io::Result<()> {
            self.options().set_linger(Some(Duration::ZERO))
        }
    };
}

pub(super) use of_streams;
