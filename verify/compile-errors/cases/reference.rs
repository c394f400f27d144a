// errors: 1
// says: `&'static str` cannot be copied through a ring

fn main() {
    let (_publisher, _subscribable) = annulus::channel_bounded::<&'static str>(64, 0);
}
