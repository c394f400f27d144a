//! The graph of the demo: its threads (or processes), and the rings between them.
//!
//! A run makes its [threads](super::threads) or its processes, and its rings, from this list, and
//! [`describe`](super::describe) prints it. Why it is no pipeline of the library: decision 0077. Why
//! processes run the functions of its threads: decision 0112.

use annulus::pipeline::RingKind;

use super::strategy::Windows;

/// Orders that a strategy can be ahead of the gateway. One that is further ahead waits.
const ORDERS_AHEAD: usize = 4_096;

/// The threads of the demo, or its processes, and the rings between them.
pub(super) struct Graph {
    /// The ring of quotes, from the feed to each subscriber.
    pub(super) quotes: Ring,
    /// The ring of orders that each strategy has, to the gateway.
    pub(super) orders: Ring,
    /// Each is a thread, and has an edge from the feed.
    pub(super) subscribers: Vec<Subscriber>,
    /// All strategies, by index.
    pub(super) strategies: Vec<Windows>,
    /// What the user calls the file of orders, if the gateway writes one; fit for a message.
    pub(super) output: Option<String>,
}

/// A ring, or a ring for each producer.
pub(super) struct Ring {
    pub(super) kind: RingKind,
    pub(super) slots: usize,
    /// Where processes share it: its name.
    pub(super) name: Option<String>,
}

impl Ring {
    /// Its name between processes.
    #[cfg(target_os = "linux")]
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

/// A thread or a process that receives quotes.
pub(super) struct Subscriber {
    /// The name of the thread, or of the process.
    pub(super) name: String,
    /// The indexes of its strategies, each of which has an edge to the gateway.
    pub(super) strategies: Vec<u16>,
}

/// The name of the gateway's thread, or of its process.
pub(super) const GATEWAY: &str = "gateway";

/// A thread (or a process), or the file of orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Feed,
    /// The place in [`Graph::subscribers`].
    Subscriber(usize),
    Gateway,
    Output,
}

/// What goes from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Every quote.
    Quotes,
    /// The orders of the strategy with this index.
    Orders(u16),
    /// A line for each order, written to the file.
    Lines,
}

/// An edge: from where, to where, and what.
pub(super) type Edge = (Node, Node, Flow);

impl Graph {
    /// A graph with so many `subscribers`, to which the `strategies` are dealt in turn.
    pub(super) fn new(
        is_lossless: bool,
        slots: usize,
        subscribers: usize,
        strategies: &[Windows],
        output: Option<String>,
    ) -> Self {
        let kind = if is_lossless { RingKind::Lossless } else { RingKind::Lossy };
        let subscriber = |place| Subscriber {
            name: format!("subscriber-{}", place + 1),
            strategies: (0..).take(strategies.len()).skip(place).step_by(subscribers).collect(),
        };
        Self {
            quotes: Ring { kind, slots, name: None },
            orders: Ring { kind: RingKind::Mpsc, slots: ORDERS_AHEAD, name: None },
            subscribers: (0..subscribers).map(subscriber).collect(),
            strategies: strategies.to_vec(),
            output,
        }
    }

    /// The same for processes, which find the rings by names that begin with this one.
    pub(super) fn shared(mut self, name: &str) -> Self {
        self.quotes.name = Some(format!("{name}-quotes"));
        self.orders.name = Some(format!("{name}-orders"));
        self
    }

    /// Whether the feed waits for the slowest subscriber.
    pub(super) fn is_lossless(&self) -> bool {
        self.quotes.kind == RingKind::Lossless
    }

    /// All nodes, in the order in which messages pass them.
    pub(super) fn nodes(&self) -> Vec<Node> {
        let mut nodes = vec![Node::Feed];
        nodes.extend((0..self.subscribers.len()).map(Node::Subscriber));
        nodes.push(Node::Gateway);
        nodes.extend(self.output.iter().map(|_| Node::Output));
        nodes
    }

    /// All edges, in the order of the nodes that they come from.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let places = 0..self.subscribers.len();
        let mut edges: Vec<Edge> =
            places.map(|place| (Node::Feed, Node::Subscriber(place), Flow::Quotes)).collect();
        for (place, subscriber) in self.subscribers.iter().enumerate() {
            let strategies = subscriber.strategies.iter();
            edges.extend(
                strategies.map(|index| (Node::Subscriber(place), Node::Gateway, Flow::Orders(*index))),
            );
        }
        edges.extend(self.output.iter().map(|_| (Node::Gateway, Node::Output, Flow::Lines)));
        edges
    }

    /// What a node is called.
    pub(super) fn name(&self, node: Node) -> &str {
        match node {
            Node::Feed => "feed",
            Node::Subscriber(place) => &self.subscribers[place].name,
            Node::Gateway => GATEWAY,
            Node::Output => self.output.as_deref().unwrap_or_default(),
        }
    }

    /// The windows of the strategy with this index.
    pub(super) fn windows(&self, index: u16) -> Windows {
        self.strategies[usize::from(index)]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::demo::strategy::tests::windows;

    /// A graph of three strategies.
    pub(in crate::demo) fn graph(subscribers: usize, output: Option<&str>) -> Graph {
        let strategies = ["1/2", "3/4", "5/6"].map(windows);
        Graph::new(false, 8, subscribers, &strategies, output.map(String::from))
    }

    #[test]
    fn strategies_are_dealt_in_turn() {
        let dealt = |subscribers| {
            let subscribers = graph(subscribers, None).subscribers.into_iter();
            subscribers.map(|subscriber| subscriber.strategies).collect::<Vec<_>>()
        };
        assert_eq!(dealt(1), [vec![0, 1, 2]]);
        assert_eq!(dealt(2), [vec![0, 2], vec![1]]);
        assert_eq!(dealt(4), [vec![0], vec![1], vec![2], vec![]]);
    }

    #[test]
    fn subscribers_get_quotes_and_strategies_send_orders() {
        let graph = graph(2, Some("orders.csv"));
        let edges: Vec<_> = graph
            .edges()
            .into_iter()
            .map(|(from, to, flow)| (graph.name(from).to_owned(), graph.name(to).to_owned(), flow))
            .collect();
        let edge = |from: &str, to: &str, flow| (from.to_owned(), to.to_owned(), flow);
        assert_eq!(
            edges,
            [
                edge("feed", "subscriber-1", Flow::Quotes),
                edge("feed", "subscriber-2", Flow::Quotes),
                edge("subscriber-1", "gateway", Flow::Orders(0)),
                edge("subscriber-1", "gateway", Flow::Orders(2)),
                edge("subscriber-2", "gateway", Flow::Orders(1)),
                edge("gateway", "orders.csv", Flow::Lines),
            ]
        );
    }
}
