//! The program as its users see it: processes, what they print, and their exit codes.
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod call;
mod demo;
#[cfg(target_os = "linux")]
mod demo_shared;
mod doctor;
#[cfg(target_os = "linux")]
mod foreign;
#[cfg(target_os = "linux")]
mod get;
#[path = "../../../annulus/tests/support/hang.rs"]
mod hang;
#[cfg(target_os = "linux")]
mod hz;
#[cfg(target_os = "linux")]
mod lines;
mod manual;
#[cfg(target_os = "linux")]
mod names;
mod orders;
#[cfg(target_os = "linux")]
mod output;
mod page;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
mod rings;
#[cfg(target_os = "linux")]
mod running;
mod support;
#[cfg(target_os = "linux")]
mod top;
#[cfg(target_os = "linux")]
mod watch;
