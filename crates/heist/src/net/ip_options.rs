//! Options that TCP and UDP sockets share.

/// Goes into an `impl` block of a type with a method `options` that returns a `SockRef`, or another
/// type with the methods of `socket2::Socket`.
macro_rules! ip_options {
    () => {
        /// Returns the traffic class of IPv6 packets (`IPV6_TCLASS`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails, for example because this is not an IPv6
        /// socket.
        pub fn tclass_v6(&self) -> io::Result<u32> {
            self.options().tclass_v6()
        }

        /// Sets the traffic class of IPv6 packets (`IPV6_TCLASS`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails, for example because this is not an IPv6
        /// socket.
        pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
            self.options().set_tclass_v6(tclass)
        }

        /// Returns the type of service of IPv4 packets (`IP_TOS`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn tos_v4(&self) -> io::Result<u32> {
            self.options().tos_v4()
        }

        /// Sets the type of service of IPv4 packets (`IP_TOS`).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
            self.options().set_tos_v4(tos)
        }

        /// The old name of [`tos_v4`](Self::tos_v4).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        #[deprecated = "it is about IPv4 only: call tos_v4"]
        #[doc(hidden)]
        pub fn tos(&self) -> io::Result<u32> {
            self.tos_v4()
        }

        /// The old name of [`set_tos_v4`](Self::set_tos_v4).
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        #[deprecated = "it is about IPv4 only: call set_tos_v4"]
        #[doc(hidden)]
        pub fn set_tos(&self, tos: u32) -> io::Result<()> {
            self.set_tos_v4(tos)
        }

        /// Returns the name of the network device to which the socket is bound (`SO_BINDTODEVICE`),
        /// if any.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails.
        pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
            self.options().device()
        }

        /// Binds the socket to a network device (`SO_BINDTODEVICE`), or to none.
        ///
        /// # Errors
        ///
        /// Returns an error if the system call fails, for example because the process lacks the
        /// privilege.
        pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
            self.options().bind_device(interface)
        }
    };
}
