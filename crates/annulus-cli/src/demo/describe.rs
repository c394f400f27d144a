//! The graph of the demo, printed: as text, as a drawing in the language of Mermaid or Graphviz, or as JSON.

use std::fmt::{self, Write};
use std::str::FromStr;

use serde::Serialize;

use super::graph::{Flow, Graph, Node, Ring};
use crate::text::{counted, quoted};

/// How the graph is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One line for each edge.
    Text,
    /// A flowchart, for Mermaid.
    Mermaid,
    /// A digraph, for Graphviz.
    Dot,
    /// One object, for programs.
    Json,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "mermaid" => Ok(Self::Mermaid),
            "dot" => Ok(Self::Dot),
            "json" => Ok(Self::Json),
            _ => Err(format!(
                "{} is no form of a graph: it must be `text`, `mermaid`, `dot` or `json`",
                quoted(text)
            )),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Json => "json",
        })
    }
}

/// `graph` in this form.
pub(super) fn render(graph: &Graph, form: Form) -> String {
    match form {
        Form::Text => text(graph),
        Form::Mermaid => mermaid(graph),
        Form::Dot => dot(graph),
        Form::Json => json(graph),
    }
}

fn text(graph: &Graph) -> String {
    let mut text = String::new();
    for (from, to, flow) in graph.edges() {
        line(&mut text, format_args!("{} -> {}: {}", graph.name(from), graph.name(to), label(graph, flow)));
    }
    text
}

fn mermaid(graph: &Graph) -> String {
    let escaped = |text: &str| {
        escaped(text, |letter| match letter {
            '"' => Some("#quot;"),
            '#' => Some("#35;"),
            '<' => Some("#lt;"),
            '>' => Some("#gt;"),
            '`' => Some("#96;"),
            _ => None,
        })
    };
    let mut text = String::from("flowchart LR\n");
    for node in graph.nodes() {
        line(&mut text, format_args!("    {}[\"{}\"]", id(node), escaped(graph.name(node))));
    }
    for (from, to, flow) in graph.edges() {
        let label = escaped(&label(graph, flow));
        line(&mut text, format_args!("    {} -->|\"{label}\"| {}", id(from), id(to)));
    }
    text
}

fn dot(graph: &Graph) -> String {
    let escaped = |text: &str| {
        escaped(text, |letter| match letter {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            _ => None,
        })
    };
    let mut text = String::from("digraph demo {\n    rankdir = LR;\n");
    for node in graph.nodes() {
        line(&mut text, format_args!("    {} [label = \"{}\"];", id(node), escaped(graph.name(node))));
    }
    for (from, to, flow) in graph.edges() {
        let label = escaped(&label(graph, flow));
        line(&mut text, format_args!("    {} -> {} [label = \"{label}\"];", id(from), id(to)));
    }
    text + "}\n"
}

/// What both languages call a node: a file's name may have any letters.
fn id(node: Node) -> String {
    match node {
        Node::Feed => "feed".into(),
        Node::Subscriber(place) => format!("subscriber{}", place + 1),
        Node::Gateway => "gateway".into(),
        Node::Output => "output".into(),
    }
}

/// What an edge is, in words.
fn label(graph: &Graph, flow: Flow) -> String {
    let ring = |Ring { kind, slots, name }: &Ring| {
        let name = name.as_ref().map_or_else(String::new, |name| format!(" {}", quoted(name)));
        format!("{kind}{name}, {}", counted(*slots as u64, "slot"))
    };
    match flow {
        Flow::Quotes => ring(&graph.quotes),
        Flow::Orders(index) => format!("{}, orders of {}", ring(&graph.orders), graph.windows(index)),
        Flow::Lines => "a file".into(),
    }
}

/// `text` with some letters written otherwise.
fn escaped(text: &str, escape: impl Fn(char) -> Option<&'static str>) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match escape(letter) {
            Some(instead) => shown.push_str(instead),
            None => shown.push(letter),
        }
    }
    shown
}

/// Writing to a string can't fail.
fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

/// The shape of the JSON. Programs rely on its keys.
#[derive(Serialize)]
struct Object<'a> {
    threads: Vec<Thread<'a>>,
    edges: Vec<Edge<'a>>,
    output: Option<&'a str>,
}

/// A thread in [`Object`], or a process.
#[derive(Serialize)]
struct Thread<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategies: Option<Vec<String>>,
}

/// A ring from one thread to another, in [`Object`]. Edges of one ring have the same number.
#[derive(Serialize)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    ring: String,
    ring_id: usize,
    capacity: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
}

fn json(graph: &Graph) -> String {
    let thread = |node| {
        let strategies = match node {
            Node::Subscriber(place) => {
                let strategies = graph.subscribers[place].strategies.iter();
                Some(strategies.map(|index| graph.windows(*index).to_string()).collect())
            }
            Node::Feed | Node::Gateway => None,
            Node::Output => return None,
        };
        Some(Thread { name: graph.name(node), strategies })
    };
    let edge = |(from, to, flow)| {
        let (ring_id, ring, strategy) = match flow {
            Flow::Quotes => (0, &graph.quotes, None),
            Flow::Orders(index) => (1, &graph.orders, Some(graph.windows(index).to_string())),
            Flow::Lines => return None,
        };
        let (from, to) = (graph.name(from), graph.name(to));
        let (kind, capacity, name) = (ring.kind.to_string(), ring.slots, ring.name.as_deref());
        Some(Edge { from, to, ring: kind, ring_id, capacity, name, strategy })
    };
    let object = Object {
        threads: graph.nodes().into_iter().filter_map(thread).collect(),
        edges: graph.edges().into_iter().filter_map(edge).collect(),
        output: graph.output.as_deref(),
    };
    serde_json::to_string(&object).expect("numbers, names and lists have a form in JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::graph::tests::graph;

    #[test]
    fn name_speaks_neither_to_mermaid_nor_to_graphviz() {
        let graph = graph(1, Some("a\"b\\#quot;`<b>"));
        assert!(render(&graph, Form::Text).ends_with("gateway -> a\"b\\#quot;`<b>: a file\n"));
        let mermaid = render(&graph, Form::Mermaid);
        let expected = "    output[\"a#quot;b\\#35;quot;#96;#lt;b#gt;\"]\n";
        assert!(mermaid.contains(expected), "{mermaid}");
        let dot = render(&graph, Form::Dot);
        assert!(dot.contains("    output [label = \"a\\\"b\\\\#quot;`<b>\"];\n"), "{dot}");
    }

    #[test]
    fn rings_between_processes_have_names() {
        let graph = graph(1, None).shared("a");
        let text = render(&graph, Form::Text);
        assert!(text.starts_with("feed -> subscriber-1: lossy broadcast `a-quotes`, 8 slots\n"), "{text}");
        assert!(text.ends_with("mpsc `a-orders`, 4,096 slots, orders of 5/6\n"), "{text}");
        let json = render(&graph, Form::Json);
        for part in [
            r#""ring":"lossy broadcast","ring_id":0,"capacity":8,"name":"a-quotes"}"#,
            r#""capacity":4096,"name":"a-orders","strategy":"5/6"}"#,
        ] {
            assert!(json.contains(part), "{part}\nis not in\n{json}");
        }
    }

    #[test]
    fn json_is_one_line_with_these_keys() {
        let edge = |from, to, rest| format!(r#"{{"from":"{from}","to":"{to}","ring":{rest}}}"#);
        let order = |strategy| format!(r#""mpsc","ring_id":1,"capacity":4096,"strategy":"{strategy}""#);
        let edges = [
            edge("feed", "subscriber-1", r#""lossy broadcast","ring_id":0,"capacity":8"#),
            edge("subscriber-1", "gateway", &order("1/2")),
            edge("subscriber-1", "gateway", &order("3/4")),
            edge("subscriber-1", "gateway", &order("5/6")),
        ];
        let threads = r#"[{"name":"feed"},{"name":"subscriber-1","strategies":["1/2","3/4","5/6"]},{"name":"gateway"}]"#;
        let expected =
            format!(r#"{{"threads":{threads},"edges":[{}],"output":null}}"#, edges.join(",")) + "\n";
        assert_eq!(render(&graph(1, None), Form::Json), expected);
    }
}
