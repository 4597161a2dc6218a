//! Networks in XML: SimGrid's platforms and a part of GraphML.

use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};

use treepie_base::FileError;

use super::lines;
use crate::networks::site::Site;

/// True if a text seems to have either form.
pub(super) fn recognize(text: &str) -> bool {
    let is_xml = lines::first(text).is_some_and(|line| line.starts_with('<'));
    is_xml && (text.contains("<platform") || text.contains("<graphml"))
}

/// Reads either, by its first element.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        FileError::at(
            path,
            line,
            format!("is not valid XML: {error}; correct this line"),
        )
    })?;
    let root = document.root_element();
    let reader = Reader {
        path,
        document: &document,
    };
    match root.tag_name().name() {
        "platform" => reader.platform(root, name),
        "graphml" => reader.graphml(root),
        other => {
            let problem = format!("<{other}> is no network; expected <platform> or <graphml>");
            Err(reader.wrong(root, problem))
        }
    }
}

pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    document: &'a Document<'a>,
}

impl Reader<'_> {
    pub(super) fn wrong(&self, node: Node, problem: String) -> FileError {
        let line = self.document.text_pos_at(node.range().start).row as usize;
        FileError::at(self.path, line, problem)
    }

    pub(super) fn attribute<'n>(
        &self,
        node: Node<'n, '_>,
        name: &str,
    ) -> Result<&'n str, FileError> {
        node.attribute(name).ok_or_else(|| {
            let element = node.tag_name().name();
            self.wrong(node, format!("<{element}> has no `{name}`; add it"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;
    use crate::networks::site::Site;

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("n.xml"), text, None).map_err(|error| error.to_string())
    }

    fn cluster(topology: &str, parameters: &str, radical: &str) -> String {
        format!(
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \
             \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
             <zone id=\"w\" routing=\"Full\">\n<cluster id=\"c\" prefix=\"n\" suffix=\"\" \
             radical=\"{radical}\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" \
             topology=\"{topology}\" topo_parameters=\"{parameters}\"/>\n</zone>\n</platform>\n"
        )
    }

    #[test]
    fn simgrid_clusters_of_all_topologies_are_read() {
        let torus = site(&cluster("TORUS", "4,2", "0-7")).unwrap();
        assert_eq!(torus.network().describe(), "torus 4x2");
        assert_eq!(torus.positions_of(&["n5"]).unwrap(), [5]);
        let fat = site(&cluster("FAT_TREE", "2;4,4;1,2;1,2", "0-15")).unwrap();
        assert_eq!(fat.network().distance(0, 15), 4);
        let fly = site(&cluster("DRAGONFLY", "3,4;2,1;4,1;2", "0-47")).unwrap();
        let at = fly
            .positions_of(&["n0", "n1", "n2", "n8", "n10", "n16", "n18"])
            .unwrap();
        let from_first: Vec<u32> = at
            .iter()
            .map(|&p| fly.network().distance(at[0], p))
            .collect();
        // Same router, other blade, other chassis, next group: blade 1 has the link to its blade 0.
        assert_eq!(from_first, [2, 2, 3, 3, 4, 4, 5]);
        assert_eq!(site(&cluster("FLAT", "", "0-3,9")).unwrap().nodes(), 5);
    }

    #[test]
    fn simgrid_clusters_have_as_many_hosts_as_their_text_is_worth() {
        let many = site(&cluster("FLAT", "", "0-9999")).unwrap();
        assert_eq!(many.nodes(), 10_000);
        let prefix = format!("prefix=\"{}\"", "x".repeat(30_000));
        let long = cluster("FLAT", "", "0-99999").replace("prefix=\"n\"", &prefix);
        for text in [cluster("FLAT", "", "0-1048575"), long] {
            let problem = site(&text).unwrap_err();
            assert!(problem.contains("hosts would take more than"), "{problem}");
        }
    }

    #[test]
    fn general_platforms_and_graphml_are_graphs() {
        let platform = "<platform version='4.1'><zone id='z' routing='Dijkstra'>\
            <host id='a' speed='1Gf'/><host id='b' speed='1Gf'/><router id='r'/>\
            <link id='l' bandwidth='1GBps' latency='1us'/><link id='m' bandwidth='8Gbps' latency='1us'/>\
            <route src='a' dst='r'><link_ctn id='l'/></route>\
            <route src='r' dst='b'><link_ctn id='m'/><link_ctn id='l'/></route></zone></platform>";
        let found = site(platform).unwrap();
        let at = found.positions_of(&["a", "b"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[1]), 3);
        let graph = "<graphml><key id='d0' for='node' attr.name='host' attr.type='string'/>\
            <key id='d1' for='edge' attr.name='length' attr.type='int'/><graph edgedefault='undirected'>\
            <node id='1'><data key='d0'>a</data></node><node id='2'/><node id='3'><data key='d0'>b</data></node>\
            <edge source='1' target='2'><data key='d1'>4</data></edge><edge source='2' target='3'/>\
            </graph></graphml>";
        let found = site(graph).unwrap();
        let at = found.positions_of(&["a", "b"]).unwrap();
        assert_eq!(found.network().distance(at[0], at[1]), 5);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, expected) in [
            (
                cluster("TORUS", "4,2", "0-8"),
                "n.xml:5: c has 9 hosts for the cells of 4x2; correct its sizes or its hosts",
            ),
            (
                cluster("STAR", "", "0-8"),
                "n.xml:5: topology=\"STAR\" is not known; expected TORUS, FAT_TREE, DRAGONFLY or FLAT",
            ),
            (
                cluster("DRAGONFLY", "5,4;2,1;4,1;2", "0-8"),
                "n.xml:5: there are more groups than blades in a chassis to join them",
            ),
            (
                "<graphml><graph><node id='1'/>\n<edge source='1' target='2'/></graph></graphml>"
                    .into(),
                "n.xml:2: there is no node 2; add it",
            ),
            (
                "<graphml><graph><node id='a&#10;b'/></graph></graphml>".into(),
                "n.xml: network: name of a switch is a\\nb: expected no control characters in it",
            ),
            (
                "<graphml>\n<graph><hyperedge/></graph></graphml>".into(),
                "n.xml:2: <hyperedge> is not understood; leave it out",
            ),
            (
                "<note/>".into(),
                "n.xml:1: <note> is no network; expected <platform> or <graphml>",
            ),
        ] {
            assert_eq!(site(&text).unwrap_err(), expected);
        }
        assert!(
            site("<platform>\n<zone>")
                .unwrap_err()
                .contains(": is not valid XML: ")
        );
    }
}
