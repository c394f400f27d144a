//! Rings of [`annulus`] on another machine, over [Eclipse Zenoh](https://zenoh.io).
//!
//! A bridge on each machine carries messages between the rings there and the network. On the far side it
//! makes a ring of the same name, with messages of the same type and **the same sequence numbers**. A
//! subscriber there needs no new code: it finds the ring by its name, as on the machine where it is
//! published.
//!
//! ```text
//! machine a                                             machine b
//! publisher ─▶ ring `quotes` ─▶ bridge ═══ network ═══▶ bridge ─▶ ring `quotes` ─▶ subscribers
//!                               (out)                   (in)
//! ```
//!
//! ```
//! use annulus_zenoh::{Bridge, Config};
//!
//! // On each machine. One of them listens.
//! let config = Config::new().carry("quotes*").host("a").listen("tcp/127.0.0.1:0");
//! # let path = std::env::temp_dir().join(format!("annulus-zenoh-page-{}", std::process::id()));
//! # let config = config.directory(annulus::shm::Directory::open(&path)?);
//! let bridge = Bridge::open(config)?;
//! for route in bridge.routes() {
//!     println!("{} {}: {} messages, {} lagged", route.host, route.name, route.messages, route.lagged);
//! }
//! # drop(bridge);
//! # std::fs::remove_dir_all(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - *Order*: the messages of a ring come in their order, and none comes twice.
//! - *At most once, and exact*: a message that did not come (the link was cut, the bridge was lapped, a queue
//!   of the network was full) is counted as lagged there, by its number: received + lagged = published, from
//!   the message on at which the far ring begins.
//! - *A publisher that ends or begins anew* does so there, too: the far ring ends, and one of the same name
//!   begins. [`follow`](annulus::shm::follow) tells both.
//! - *A bridge that begins anew* sends the messages that the ring still has. The far ring continues with
//!   them, and a gap is counted as lagged.
//! - *While the link is down* the far ring stands still, and continues by itself.
//! - With [`Config::reliable`] *nothing is lost on the way*: messages are kept until the other bridges have
//!   them, up to a bound, and are sent again. A lossless ring stays one: its publisher waits for the
//!   subscribers on the other machines.
//!
//! # Which rings
//!
//! Lossy broadcast rings, of one publisher or of several, and lossless ones; messages of up to 4,096 bytes.
//! The far ring is lossy, but for a lossless one that is carried [without loss](Config::reliable).
//!
//! Lossy rings of [frames](annulus::shm::frames) are carried as lossy rings are. Of [newest
//! values](annulus::shm::watch) the far side has the same cells and keys, and in each the newest value; what
//! comes between may be left out, and none goes back. Of a [service](annulus::shm::service) the far side has
//! one of the same types: each question there is asked once at most, and is answered, or
//! [refused](annulus::shm::service::AnswerError::Refused) after [`Config::answer_timeout`] at the latest.
//!
//! All other kinds stay on their machine, and [`Bridge::routes`] says so. Queues do, because each of their
//! messages has one consumer.
//!
//! # What goes out, and what comes in
//!
//! Only rings whose names match a pattern of [`Config::carry`] or [`Config::send`] leave the machine, and
//! only such of [`Config::carry`] or [`Config::receive`] come in. A ring that a bridge has made does not go
//! out again, so no message goes round. Where a name is taken on the far side, that ring does not come in,
//! and [`Bridge::routes`] says why.
//!
//! # What another bridge can do
//!
//! A bridge takes nothing for granted of what comes from the network: descriptions, lengths and numbers are
//! checked, the number of rings and their size are bounded, and what does not fit is counted and dropped. The
//! values of messages are checked by the subscribers, as between processes.

// Decision 0152: a program of its own, over Zenoh. Decision 0153: how nothing is lost. Decision 0175: what
// has no numbers of messages.
mod announced;
mod bridge;
mod config;
mod counters;
mod description;
mod error;
mod far_ring;
mod incoming;
mod keys;
mod local;
mod outgoing;
mod ros2;
mod seen;
mod services;
mod values;
mod window;
mod wire;
mod words;

pub use bridge::Bridge;
pub use config::{Config, WhenDown};
pub use counters::{Direction, Route, RouteState};
pub use error::Error;
