//! Ranks as a graph: GraphML (networkx, igraph, Gephi) and GEXF (Gephi). A node has the host and
//! the cores of a rank, and those of a placement, if any; an edge has the traffic.

use std::io::{self, Write};

use treepie_profile::Profile;

use super::form::Extras;
use super::rows::{cores, edges, hosts};
use crate::input::choice::MatrixChoice;

/// Attributes of nodes: names and values of all ranks, in their order.
fn nodes(profile: &Profile, extras: &Extras) -> Vec<(&'static str, Vec<String>)> {
    let mut all = vec![("host", hosts(profile)), ("cores", cores(profile))];
    if !extras.placed.is_empty() {
        let (hosts, cores) = extras.placed.iter().cloned().unzip();
        all.push(("host_after", hosts));
        all.push(("core_after", cores));
    }
    all
}

fn escaped(text: &str) -> String {
    let replaced = text.replace('&', "&amp;").replace('<', "&lt;");
    replaced.replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes GraphML.
pub(super) fn graphml(
    profile: &Profile,
    choice: &MatrixChoice,
    extras: &Extras,
    out: &mut dyn Write,
) -> io::Result<()> {
    let attributes = nodes(profile, extras);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
    )?;
    let key = |name: &str, of: &str, kind: &str| {
        format!("  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>")
    };
    for (name, _) in &attributes {
        writeln!(out, "{}", key(name, "node", "string"))?;
    }
    for name in ["messages", "bytes"] {
        writeln!(out, "{}", key(name, "edge", "long"))?;
    }
    writeln!(out, "  <graph id=\"ranks\" edgedefault=\"directed\">")?;
    for rank in 0..profile.ranks {
        writeln!(out, "    <node id=\"{rank}\">")?;
        for (name, values) in &attributes {
            let value = values.get(rank).map_or("", String::as_str);
            writeln!(out, "      <data key=\"{name}\">{}</data>", escaped(value))?;
        }
        writeln!(out, "    </node>")?;
    }
    for (from, to, messages, bytes) in edges(profile, choice) {
        writeln!(
            out,
            "    <edge source=\"{from}\" target=\"{to}\"><data key=\"messages\">{messages}</data>\
             <data key=\"bytes\">{bytes}</data></edge>"
        )?;
    }
    writeln!(out, "  </graph>\n</graphml>")
}

/// Writes GEXF 1.3; the weight of an edge is its bytes.
pub(super) fn gexf(
    profile: &Profile,
    choice: &MatrixChoice,
    extras: &Extras,
    out: &mut dyn Write,
) -> io::Result<()> {
    let attributes = nodes(profile, extras);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\">\n  <graph defaultedgetype=\"directed\">"
    )?;
    writeln!(out, "    <attributes class=\"node\">")?;
    for (number, (name, _)) in attributes.iter().enumerate() {
        writeln!(
            out,
            "      <attribute id=\"{number}\" title=\"{name}\" type=\"string\"/>"
        )?;
    }
    writeln!(out, "    </attributes>\n    <attributes class=\"edge\">")?;
    writeln!(
        out,
        "      <attribute id=\"0\" title=\"messages\" type=\"long\"/>\n    </attributes>\n    <nodes>"
    )?;
    for rank in 0..profile.ranks {
        writeln!(
            out,
            "      <node id=\"{rank}\" label=\"rank {rank}\"><attvalues>"
        )?;
        for (number, (_, values)) in attributes.iter().enumerate() {
            let value = escaped(values.get(rank).map_or("", String::as_str));
            writeln!(
                out,
                "        <attvalue for=\"{number}\" value=\"{value}\"/>"
            )?;
        }
        writeln!(out, "      </attvalues></node>")?;
    }
    writeln!(out, "    </nodes>\n    <edges>")?;
    for (number, (from, to, messages, bytes)) in edges(profile, choice).into_iter().enumerate() {
        writeln!(
            out,
            "      <edge id=\"{number}\" source=\"{from}\" target=\"{to}\" weight=\"{bytes}\">\
             <attvalues><attvalue for=\"0\" value=\"{messages}\"/></attvalues></edge>"
        )?;
    }
    writeln!(out, "    </edges>\n  </graph>\n</gexf>")
}
