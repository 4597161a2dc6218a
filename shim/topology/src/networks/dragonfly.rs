//! Dragonflies: groups of closely connected routers, joined by global links (Kim, Dally, Scott and
//! Abts 2008).

use super::error::NetworkError;
use super::error::out_of_range;
use super::fabric::{Fabric, POSITION_LIMIT};

/// Destination of the global port `q` of group `G` of `g` groups, with the names of Hastings et al.
/// 2015.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// To group `q`, or `q + 1` from `G` on.
    #[default]
    Absolute,
    /// To group `G + q + 1`, modulo `g`.
    Relative,
    /// To the groups at +1, -1, +2, -2, ...
    Circulant,
}

/// The network inside a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// Every router is joined to every other: canonical, Slingshot.
    Complete,
    /// Rows and columns are complete graphs, as in Aries with 16 columns and 6 rows.
    Rows {
        /// Routers in a row.
        columns: usize,
    },
}

/// Definition of distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paths {
    /// Minimal routes of the dragonfly: local, global, local.
    #[default]
    Minimal,
    /// Shortest paths in the graph, which may use two global links (Curtsinger and Bunde 2019).
    Shortest,
}

/// Maximum number of routers whose distances are stored in a table.
const TABLE_LIMIT: usize = 1 << 13;

/// A dragonfly. Positions are routers, numbered group by group.
#[derive(Debug, Clone, PartialEq)]
pub struct Dragonfly {
    routers: usize,
    ports: usize,
    groups: usize,
    local: Local,
    arrangement: Arrangement,
    paths: Paths,
    /// Number of links between two groups.
    links_between: usize,
    /// Router in group `G` of its `i`-th link to group `T`: `gates[(G * groups + T) * links + i]`.
    gates: Vec<u32>,
    /// Shortest distances between routers, if these define the distance.
    table: Vec<u8>,
}

impl Dragonfly {
    /// Builds a dragonfly of `groups` groups of `routers` routers with `ports` global links each.
    ///
    /// # Errors
    /// A number is 0, there are more groups than global links can join, there are too many routers,
    /// shortest paths are required between more than 8192 routers, or rows do not fill a group.
    pub fn new(
        (routers, ports, groups): (usize, usize, usize),
        local: Local,
        arrangement: Arrangement,
        paths: Paths,
    ) -> Result<Self, NetworkError> {
        for (what, value) in [("routers of a group", routers), ("groups", groups)] {
            if value == 0 {
                return Err(out_of_range(what, value, "at least 1"));
            }
        }
        let all = routers.checked_mul(groups).filter(|&n| n <= POSITION_LIMIT);
        let all = all.ok_or(NetworkError::TooLarge)?;
        let global = routers.checked_mul(ports).filter(|&n| n <= POSITION_LIMIT);
        let global = global.ok_or(NetworkError::TooLarge)?;
        if groups - 1 > global {
            let expected = format!(
                "at most {}, one more than the global links of a group",
                global + 1
            );
            return Err(out_of_range("number of groups", groups, expected));
        }
        // A network has one link for each pair of routers of a group; its number must fit.
        if routers > 4096 || groups > 4096 {
            let expected = "at most 4096 groups of at most 4096 routers";
            return Err(out_of_range(
                "the dragonfly",
                format!("{groups} groups of {routers}"),
                expected,
            ));
        }
        if let Local::Rows { columns } = local
            && (columns == 0 || routers % columns != 0)
        {
            let expected = format!("a divisor of the {routers} routers of a group");
            return Err(out_of_range("routers in a row", columns, expected));
        }
        if paths == Paths::Shortest && all > TABLE_LIMIT {
            let expected = format!("at most {TABLE_LIMIT} for shortest paths; use minimal ones");
            return Err(out_of_range("number of routers", all, expected));
        }
        let links_between = match groups {
            1 => 0,
            groups => (global / (groups - 1)).max(1),
        };
        let mut dragonfly = Dragonfly {
            gates: vec![0; groups * groups * links_between],
            table: Vec::new(),
            routers,
            ports,
            groups,
            local,
            arrangement,
            paths,
            links_between,
        };
        for group in 0..groups {
            for port in 0..links_between * (groups - 1) {
                let other = dragonfly.leads_to(group, port % (groups - 1));
                let link = port / (groups - 1);
                let at = (group * groups + other) * links_between + link;
                dragonfly.gates[at] = (port / ports) as u32;
            }
        }
        if paths == Paths::Shortest {
            dragonfly.table = dragonfly.shortest();
        }
        Ok(dragonfly)
    }

    /// The group at the other end of port `port` of `group`; ports are numbered below the number of
    /// other groups.
    fn leads_to(&self, group: usize, port: usize) -> usize {
        let groups = self.groups;
        match self.arrangement {
            Arrangement::Absolute => port + usize::from(port >= group),
            Arrangement::Relative => (group + port + 1) % groups,
            Arrangement::Circulant => {
                let apart = port / 2 + 1;
                match port.is_multiple_of(2) {
                    true => (group + apart) % groups,
                    false => (group + groups - apart) % groups,
                }
            }
        }
    }

    /// The port of `group` to `other`, the inverse of [`Dragonfly::leads_to`].
    fn port_to(&self, group: usize, other: usize) -> usize {
        let groups = self.groups;
        match self.arrangement {
            Arrangement::Absolute => other - usize::from(other > group),
            Arrangement::Relative => (other + groups - group - 1) % groups,
            Arrangement::Circulant => {
                let up = (other + groups - group) % groups;
                match 2 * up <= groups {
                    true => 2 * (up - 1),
                    false => 2 * (groups - up - 1) + 1,
                }
            }
        }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Routers in a group.
    pub fn routers(&self) -> usize {
        self.routers
    }

    /// Definition of distance.
    pub fn paths(&self) -> Paths {
        self.paths
    }

    /// The group of a position.
    pub fn group_of(&self, position: usize) -> usize {
        position / self.routers
    }

    /// True if a link is between groups.
    pub(crate) fn is_global(&self, link: usize) -> bool {
        link >= self.groups * self.routers * self.routers
    }

    /// Number of links between two routers of a group.
    fn local_distance(&self, a: usize, b: usize) -> u32 {
        match self.local {
            Local::Complete => u32::from(a != b),
            Local::Rows { columns } => {
                u32::from(a / columns != b / columns) + u32::from(a % columns != b % columns)
            }
        }
    }

    /// Router of `group` that has the i-th link to `other`.
    fn gate(&self, group: usize, other: usize, link: usize) -> usize {
        self.gates[(group * self.groups + other) * self.links_between + link] as usize
    }

    /// Number of links on a minimal route over the i-th link between the groups of two routers.
    fn over(&self, (from, a): (usize, usize), (to, b): (usize, usize), link: usize) -> u32 {
        let (out, into) = (self.gate(from, to, link), self.gate(to, from, link));
        self.local_distance(a, out) + 1 + self.local_distance(into, b)
    }

    fn minimal(&self, a: usize, b: usize) -> u32 {
        let (from, to) = (a / self.routers, b / self.routers);
        let (a, b) = (a % self.routers, b % self.routers);
        if from == to {
            return self.local_distance(a, b);
        }
        let links = 0..self.links_between;
        let lengths = links.map(|link| self.over((from, a), (to, b), link));
        lengths.min().unwrap_or(0)
    }

    /// Shortest paths between all routers, by breadth-first search.
    fn shortest(&self) -> Vec<u8> {
        let all = self.groups * self.routers;
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); all];
        for link in 0..self.links() {
            if let Some((from, to)) = self.ends(link) {
                next[from].push(to as u32);
            }
        }
        let mut table = vec![u8::MAX; all * all];
        let mut queue: Vec<u32> = Vec::with_capacity(all);
        for (start, row) in table.chunks_exact_mut(all).enumerate() {
            row[start] = 0;
            queue.clear();
            queue.push(start as u32);
            let mut at = 0;
            while let Some(&here) = queue.get(at) {
                at += 1;
                for &there in &next[here as usize] {
                    if row[there as usize] == u8::MAX {
                        row[there as usize] = row[here as usize] + 1;
                        queue.push(there);
                    }
                }
            }
        }
        table
    }

    /// The links inside `group` on the path from router `a` to `b`.
    fn route_inside(
        &self,
        group: usize,
        a: usize,
        b: usize,
        share: f64,
        each: &mut dyn FnMut(usize, f64),
    ) {
        let link = |a: usize, b: usize| (group * self.routers + a) * self.routers + b;
        if a == b {
            return;
        }
        match self.local {
            Local::Rows { columns } if self.local_distance(a, b) == 2 => {
                // Along the row first.
                let corner = a / columns * columns + b % columns;
                each(link(a, corner), share);
                each(link(corner, b), share);
            }
            _ => each(link(a, b), share),
        }
    }
}

impl Fabric for Dragonfly {
    fn positions(&self) -> usize {
        self.groups * self.routers
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        let between = match self.paths {
            Paths::Minimal => self.minimal(a, b),
            Paths::Shortest => u32::from(self.table[a * self.positions() + b]),
        };
        between + self.access()
    }

    fn access(&self) -> u32 {
        2
    }

    fn links(&self) -> usize {
        self.groups * self.routers * (self.routers + self.ports)
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        if !self.is_global(link) {
            let (from, b) = (link / self.routers, link % self.routers);
            let (group, a) = (from / self.routers, from % self.routers);
            let joined = self.local_distance(a, b) == 1;
            return joined.then_some((from, group * self.routers + b));
        }
        let port = link - self.groups * self.routers * self.routers;
        let in_group = self.routers * self.ports;
        let (group, port) = (port / in_group, port % in_group);
        if self.groups == 1 || port >= self.links_between * (self.groups - 1) {
            return None;
        }
        let other = self.leads_to(group, port % (self.groups - 1));
        let into = self.gate(other, group, port / (self.groups - 1));
        Some((
            group * self.routers + port / self.ports,
            other * self.routers + into,
        ))
    }

    fn capacity(&self, _link: usize) -> f64 {
        1.0
    }

    /// Local, global, local; evenly over the global links with the shortest path.
    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let (from, to) = (a / self.routers, b / self.routers);
        let (a, b) = (a % self.routers, b % self.routers);
        if from == to {
            return self.route_inside(from, a, b, 1.0, each);
        }
        let length = |link| self.over((from, a), (to, b), link);
        let least = (0..self.links_between).map(length).min().unwrap_or(0);
        let equal = |link: &usize| length(*link) == least;
        let share = 1.0 / (0..self.links_between).filter(equal).count() as f64;
        let base = self.groups * self.routers * self.routers;
        for link in (0..self.links_between).filter(equal) {
            let (out, into) = (self.gate(from, to, link), self.gate(to, from, link));
            self.route_inside(from, a, out, share, each);
            let port = link * (self.groups - 1) + self.port_to(from, to);
            each(base + from * self.routers * self.ports + port, share);
            self.route_inside(to, into, b, share, each);
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        format!(
            "group {} router {}",
            vertex / self.routers,
            vertex % self.routers
        )
    }

    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let all = 0..self.positions() as u32;
        let groups = all.clone().map(|router| router / self.routers as u32);
        vec![
            ("a group".to_owned(), groups.collect()),
            ("a router".to_owned(), all.collect()),
        ]
    }

    fn describe(&self) -> String {
        let local = match self.local {
            Local::Complete => String::new(),
            Local::Rows { columns } => format!(" in rows of {columns}"),
        };
        format!(
            "dragonfly of {} groups of {} routers{local}",
            self.groups, self.routers
        )
    }

    fn routing(&self) -> &'static str {
        "minimal, local-global-local"
    }
}
