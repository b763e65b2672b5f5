//! Options that TCP and UDP sockets have in common.

/// Goes into an `impl` block of a type with a method `options` that returns a `SockRef`, or something
/// else with the methods of a `socket2::Socket`.
macro_rules! ip_options {
    () => {
        /// The traffic class of IPv6 packets (`IPV6_TCLASS`).
        ///
        /// # Errors
        /// Those of the system, and if it is no IPv6 socket.
        pub fn tclass_v6(&self) -> io::Result<u32> {
            self.options().tclass_v6()
        }

        /// Sets [`tclass_v6`](Self::tclass_v6).
        ///
        /// # Errors
        /// Those of the system, and if it is no IPv6 socket.
        pub fn set_tclass_v6(&self, tclass: u32) -> io::Result<()> {
            self.options().set_tclass_v6(tclass)
        }

        /// The type of service of IPv4 packets (`IP_TOS`).
        ///
        /// # Errors
        /// Those of the system.
        pub fn tos_v4(&self) -> io::Result<u32> {
            self.options().tos_v4()
        }

        /// Sets [`tos_v4`](Self::tos_v4).
        ///
        /// # Errors
        /// Those of the system.
        pub fn set_tos_v4(&self, tos: u32) -> io::Result<()> {
            self.options().set_tos_v4(tos)
        }

        /// The old name of [`tos_v4`](Self::tos_v4).
        ///
        /// # Errors
        /// Those of the system.
        #[deprecated = "it is about IPv4 only: call tos_v4"]
        #[doc(hidden)]
        pub fn tos(&self) -> io::Result<u32> {
            self.tos_v4()
        }

        /// The old name of [`set_tos_v4`](Self::set_tos_v4).
        ///
        /// # Errors
        /// Those of the system.
        #[deprecated = "it is about IPv4 only: call set_tos_v4"]
        #[doc(hidden)]
        pub fn set_tos(&self, tos: u32) -> io::Result<()> {
            self.set_tos_v4(tos)
        }

        /// The network device it is bound to (`SO_BINDTODEVICE`), if any.
        ///
        /// # Errors
        /// Those of the system.
        pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
            self.options().device()
        }

        /// Sends and receives only through this network device (`SO_BINDTODEVICE`); with `None`,
        /// through any.
        ///
        /// # Errors
        /// Those of the system, and without the right to do so.
        pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
            self.options().bind_device(interface)
        }
    };
}
