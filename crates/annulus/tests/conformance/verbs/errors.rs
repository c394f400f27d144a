//! What the errors of all handles say.

use annulus::{
    CapacityError, LossyRecvError, LossyTryRecvError, RecvError, RegisterError, SendError, TryRecvError,
};

/// One end has one text, whichever verb finds it; and an error inside another one speaks for it.
#[test]
fn one_reason_has_one_text() {
    let end = RecvError::CLOSED.to_string();
    assert!(end.contains("gone, or closed the ring"), "{end}");
    let closed: [&dyn std::error::Error; 3] =
        [&<TryRecvError>::Closed, &<LossyTryRecvError>::Closed, &<LossyRecvError>::Closed];
    assert!(closed.iter().all(|error| error.to_string() == end), "{closed:?}");
    assert_eq!(RegisterError::Closed.to_string(), SendError(()).to_string());
    let capacity = CapacityError::TooSmall { capacity: 0, minimum: 1 };
    assert_eq!(RegisterError::Capacity(capacity.clone()).to_string(), capacity.to_string());
}

/// How many were lost is in the text.
#[test]
fn lag_says_how_many_were_lost() {
    let error: LossyTryRecvError = LossyTryRecvError::Lagged { skipped: 7 };
    let text = error.to_string();
    assert!(text.contains(" 7 messages"), "{text}");
    let error: LossyRecvError = LossyRecvError::Lagged { skipped: 7 };
    assert_eq!(error.to_string(), text);
}

#[cfg(feature = "std")]
#[test]
fn timeout_and_close_have_different_texts() {
    use annulus::RecvTimeoutError;
    assert_eq!(RecvTimeoutError::Timeout.to_string(), "no message came in time");
    assert_eq!(RecvTimeoutError::Closed.to_string(), RecvError::CLOSED.to_string());
}
