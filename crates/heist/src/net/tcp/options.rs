//! Options that a [`TcpStream`](super::TcpStream) has, and a [`TcpSocket`](super::TcpSocket) that may
//! become one.

/// Goes into an `impl` block of a type with a method `options` that returns a `SockRef`, or something
/// else with the methods of a `socket2::Socket`.
macro_rules! of_streams {
    () => {
        /// Whether small writes are sent at once, instead of waiting for more (`TCP_NODELAY`).
        ///
        /// # Errors
        /// Those of the system.
        pub fn nodelay(&self) -> io::Result<bool> {
            self.options().tcp_nodelay()
        }

        /// Sets [`nodelay`](Self::nodelay).
        ///
        /// # Errors
        /// Those of the system.
        pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
            self.options().set_tcp_nodelay(nodelay)
        }

        /// How long closing waits for data that was not sent yet (`SO_LINGER`). `None`: not at all,
        /// and the system goes on sending.
        ///
        /// # Errors
        /// Those of the system.
        pub fn linger(&self) -> io::Result<Option<Duration>> {
            self.options().linger()
        }

        /// Sets [`linger`](Self::linger).
        ///
        /// # Errors
        /// Those of the system.
        #[deprecated = "dropping the stream then blocks its thread; see set_zero_linger"]
        pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
            self.options().set_linger(linger)
        }

        /// Has the connection reset when it is closed: data that was not sent yet is dropped, and the
        /// other end gets an error.
        ///
        /// # Errors
        /// Those of the system.
        pub fn set_zero_linger(&self) -> io::Result<()> {
            self.options().set_linger(Some(Duration::ZERO))
        }
    };
}

pub(super) use of_streams;
