//! The programs as a user runs them: the binary, real processes, real sockets on this machine.

mod demo;
mod kill;
mod offline;
mod peers;
mod recorded;
mod support;
mod swap;
