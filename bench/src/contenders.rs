//! The rings under test, behind one interface, so that every one of them runs the same loops.
//!
//! The methods are what a user calls, inlined; an adapter that did anything of its own would be measured too.

use std::fmt::Debug;
use std::marker::PhantomData;

/// What every contender can carry.
pub trait Payload: annulus::Message + photon_ring::Pod {}
impl<T: annulus::Message + photon_ring::Pod> Payload for T {}

pub trait Publisher<T>: Send {
    fn publish(&mut self, message: T);
}

pub trait Subscriber<T>: Send {
    type Error: Debug;
    fn try_recv(&mut self) -> Result<T, Self::Error>;
    /// The sequence of the next message.
    fn cursor(&self) -> u64;
}

/// A lossy broadcast ring.
pub trait Contender {
    /// The package, as `Cargo.lock` has it.
    const NAME: &'static str;
    type Publisher<T: Payload>: Publisher<T>;
    type Subscriber<T: Payload>: Subscriber<T>;
    /// A ring with one subscriber, which sees all messages.
    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>);
}

/// Both crates call the same things by the same names; this writes the adapter for each.
macro_rules! contender {
    ($contender:ident, $package:literal, $library:ident) => {
        pub struct $contender;

        impl Contender for $contender {
            const NAME: &'static str = $package;
            type Publisher<T: Payload> = $library::Publisher<T>;
            type Subscriber<T: Payload> = $library::Subscriber<T>;

            fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
                let (publisher, subscribable) = $library::channel(capacity);
                (publisher, subscribable.subscribe())
            }
        }

        impl<T: Payload> Publisher<T> for $library::Publisher<T> {
            #[inline(always)]
            fn publish(&mut self, message: T) {
                $library::Publisher::publish(self, message);
            }
        }

        impl<T: Payload> Subscriber<T> for $library::Subscriber<T> {
            type Error = $library::TryRecvError;

            #[inline(always)]
            fn try_recv(&mut self) -> Result<T, Self::Error> {
                $library::Subscriber::try_recv(self)
            }

            #[inline(always)]
            fn cursor(&self) -> u64 {
                $library::Subscriber::cursor(self)
            }
        }
    };
}

contender!(Annulus, "annulus", annulus);
contender!(PhotonRing, "photon-ring", photon_ring);

/// A contender whose methods are calls: what it costs where the compiler does not inline it.
pub struct Called<C>(PhantomData<C>);

/// One end of it.
pub struct CalledEnd<E>(E);

impl<C: Contender> Contender for Called<C> {
    const NAME: &'static str = C::NAME;
    type Publisher<T: Payload> = CalledEnd<C::Publisher<T>>;
    type Subscriber<T: Payload> = CalledEnd<C::Subscriber<T>>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (publisher, subscriber) = C::channel(capacity);
        (CalledEnd(publisher), CalledEnd(subscriber))
    }
}

impl<T, E: Publisher<T>> Publisher<T> for CalledEnd<E> {
    #[inline(never)]
    fn publish(&mut self, message: T) {
        self.0.publish(message);
    }
}

impl<T, E: Subscriber<T>> Subscriber<T> for CalledEnd<E> {
    type Error = E::Error;

    #[inline(never)]
    fn try_recv(&mut self) -> Result<T, Self::Error> {
        self.0.try_recv()
    }

    fn cursor(&self) -> u64 {
        self.0.cursor()
    }
}

/// The version of `package` that this program was built with.
pub fn version_of(package: &str) -> &'static str {
    version_in(include_str!("../Cargo.lock"), package).unwrap_or("?")
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rings_are_driven_by_the_same_code() {
        fn works<C: Contender>() {
            let (mut publisher, mut subscriber) = C::channel::<u64>(4);
            assert!(subscriber.try_recv().is_err());
            publisher.publish(7);
            assert_eq!(subscriber.try_recv().unwrap(), 7);
            assert_eq!(subscriber.cursor(), 1);
        }
        works::<Annulus>();
        works::<PhotonRing>();
        works::<Called<Annulus>>();
    }

    #[test]
    fn versions_are_found_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"a\"\nversion = \"4.5.6\"\n";
        assert_eq!(version_in(lock, "a"), Some("4.5.6"));
        assert_eq!(version_in(lock, "b"), None);
        assert_ne!(version_of(PhotonRing::NAME), "?");
    }
}
