//! Messages of several words, up to 4 KiB, where the copy is what costs.

use std::time::Instant;

use super::entries::contenders;
use crate::contenders::{Annulus, Contender, Named, PhotonRing, Publisher, Subscriber, Tokio};
use crate::floor;
use crate::messages::Page;
use crate::row::{Plan, Row, Sample};
use crate::timing::{ns_each, phases};

const AXIS: &str = "bytes of a message";

pub fn rows() -> [Row; 9] {
    [
        row::<1>("payload of 8 bytes", 64, 1_000_000),
        row::<2>("payload of 16 bytes", 64, 1_000_000),
        row::<3>("payload of 24 bytes", 64, 1_000_000),
        row::<8>("payload of 64 bytes", 64, 500_000),
        row::<32>("payload of 256 bytes", 64, 200_000),
        row::<128>("payload of 1,024 bytes", 64, 100_000),
        row::<512>("4 KiB, ring of 64", 64, 50_000).target(PhotonRing::NAME, 0.25),
        Row { place: None, ..row::<512>("4 KiB, ring of 4", 4, 50_000) }.target(PhotonRing::NAME, 0.25),
        Row { place: None, ..row::<512>("4 KiB, ring of 1024", 1024, 50_000) }.target(PhotonRing::NAME, 0.25),
    ]
}

fn row<const WORDS: usize>(name: &'static str, capacity: usize, messages: u64) -> Row {
    Row::new(
        name,
        "words from a buffer that changes each time, published, received and summed up on one thread",
        capacity,
        messages,
    )
    .at(AXIS, 8 * WORDS as u64)
    .entries(contenders!(publish_and_receive: Annulus, PhotonRing, Tokio; WORDS))
    .floor("a memcpy in, one out, and the sum", floor::copy_in_and_out::<WORDS>)
}

#[inline(never)]
fn publish_and_receive<C: Contender, const WORDS: usize>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<[u64; WORDS]>(plan.capacity);
    let mut page = Page::<WORDS>::new();
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            page.change(i);
            publisher.publish(page.words);
            match subscriber.try_recv() {
                Ok(received) => assert!(Page::sum_of(&received) == page.sum),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    ns_each(begun, plan.messages).into()
}
