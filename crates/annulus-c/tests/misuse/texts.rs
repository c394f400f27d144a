//! What each status means.

use std::ffi::CStr;

use annulus_c::annulus_strerror;

use super::STATUSES;

#[test]
fn statuses_have_texts_of_their_own() {
    let text = |status| {
        // SAFETY: the text is constant.
        unsafe { CStr::from_ptr(annulus_strerror(status)) }.to_str().unwrap()
    };
    let count = i32::try_from(STATUSES).unwrap();
    let texts: std::collections::HashSet<_> = (-1..count).map(text).collect();
    assert_eq!(texts.len(), STATUSES + 1, "no two are the same: {texts:?}");
    assert_eq!(text(count), text(-1));
}
