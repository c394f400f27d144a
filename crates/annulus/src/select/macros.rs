//! The macros [`select!`](crate::select!) and [`select_biased!`](crate::select_biased!).

/// Waits for several things at once, does the first that is possible, and runs the expression of that arm.
///
/// ```
/// use annulus::{broadcast, select, spsc};
/// use std::time::Duration;
///
/// let (mut publisher, subscribable) = broadcast::lossy(8);
/// let mut prices = subscribable.subscribe();
/// let (_customer, mut orders) = spsc::channel::<String>(8);
/// let (mut log, mut lines) = spsc::channel(1);
/// publisher.publish(99.5);
/// log.send("the log is full").unwrap();
///
/// let seen = select! {
///     recv(prices) -> price => price.unwrap(),
///     recv(orders) -> order => panic!("nobody ordered {order:?}"),
///     send(log, "waiting") -> sent => panic!("there is no room: {sent:?}"),
///     default(Duration::from_secs(60)) => 0.0,
/// };
/// assert_eq!(seen, 99.5);
/// # drop(lines);
/// ```
///
/// | arm | handles | result |
/// | --- | --- | --- |
/// | `recv(handle) -> result => …` | each that can [`Receive`](crate::Receive) | as of `recv` |
/// | `recv_or_lag(subscriber) -> result => …` | [subscribers](crate::broadcast::Subscriber) that [may lose](crate::broadcast::MayLose) messages, and [subscribers of records](crate::broadcast::bytes::Subscriber) | as of `recv_or_lag` |
/// | `wait(subscriber) -> result => …` | [subscribers of events](crate::event::Subscriber) | as of `wait`; then process the event |
/// | `wait(receiver) -> result => …` | [receivers of the newest value](crate::watch::Receiver) | as of `changed`; then borrow the value |
/// | `wait(shutdown) -> () => …` | a [`Shutdown`](crate::Shutdown) | nothing: somebody has triggered it |
/// | `reserve(producer, len) -> result => …` | [producers of bytes](crate::queue::bytes::Producer) | as of `reserve`; then write the record, and commit it |
/// | `send(handle, value) -> result => …` | each that [waits for room](crate::WaitsForRoom) | as of `send` or `publish` |
/// | `default => …` | | if nothing else is possible now |
/// | `default(timeout) => …` | | if nothing else was possible for that [`Duration`](core::time::Duration) |
///
/// There may be up to 56 arms, and a `default`; [`Select`](crate::Select) waits for any number of handles.
///
/// The handles are places, as in `consumer.recv()`: variables, fields, or references. The handles of an arm
/// are free again in its expression, and in the expressions of other arms. (The record of a `reserve` arm
/// borrows its producer.) `result` is a pattern that always matches. The expressions may use `?`, `return`,
/// `break` and `continue`.
///
/// *Order.* If several arms are possible, it takes one of them. It mostly begins to look at the arm that was
/// taken last, and now and then at another one. In a thread that does no other select in between, each of
/// `n` arms comes first in at least one of `100 * n` rounds, so an arm that stays possible is taken within so
/// many. [`select_biased!`](crate::select_biased!)
/// always looks at the arms as they stand.
///
/// *Waiting.* It waits with the [`WaitStrategy`](crate::WaitStrategy) of the first handle. With
/// [`Block`](crate::WaitStrategy::Block) it sleeps once for all arms. It allocates memory only where a thread
/// waits this way for the first time, and where more threads and tasks wait at one side of a ring than ever
/// before.
///
/// *Stages.* Each look at a stage begins a receive, so what the stage received before counts as processed,
/// whichever arm is taken.
///
/// *Close.* The arm of a closed handle is always possible, and its result says so. So in a loop, leave it out
/// from then on, or end the loop.
///
/// *Nothing is lost.* A message is received by the arm that is taken. Of all other arms nothing
/// is received. If the thread was woken for a message of another arm, a consumer that also waits for it is
/// woken in its place.
///
/// *Values* are made when their arm is taken, and not before, so a variable is moved only then. What makes
/// the value can't contain `?`, `return`, `break` or `continue`. Where several handles share their room (a
/// [`Sender`](crate::queue::ordered::Sender), an [`MpPublisher`](crate::broadcast::MpPublisher), an
/// [`event::MpPublisher`](crate::event::MpPublisher)), others wait until the value is there. So make it
/// beforehand, if that takes time. What makes it must not use the same ring. If it panics, the process is
/// aborted, because readers would wait for it for ever. With all other handles such a panic does no harm.
///
/// # Panics
///
/// Where the verbs of the handles would panic.
#[doc(alias = "after")]
#[doc(alias = "never")]
#[macro_export]
macro_rules! select {
    ($($arms:tt)+) => {
        $crate::__select_arms!(true, [
            . . . . . . . . . . . . . . . . . . . . . . . . . . . .
            . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        ] [] () $($arms)+)
    };
}

/// As [`select!`](crate::select!), but always looks at the arms as they stand: if several are possible, it
/// takes the first.
///
/// An arm that is always possible keeps those behind it from their turn. So put rare and urgent arms first:
///
/// ```
/// use annulus::{select_biased, spsc};
///
/// let (mut stop, mut stopped) = spsc::channel(1);
/// let (mut producer, mut consumer) = spsc::channel(8);
/// producer.send_batch(&[1, 2, 3]).unwrap();
/// stop.send(()).unwrap();
/// select_biased! {
///     recv(stopped) -> _ => {}
///     recv(consumer) -> number => panic!("{number:?} comes too late"),
/// }
/// ```
#[macro_export]
macro_rules! select_biased {
    ($($arms:tt)+) => {
        $crate::__select_arms!(false, [
            . . . . . . . . . . . . . . . . . . . . . . . . . . . .
            . . . . . . . . . . . . . . . . . . . . . . . . . . . .
        ] [] () $($arms)+)
    };
}

/// Reads the arms one by one: `[a dot for each arm that there may still be] [(verb [handle] (arguments of the
/// verb) (value to send) pattern, body) …] (default)`.
///
/// It calls itself once for each arm, and then `__select_list` and `__select_body` do. A compiler follows 128
/// calls, so there may be 56 arms, and some calls are left for a macro around this one.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_arms {
    ($fair:tt, $left:tt [] $default:tt $(,)?) => {
        ::core::compile_error!("`select!` has no arm that receives or sends; to wait for a time only, sleep")
    };
    // All are read.
    ($fair:tt, $left:tt [$($arm:tt)+] () $(,)?) => {
        $crate::__select_run!($fair, ($crate::__select::Limit::Found), [$($arm)+],
            ::core::unreachable!("a wait without a timeout ends with a message"))
    };
    ($fair:tt, $left:tt [$($arm:tt)+] (($until:expr) $body:expr) $(,)?) => {
        $crate::__select_run!($fair, ($until), [$($arm)+], $body)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? recv($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (recv_in_select [$handle] () () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? recv($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (recv_in_select [$handle] () () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? recv_or_lag($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (recv_or_lag_in_select [$handle] () () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? recv_or_lag($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (recv_or_lag_in_select [$handle] () () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? wait($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (wait_in_select [$handle] () () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? wait($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (wait_in_select [$handle] () () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? send($handle:expr, $value:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (send_in_select [$handle] () ($value) $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? send($handle:expr, $value:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (send_in_select [$handle] () ($value) $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? reserve($handle:expr, $len:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (reserve_in_select [$handle] ($len) () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [. $($left:tt)*] [$($arm:tt)*] $default:tt $(,)? reserve($handle:expr, $len:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($left)*] [$($arm)* (reserve_in_select [$handle] ($len) () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, $left:tt $arms:tt () $(,)? default => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, $left $arms (($crate::__select::Limit::Now) $body) $($rest)*)
    };
    ($fair:tt, $left:tt $arms:tt () $(,)? default => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, $left $arms (($crate::__select::Limit::Now) $body) $($($rest)*)?)
    };
    ($fair:tt, $left:tt $arms:tt () $(,)? default($timeout:expr) => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, $left $arms (($crate::__select::Limit::Passed($timeout)) $body) $($rest)*)
    };
    ($fair:tt, $left:tt $arms:tt () $(,)? default($timeout:expr) => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, $left $arms (($crate::__select::Limit::Passed($timeout)) $body) $($($rest)*)?)
    };
    ($fair:tt, $left:tt $arms:tt ($($default:tt)+) $(,)? default $($rest:tt)*) => {
        ::core::compile_error!("`select!` has two `default` arms; it can have one")
    };
    // The comma behind the block of an arm, before something that is none.
    ($fair:tt, $left:tt $arms:tt $default:tt , $($rest:tt)+) => {
        $crate::__select_arms!($fair, $left $arms $default $($rest)*)
    };
    ($fair:tt, [] $arms:tt $default:tt $($rest:tt)+) => {
        ::core::compile_error!("`select!` has more than 56 arms; `annulus::Select` waits for any number of handles")
    };
    ($fair:tt, $left:tt $arms:tt $default:tt $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`select!` expects an arm: `recv(handle) -> message => expression`, \
             `recv_or_lag(subscriber) -> message => expression`, `wait(event_subscriber) -> result => expression`, \
             `reserve(producer, length) -> result => expression`, `send(handle, value) -> result => expression`, `default => expression` or \
             `default(timeout) => expression`; found `", ::core::stringify!($($rest)*), "`"
        ))
    };
}

/// Waits, and runs the body of the arm that is chosen.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_run {
    ($fair:tt, ($until:expr), [$($arm:tt)*], $default:expr) => {
        match {
            #[allow(unused_imports)]
            use $crate::__select::Receiving as _;
            let until = $until;
            let chosen = $crate::__select::select($crate::__select_list!($($arm)*), $fair, until);
            chosen
        } {
            chosen => $crate::__select_body!(chosen, [$($arm)*], $default),
        }
    };
}

/// The arms, one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_list {
    () => { () };
    (($verb:ident [$handle:expr] $arguments:tt $value:tt $found:pat, $body:expr) $($rest:tt)*) => {
        (($handle).$verb $arguments, $crate::__select_list!($($rest)*))
    };
}

/// The body of the arm that is chosen.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_body {
    ($chosen:ident, [], $default:expr) => {{
        let () = $chosen;
        $default
    }};
    ($chosen:ident, [($verb:ident [$handle:expr] $arguments:tt () $found:pat, $body:expr) $($rest:tt)*], $default:expr) => {
        match $chosen {
            $crate::__select::Chosen::This(found) => {
                let $found = ::core::mem::ManuallyDrop::into_inner(found);
                $body
            }
            $crate::__select::Chosen::Other(others) => {
                $crate::__select_body!(others, [$($rest)*], $default)
            }
        }
    };
    ($chosen:ident, [($verb:ident [$handle:expr] $arguments:tt ($value:expr) $found:pat, $body:expr) $($rest:tt)*], $default:expr) => {
        match $chosen {
            $crate::__select::Chosen::This(found) => {
                let found = ::core::mem::ManuallyDrop::into_inner(found);
                let $found = $crate::__select::send(found, || $value);
                $body
            }
            $crate::__select::Chosen::Other(others) => {
                $crate::__select_body!(others, [$($rest)*], $default)
            }
        }
    };
}
