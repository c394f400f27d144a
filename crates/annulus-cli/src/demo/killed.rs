//! [`Killed`]: a process that `--kill` has ended in the middle of a run, and what was lost with it.

use serde::Serialize;

use crate::outcome::Outcome;
use crate::page::Page;
use crate::text::{TITLE, counted, grouped, painted};

/// A process that was killed. Also its form in JSON; programs rely on the keys.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "processes need Linux"))]
#[derive(Serialize)]
pub(super) struct Killed {
    pub(super) name: String,
    pub(super) pid: u32,
    /// How many quotes were published by then.
    pub(super) after: u64,
    #[serde(flatten)]
    pub(super) lost: Lost,
}

/// What was lost, by what the process was.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "processes need Linux"))]
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Lost {
    /// It published.
    Feed { quotes_unpublished: u64 },
    /// It was the subscriber at that place.
    Subscriber {
        #[serde(skip)]
        place: usize,
        /// How many quotes it had taken at least, as its seat says. A lossy ring has no seats.
        quotes_taken: Option<u64>,
        /// How many orders its strategies would have placed of all quotes, and did not. Where quotes may have
        /// been lost, nobody knows.
        orders_unplaced: Option<u64>,
    },
    /// It received the orders.
    Gateway {
        orders_placed: u64,
        /// What it had received, and took with it.
        orders_received: u64,
        /// What was left in its queue.
        orders_queued: u64,
        /// What could not be sent any more.
        orders_refused: u64,
    },
}

impl Killed {
    /// Whether the feed is published no further than to here, because it was this one.
    pub(super) fn is_feed(&self) -> bool {
        matches!(self.lost, Lost::Feed { .. })
    }

    pub(super) fn is_gateway(&self) -> bool {
        matches!(self.lost, Lost::Gateway { .. })
    }

    /// What is wrong with what is known of it.
    pub(super) fn fault(&self) -> Option<String> {
        let Lost::Gateway { orders_placed, orders_received, orders_queued, .. } = self.lost else {
            return None;
        };
        let sent = orders_received + orders_queued;
        (sent > orders_placed).then(|| {
            let [sent, placed] = [sent, orders_placed].map(grouped);
            format!("the strategies placed {placed} orders, and {sent} went through their queue")
        })
    }

    /// Says what was lost, in a run of so many quotes.
    pub(super) fn tell(&self, page: &mut Page, total: u64) {
        let Self { name, pid, after, lost } = self;
        let [after, total] = [*after, total].map(grouped);
        page.say(format!(
            "{} {name} (process {pid}), after {after} of {total} quotes were published.",
            painted(TITLE, "Killed:")
        ));
        page.say(format!("{} {}", painted(TITLE, "Lost with it:"), lost.words()));
    }

    /// What the check says if it has passed.
    pub(super) fn verdict(&self) -> &'static str {
        match self.lost {
            Lost::Feed { .. } => {
                "nothing else was lost. For every subscriber, received + lost = published; every order reached \
                 the gateway; and nothing came twice, out of order or corrupted."
            }
            Lost::Subscriber { orders_unplaced: Some(_), .. } => {
                "nothing else was lost. For every other subscriber, received + lost = published; every order \
                 reached the gateway, also each that was placed by the killed one's strategies; and nothing \
                 came twice, out of order or corrupted."
            }
            Lost::Subscriber { .. } => {
                "nothing else was lost. For every other subscriber, received + lost = published; each of their \
                 orders reached the gateway; and nothing came twice, out of order or corrupted."
            }
            Lost::Gateway { .. } => {
                "nothing else was lost. For every subscriber, received + lost = published, and nothing came \
                 twice, out of order or corrupted."
            }
        }
    }

    /// Of a run that has published fewer quotes than there are.
    pub(super) fn outcome(&self) -> Outcome {
        if self.is_feed() { Outcome::Passed } else { Outcome::Interrupted }
    }
}

impl Lost {
    fn words(&self) -> String {
        match *self {
            Self::Feed { quotes_unpublished } => {
                format!("the {} that it had not published.", counted(quotes_unpublished, "quote"))
            }
            Self::Subscriber { quotes_taken: Some(taken), orders_unplaced: Some(unplaced), .. } => format!(
                "its account of the quotes, of which it had taken {} or more, as its seat says; and {} that its \
                 strategies had not placed yet.",
                grouped(taken),
                counted(unplaced, "order")
            ),
            Self::Subscriber { .. } => {
                "its account of the quotes, and the orders that its strategies had not \
                 placed yet. (How many of either, only a ring that loses nothing knows: --lossless.)"
                    .into()
            }
            Self::Gateway { orders_placed, orders_received, orders_queued, orders_refused } => format!(
                "its account of the orders. The strategies placed {}: it had received {}, {} still in its \
                 queue, and {} could not be sent any more.",
                grouped(orders_placed),
                grouped(orders_received),
                if orders_queued == 1 { "1 was".into() } else { format!("{} were", grouped(orders_queued)) },
                grouped(orders_refused)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::plain;

    fn told(lost: Lost) -> String {
        let mut page = Page::new(usize::MAX);
        Killed { name: "it".into(), pid: 7, after: 500, lost }.tell(&mut page, 1_000);
        plain(&page.into_text())
    }

    #[test]
    fn report_of_a_kill_says_what_was_lost() {
        let begin = "Killed: it (process 7), after 500 of 1,000 quotes were published.\nLost with it: ";
        for (lost, end) in [
            (Lost::Feed { quotes_unpublished: 500 }, "the 500 quotes that it had not published.\n"),
            (
                Lost::Subscriber { place: 0, quotes_taken: Some(499), orders_unplaced: Some(1) },
                "its account of the quotes, of which it had taken 499 or more, as its seat says; and 1 order \
                 that its strategies had not placed yet.\n",
            ),
            (
                Lost::Gateway { orders_placed: 9, orders_received: 4, orders_queued: 1, orders_refused: 4 },
                "its account of the orders. The strategies placed 9: it had received 4, 1 was still in its \
                 queue, and 4 could not be sent any more.\n",
            ),
        ] {
            assert_eq!(told(lost), format!("{begin}{end}"));
        }
        let lossy = Lost::Subscriber { place: 0, quotes_taken: None, orders_unplaced: None };
        assert!(
            told(lossy)
                .ends_with(" (How many of either, only a ring that loses nothing knows: --lossless.)\n")
        );
    }

    #[test]
    fn orders_that_nobody_placed_are_a_fault() {
        let of = |orders_received, orders_queued| {
            let lost = Lost::Gateway { orders_placed: 9, orders_received, orders_queued, orders_refused: 0 };
            Killed { name: "gateway".into(), pid: 7, after: 1, lost }.fault()
        };
        assert_eq!(of(8, 1), None);
        assert_eq!(of(8, 2).unwrap(), "the strategies placed 9 orders, and 10 went through their queue");
    }
}
