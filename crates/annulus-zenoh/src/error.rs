//! [`Error`]: why there is no bridge.

use std::fmt;

/// Why a bridge can't be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The host's name can't be part of a key: it is empty.
    Host(String),
    /// A topic, a type or a domain that ROS 2 can't have.
    Ros2(String),
    /// Zenoh does not take the configuration, or can't listen there.
    Network(String),
    /// The directory of the rings can't be used.
    Directory(annulus::shm::DirectoryError),
    /// The system gives no thread.
    System(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => {
                write!(f, "{host:?} is no name of a host: say one with --host, such as `trading-1`")
            }
            Self::Network(error) | Self::Ros2(error) => f.write_str(error),
            Self::Directory(error) => error.fmt(f),
            Self::System(error) => write!(f, "no thread for the bridge: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<annulus::shm::DirectoryError> for Error {
    fn from(error: annulus::shm::DirectoryError) -> Self {
        Self::Directory(error)
    }
}

impl From<zenoh::Error> for Error {
    fn from(error: zenoh::Error) -> Self {
        Self::Network(error.to_string())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::System(error)
    }
}
