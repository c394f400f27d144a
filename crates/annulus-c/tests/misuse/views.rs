//! Views, of handles and of what is none.

use std::ptr;

use annulus_c::annulus_status::*;
use annulus_c::*;

use super::Program;

impl Program {
    /// Makes a view, of whatever pointer, looks through one, and ends one.
    pub(super) fn views(&mut self) {
        /// Of one kind of handle.
        macro_rules! view {
            ($handle:expr, $views:ident, $make:ident, $look:expr, $end:ident) => {{
                let handle = $handle;
                let version = if self.dice.below(20) == 0 { 7 } else { ANNULUS_VIEW_VERSION };
                let mut view = std::mem::MaybeUninit::uninit();
                let place = self.place(&mut view).cast();
                // SAFETY: null, or a place; handles as in `send`.
                let status = unsafe { $make(handle, version, place) };
                if status == ANNULUS_OK {
                    // SAFETY: it was filled.
                    self.$views.push(unsafe { view.assume_init() });
                }
                self.saw(status);
                let look: fn(&mut Self, *mut _) -> annulus_status = $look;
                let ends = self.dice.below(3) == 0;
                let status = match self.$views.pop() {
                    None => look(self, ptr::null_mut()),
                    Some(mut view) => {
                        let looked = look(self, &raw mut view);
                        if ends {
                            // SAFETY: filled by the library. Once more: it was ended.
                            let ended = unsafe { ($end(&raw mut view), $end(&raw mut view)) };
                            assert_eq!(ended, (ANNULUS_OK, ANNULUS_OK));
                            assert_eq!(look(self, &raw mut view), ANNULUS_INVALID);
                        } else {
                            self.$views.insert(0, view);
                        }
                        looked
                    }
                };
                self.saw(status);
            }};
        }
        match self.dice.below(4) {
            0 => view!(
                self.producer(),
                senders,
                annulus_producer_view,
                // SAFETY: null, or filled by the library; here and below.
                |_, view| unsafe { annulus_producer_view_look(view, 0) },
                annulus_producer_view_end
            ),
            1 => view!(
                self.consumer(),
                receivers,
                annulus_consumer_view,
                // SAFETY: as above.
                |program, view| unsafe {
                    match program.dice.below(2) {
                        0 => annulus_consumer_view_look(view, 0),
                        _ => annulus_consumer_view_wake(view),
                    }
                },
                annulus_consumer_view_end
            ),
            2 => view!(
                self.one_of(|program| &program.publishers),
                publishes,
                annulus_publisher_view,
                // SAFETY: as above.
                |program, view| unsafe {
                    match program.dice.below(2) {
                        0 => annulus_publisher_view_wake(view),
                        // (Whose size is looked at before the view's.)
                        _ if view.is_null() || (*view).publisher.is_null() => {
                            annulus_publisher_view_wake(view)
                        }
                        _ => annulus_publisher_view_publish(view, program.message(), program.size()),
                    }
                },
                annulus_publisher_view_end
            ),
            _ => view!(
                self.one_of(|program| &program.subscribers),
                receives,
                annulus_subscriber_view,
                // SAFETY: as above.
                |program, view| unsafe {
                    annulus_subscriber_view_recv(view, program.message(), program.size(), 0)
                },
                annulus_subscriber_view_end
            ),
        }
    }

    pub(super) fn end_views(&mut self) {
        macro_rules! ended {
            ($($views:ident $end:ident;)*) => {$(
                for mut view in self.$views.drain(..) {
                    // SAFETY: filled by the library.
                    assert_eq!(unsafe { $end(&raw mut view) }, ANNULUS_OK);
                }
            )*};
        }
        ended! {
            senders annulus_producer_view_end;
            receivers annulus_consumer_view_end;
            publishes annulus_publisher_view_end;
            receives annulus_subscriber_view_end;
        }
    }
}
