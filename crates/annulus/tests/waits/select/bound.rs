//! How many arms there may be.

use annulus::queue::ordered;
use annulus::select_biased;

use crate::select::MOMENT;

/// As many as the documentation says, in the form that costs the macro most.
#[test]
fn arms_may_be_56() {
    let (s, r) = ordered::channel(2);
    s.send(7).unwrap();
    let taken = select_biased! {
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 0 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 1 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 2 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 3 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 4 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 5 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 6 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 7 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 8 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 9 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 10 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 11 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 12 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 13 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 14 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 15 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 16 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 17 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 18 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 19 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 20 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 21 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 22 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 23 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 24 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 25 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 26 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 27 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 28 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 29 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 30 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 31 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 32 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 33 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 34 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 35 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 36 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 37 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 38 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 39 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 40 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 41 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 42 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 43 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 44 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 45 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 46 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 47 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 48 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 49 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 50 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 51 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 52 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 53 },
        recv(r.clone()) -> message => { assert_eq!(message, Ok(7)); 54 },
        send(s, 8) -> sent => { sent.unwrap(); 55 },
        default(MOMENT) => { 56 },
    };
    assert_eq!(taken, 0);
}
