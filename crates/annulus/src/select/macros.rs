//! The macros [`select!`](crate::select!) and [`select_biased!`](crate::select_biased!).

/// Waits.
#[macro_export]
macro_rules! select {
    ($($arms:tt)+) => {
        $crate::__select_arms!(true, [] () $($arms)+)
    };
}

/// Biased.
#[macro_export]
macro_rules! select_biased {
    ($($arms:tt)+) => {
        $crate::__select_arms!(false, [] () $($arms)+)
    };
}

/// Reads the arms one by one: `[(recv_in_select [handle] () pattern, body) …] (default)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_arms {
    // All are read.
    ($fair:tt, [$($arm:tt)+] ()) => {
        $crate::__select_run!($fair, ($crate::__select::Until::Found), [$($arm)+],
            ::core::unreachable!("a wait without a timeout ends with a message"))
    };
    ($fair:tt, [$($arm:tt)*] (($until:expr) $body:expr)) => {
        $crate::__select_run!($fair, ($until), [$($arm)*], $body)
    };
    // The end of an arm with a block, with or without a comma.
    ($fair:tt, $arms:tt $default:tt , $($rest:tt)*) => {
        $crate::__select_arms!($fair, $arms $default $($rest)*)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt recv($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($arm)* (recv_in_select [$handle] () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt recv($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($arm)* (recv_in_select [$handle] () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt recv_or_lag($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($arm)* (recv_or_lag_in_select [$handle] () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt recv_or_lag($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($arm)* (recv_or_lag_in_select [$handle] () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt wait($handle:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($arm)* (wait_in_select [$handle] () $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt wait($handle:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($arm)* (wait_in_select [$handle] () $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt send($handle:expr, $value:expr) -> $found:pat => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, [$($arm)* (send_in_select [$handle] ($value) $found, $body)] $default $($rest)*)
    };
    ($fair:tt, [$($arm:tt)*] $default:tt send($handle:expr, $value:expr) -> $found:pat => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, [$($arm)* (send_in_select [$handle] ($value) $found, $body)] $default $($($rest)*)?)
    };
    ($fair:tt, $arms:tt () default => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, $arms (($crate::__select::Until::Now) $body) $($rest)*)
    };
    ($fair:tt, $arms:tt () default => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, $arms (($crate::__select::Until::Now) $body) $($($rest)*)?)
    };
    ($fair:tt, $arms:tt () default($timeout:expr) => $body:block $($rest:tt)*) => {
        $crate::__select_arms!($fair, $arms (($crate::__select::Until::Passed($timeout)) $body) $($rest)*)
    };
    ($fair:tt, $arms:tt () default($timeout:expr) => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select_arms!($fair, $arms (($crate::__select::Until::Passed($timeout)) $body) $($($rest)*)?)
    };
    ($fair:tt, $arms:tt ($($default:tt)+) default $($rest:tt)*) => {
        ::core::compile_error!("`select!` has two `default` arms; it can have one")
    };
    ($fair:tt, $arms:tt $default:tt $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`select!` expects an arm: `recv(handle) -> message => expression`, \
             `recv_or_lag(subscriber) -> message => expression`, `wait(event_subscriber) -> result => expression`, \
             `send(handle, value) -> result => expression`, `default => expression` or \
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
    (($verb:ident [$handle:expr] $value:tt $found:pat, $body:expr) $($rest:tt)*) => {
        ($crate::__select::Place::new(($handle).$verb()), $crate::__select_list!($($rest)*))
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
    ($chosen:ident, [($verb:ident [$handle:expr] () $found:pat, $body:expr) $($rest:tt)*], $default:expr) => {
        match $chosen {
            $crate::__select::Chosen::This(found) => {
                let $found = found;
                $body
            }
            $crate::__select::Chosen::Other(others) => {
                $crate::__select_body!(others, [$($rest)*], $default)
            }
        }
    };
    ($chosen:ident, [(send_in_select [$handle:expr] ($value:expr) $found:pat, $body:expr) $($rest:tt)*], $default:expr) => {
        match $chosen {
            $crate::__select::Chosen::This(found) => {
                let $found = found.send(|| $value);
                $body
            }
            $crate::__select::Chosen::Other(others) => {
                $crate::__select_body!(others, [$($rest)*], $default)
            }
        }
    };
}
