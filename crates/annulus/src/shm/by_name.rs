//! A ring by its name, in one call: [`publish`], [`mp_publish`], [`subscribe`], [`wait_and_subscribe`],
//! [`follow`].

use core::time::Duration;
use std::time::Instant;

use super::broadcast::{Accepted, lossy};
use super::directory::{Directory, PublishedName};
use super::error::FindError;
use super::invitation::Invitation;
use super::mp_broadcast;
use super::named_subscriber::NamedSubscriber;
use super::shared::Shared;
use crate::broadcast::{Foreign, Publisher, Subscriber};
use crate::message::Message;
use crate::settings::Settings;

/// Makes a [lossy ring](lossy) that has a name in the [directory of this user](Directory::of_user).
///
/// The name is given back when the [`PublishedName`] is dropped. The ring ends when the publisher is dropped.
/// When this process ends, both end. A ring that a dead process left under the name is replaced. For another
/// directory, or another ring, see [`Invitation::publish`].
///
/// # Errors
///
/// - [`FindError::Directory`]: the directory can't be used.
/// - [`FindError::Share`]: no such ring can be, or the system refuses it.
/// - [`FindError::Name`]: there can be no such name, or another ring has it
///   ([`Taken`](super::NameError::Taken), which says which process).
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{self, PeerState};
/// # let path = std::env::temp_dir().join(format!("annulus-by-name-{}", std::process::id()));
/// # std::fs::create_dir(&path)?;
/// # // SAFETY: there is no other thread.
/// # unsafe { std::env::set_var("XDG_RUNTIME_DIR", &path) };
///
/// let (mut publisher, name) = shm::publish::<[f64; 2]>("quotes", Settings::new(1024))?;
///
/// // Usually in another process.
/// let (mut subscriber, ring) = shm::subscribe::<[f64; 2]>("quotes")?;
///
/// publisher.publish([1.0921, 1.0922]);
/// assert_eq!(subscriber.recv(), Ok([1.0921, 1.0922]));
/// drop(publisher);
/// assert!(subscriber.recv().is_err());
/// assert_eq!(ring.state(), PeerState::Closed); // `Dead`, if its process had ended
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn publish<T: Message>(
    name: &str,
    settings: Settings,
) -> Result<(Publisher<T>, PublishedName), FindError> {
    let directory = Directory::of_user()?;
    let Shared { handle, invitation, .. } = lossy::<T>(settings)?;
    let name = invitation.publish(&directory, name)?;
    Ok((handle, name))
}

/// A publisher of the [ring of several publishers](mp_broadcast) that has a name in the
/// [directory of this user](Directory::of_user). If there is none, it makes one, and returns its name, too.
///
/// [`Builder::publish_in`](mp_broadcast::Builder::publish_in) says more, and is for another directory.
///
/// # Errors
///
/// The errors of [`publish_in`](mp_broadcast::Builder::publish_in), and [`FindError::Directory`]: the
/// directory can't be used.
///
/// # Examples
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{self, mp_broadcast};
/// # let path = std::env::temp_dir().join(format!("annulus-mp-publish-{}", std::process::id()));
/// # std::fs::create_dir(&path)?;
/// # // SAFETY: there is no other thread.
/// # unsafe { std::env::set_var("XDG_RUNTIME_DIR", &path) };
///
/// // Each of some processes, in any order.
/// let builder = mp_broadcast::Builder::new(Settings::new(1024)).publishers(8);
/// let (mut publisher, name) = shm::mp_publish::<u64>("events", builder)?;
///
/// // Usually in another one.
/// let (mut subscriber, _) = shm::subscribe::<u64>("events")?;
/// publisher.publish(7);
/// assert_eq!(subscriber.recv(), Ok(7));
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn mp_publish<T: Message>(
    name: &str,
    builder: mp_broadcast::Builder,
) -> Result<(mp_broadcast::Publisher<T>, Option<PublishedName>), FindError> {
    builder.publish_in(&Directory::of_user()?, name)
}

/// A subscriber to the lossy ring that has a name in the [directory of this user](Directory::of_user), of one
/// publisher or of several. It begins with the next message.
///
/// The [`Accepted`] ring makes more subscribers, also ones that begin with the oldest message. And it tells
/// [whether the publisher is there](Accepted::state). See [`publish`] for an example.
///
/// # Errors
///
/// - [`FindError::Directory`]: the directory can't be used.
/// - [`FindError::Name`]: there is no such ring ([`NotFound`](super::NameError::NotFound)), its process has
///   ended ([`Dead`](super::NameError::Dead)), or this process may not open it.
/// - [`FindError::Attach`]: it is another kind of ring, or of another type. The error has both sides' values.
pub fn subscribe<T: Message>(name: &str) -> Result<(Subscriber<T, Foreign>, Accepted<T>), FindError> {
    let named = Directory::of_user()?.find(name)?;
    let ring = Invitation::find(&named)?.accept::<T>()?;
    Ok((ring.subscribable().subscribe(), ring))
}

/// As [`subscribe`], but if there is no such ring, or its process has ended, it waits for one, for `timeout`
/// at most (`None` is for ever). The kernel gives notice of a new name: see
/// [`NamedSubscriber`](NamedSubscriber#how-it-waits).
///
/// # Errors
///
/// The errors of [`subscribe`], with [`TimedOut`](super::NameError::TimedOut) in place of `NotFound` and
/// `Dead`.
///
/// # Examples
///
/// ```
/// use annulus::{Settings, shm};
/// use std::thread;
/// use std::time::Duration;
/// # let path = std::env::temp_dir().join(format!("annulus-wait-and-{}", std::process::id()));
/// # std::fs::create_dir(&path)?;
/// # // SAFETY: there is no other thread.
/// # unsafe { std::env::set_var("XDG_RUNTIME_DIR", &path) };
///
/// // Usually a process. It comes first.
/// let reader = thread::spawn(|| {
///     let (mut subscriber, _) = shm::wait_and_subscribe::<u64>("ticks", Some(Duration::from_secs(60)))?;
///     Ok::<_, shm::FindError>(subscriber.recv())
/// });
///
/// let (mut publisher, name) = shm::publish::<u64>("ticks", Settings::new(64))?;
/// while !reader.is_finished() {
///     publisher.publish(7);
///     thread::sleep(Duration::from_millis(1));
/// }
/// assert_eq!(reader.join().unwrap()?, Ok(7));
/// # drop(name);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn wait_and_subscribe<T: Message>(
    name: &str,
    timeout: Option<Duration>,
) -> Result<(Subscriber<T, Foreign>, Accepted<T>), FindError> {
    // (A sum that no clock reaches is for ever.)
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    NamedSubscriber::new(&Directory::of_user()?, name)?.into_first(until)
}

/// A subscriber that follows a name in the [directory of this user](Directory::of_user): it joins the ring
/// that has the name, and when that ring ends, the next one. It may come before the first publisher.
///
/// See [`NamedSubscriber`] for an example, and for another directory.
///
/// # Errors
///
/// - [`FindError::Directory`]: the directory can't be used.
/// - [`FindError::Name`]: there can be no such name. (It is no error that there is no such ring.)
pub fn follow<T: Message>(name: &str) -> Result<NamedSubscriber<T>, FindError> {
    Ok(NamedSubscriber::new(&Directory::of_user()?, name)?)
}
