//! [`Graph`]: what a pipeline is made of, as a value that can be printed.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::wait::WaitStrategy;

/// What a pipeline is made of: its stages, and the rings between them; made by
/// [`Pipeline::describe`](super::Pipeline::describe).
///
/// It prints itself as text, one line for each edge. [`mermaid`](Self::mermaid) and
/// [`graphviz`](Self::graphviz) draw it.
///
/// ```
/// use annulus::pipeline::Pipeline;
///
/// let (input, stages) = Pipeline::builder().capacity(64).input::<u64>();
/// let (outputs, pipeline) = stages.then(|x| x * 2).name("double").build();
/// assert_eq!(
///     pipeline.describe().to_string(),
///     "input -> double: spsc, 64 slots\n\
///      double -> output: spsc, 64 slots\n"
/// );
/// # drop((input, outputs));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Graph {
    /// The stages, in the order in which the builder made them.
    pub stages: Vec<StageInfo>,
    /// The edges, in the same order.
    pub edges: Vec<EdgeInfo>,
}

/// A stage of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageInfo {
    /// Its name: the one it was given, or what it does and its number.
    pub name: String,
    /// How many threads it has.
    pub threads: usize,
    /// The core that each thread runs on, by the system's number. Empty if they may run on any.
    pub cores: Vec<usize>,
    /// How it waits for messages, and for room.
    pub strategy: WaitStrategy,
}

/// An edge of a [`Graph`]: from one stage to another, through a ring. Edges with the same ring share it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeInfo {
    /// The node that sends.
    pub from: Node,
    /// The node that receives.
    pub to: Node,
    /// What the ring is.
    pub ring: RingKind,
    /// The number of the ring.
    pub ring_id: usize,
    /// How many messages the ring holds. (Of a ring for each producer: each of them.)
    pub capacity: usize,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Node {
    /// The pipeline's input.
    Input,
    /// The stage with this number, from 0.
    Stage(usize),
    /// The output with this number, from 0.
    Output(usize),
}

/// The ring of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RingKind {
    /// A queue with one producer: messages are moved.
    Spsc,
    /// A queue with a ring for each producer: messages are moved.
    Mpsc,
    /// A queue from which each message goes to one of the stage's threads.
    Ordered,
    /// A queue for each thread of a stage, which get the messages in turn.
    InTurn,
    /// A lossless broadcast ring: messages are copied.
    Lossless,
    /// A lossy broadcast ring: messages are copied, and a slow reader loses the oldest.
    Lossy,
    /// A receiving handle that was given to [`Builder::source`](super::Builder::source). Its capacity is not
    /// known (0).
    Source,
}

impl fmt::Display for RingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spsc => "spsc",
            Self::Mpsc => "mpsc",
            Self::Ordered => "ordered",
            Self::InTurn => "spsc for each thread",
            Self::Lossless => "lossless broadcast",
            Self::Lossy => "lossy broadcast",
            Self::Source => "a receiving handle",
        })
    }
}

impl Graph {
    /// The name of a node: `input`, `output` or the stage's name. With several outputs, `output 0` and so on.
    #[must_use]
    pub fn name(&self, node: Node) -> String {
        match node {
            Node::Input => "input".to_string(),
            Node::Stage(index) => {
                self.stages.get(index).map_or_else(|| alloc::format!("stage {index}"), |s| s.name.clone())
            }
            Node::Output(index) if self.outputs() > 1 => alloc::format!("output {index}"),
            Node::Output(_) => "output".to_string(),
        }
    }

    /// The graph in the language of Mermaid, as a `flowchart`.
    #[must_use]
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for node in self.nodes() {
            line(&mut text, format_args!("    {}[\"{}\"]", id(node), in_mermaid(&self.label(node))));
        }
        for edge in &self.edges {
            let (from, to) = (id(edge.from), id(edge.to));
            line(&mut text, format_args!("    {from} -->|\"{}, {}\"| {to}", edge.ring, edge.capacity));
        }
        text
    }

    /// The graph in the language of Graphviz, as a `digraph`.
    #[must_use]
    pub fn graphviz(&self) -> String {
        let mut text = String::from("digraph pipeline {\n    rankdir = LR;\n");
        for node in self.nodes() {
            line(
                &mut text,
                format_args!("    {} [label = \"{}\"];", id(node), in_graphviz(&self.label(node))),
            );
        }
        for edge in &self.edges {
            let (from, to) = (id(edge.from), id(edge.to));
            line(
                &mut text,
                format_args!("    {from} -> {to} [label = \"{}, {}\"];", edge.ring, edge.capacity),
            );
        }
        text.push_str("}\n");
        text
    }

    fn outputs(&self) -> usize {
        self.nodes().iter().filter(|node| matches!(node, Node::Output(_))).count()
    }

    /// All nodes that an edge has, and all stages, each once.
    fn nodes(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let stages = (0..self.stages.len()).map(Node::Stage);
        for node in self.edges.iter().flat_map(|edge| [edge.from, edge.to]).chain(stages) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    }

    fn label(&self, node: Node) -> String {
        let name = self.name(node);
        let Node::Stage(index) = node else { return name };
        let Some(StageInfo { threads, cores, .. }) = self.stages.get(index) else { return name };
        match (threads, cores.as_slice()) {
            (1, []) => name,
            (1, [core]) => alloc::format!("{name} (core {core})"),
            (_, []) => alloc::format!("{name} ({threads} threads)"),
            _ => alloc::format!("{name} ({threads} threads, cores {cores:?})"),
        }
    }

    pub(super) fn edge_name(&self, edge: usize) -> String {
        let edge = &self.edges[edge];
        alloc::format!("{} -> {}", self.name(edge.from), self.name(edge.to))
    }
}

/// Writing to a string can't fail.
fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

/// What both languages call a node: names of stages may have any letters.
fn id(node: Node) -> String {
    match node {
        Node::Input => "input".to_string(),
        Node::Stage(index) => alloc::format!("stage{index}"),
        Node::Output(index) => alloc::format!("output{index}"),
    }
}

/// `name` between quotation marks, in Mermaid: a character by its number where it could mean something.
fn in_mermaid(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_alphanumeric() || " (),.:_-[]/+".contains(letter) {
            text.push(letter);
        } else {
            let _ = write!(text, "#{};", u32::from(letter));
        }
    }
    text
}

/// `name` between quotation marks, in Graphviz.
fn in_graphviz(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// One line for each edge.
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for edge in &self.edges {
            let (from, to) = (self.label(edge.from), self.label(edge.to));
            writeln!(f, "{from} -> {to}: {}, {} slots", edge.ring, edge.capacity)?;
        }
        Ok(())
    }
}
