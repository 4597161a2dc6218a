//! Conversion of hwloc's objects to a tree of levels.
//!
//! hwloc describes more than Treepie uses for placement. These parts are kept:
//!
//! ```text
//!   hwloc                              kept
//!   Machine                            (the root)
//!     Package L#0                      socket   0
//!       NUMANode L#0                     - memory is not part of the tree
//!       L3 L#0                           - one per socket: the same cores
//!         L2 + L1d + L1i + Core L#0    core     0    processing units 0 and 4
//!           PU L#0 (P#0)
//!           PU L#1 (P#4)
//! ```

use hwloc2::{ObjectType, TopologyObject};

/// The levels below a machine, from the root down, in the form required by `Machine::from_levels`.
///
/// # Invariant
/// `children[d]` has one entry for each vertex of depth `d`, each at least 1;
/// its sum is the number of vertices of depth `d + 1`. `names[d]` names the
/// vertices of depth `d + 1`, and the last level has `processing_units`.
pub(crate) struct Levels {
    /// Names of the levels below the root, top to bottom: `["socket", "core"]`.
    pub(crate) names: Vec<String>,
    /// Numbers of children by depth, and within a depth from left to right.
    pub(crate) children: Vec<Vec<usize>>,
    /// Hardware threads of each leaf, as numbered by the operating system, in hwloc's order; the
    /// leaves depth first, which is the logical numbering.
    pub(crate) processing_units: Vec<Vec<usize>>,
}

impl Levels {
    /// The levels below `machine`, without those that have no structure.
    pub(crate) fn below(machine: &TopologyObject) -> Levels {
        let mut names = Vec::new();
        let mut children = Vec::new();
        let mut slots = vec![machine];
        let mut depth = 0;
        while slots.iter().any(|slot| !is_leaf(slot)) {
            let below: Vec<Vec<&TopologyObject>> =
                slots.iter().map(|slot| step_down(slot, depth)).collect();
            children.push(below.iter().map(Vec::len).collect());
            slots = below.into_iter().flatten().collect();
            depth += 1;
            names.push(name_of_level(&slots, depth, machine));
        }
        let mut levels = Levels {
            names,
            children,
            processing_units: slots.into_iter().map(processing_units).collect(),
        };
        levels.drop_levels_without_structure();
        levels.disambiguate_names();
        levels
    }

    /// Drops every level in which each vertex is the only child of its parent. The upper of the two
    /// keeps its name, except that the last level is always the cores and the first always the
    /// machine.
    fn drop_levels_without_structure(&mut self) {
        let mut depth = self.children.len();
        while depth > 0 && self.children.len() > 1 {
            depth -= 1;
            if self.children[depth].iter().any(|&count| count != 1) {
                continue;
            }
            let last = depth + 1 == self.children.len();
            self.children.remove(depth);
            self.names.remove(if last { depth - 1 } else { depth });
        }
    }

    /// Renames nested groups; the second one from the top becomes `group-2`.
    fn disambiguate_names(&mut self) {
        for at in 1..self.names.len() {
            let same = |name: &&String| **name == self.names[at];
            let earlier = self.names[..at].iter().filter(same).count();
            if earlier > 0 {
                self.names[at] = format!("{}-{}", self.names[at], earlier + 1);
            }
        }
    }
}

/// The vertices below a vertex of `depth`: the children of the object, or the same object again if
/// hwloc has no object at this depth of this branch. Such stand-ins are made for each child
/// separately: two cores that do not share a cache do not meet below the socket, regardless of the
/// structure of the other socket.
fn step_down(slot: &TopologyObject, depth: u32) -> Vec<&TopologyObject> {
    if is_leaf(slot) || slot.depth() > depth {
        return vec![slot];
    }
    slot.children()
}

/// True for a core, or a processing unit without a core above it.
fn is_leaf(object: &TopologyObject) -> bool {
    object.arity() == 0 || is(object, ObjectType::Core)
}

/// The processing units below an object, as numbered by the operating system.
pub(crate) fn processing_units(object: &TopologyObject) -> Vec<usize> {
    if is(object, ObjectType::PU) {
        return vec![object.os_index() as usize];
    }
    let children = object.children();
    children.into_iter().flat_map(processing_units).collect()
}

/// Treepie's name for the level at `depth`; all objects of one depth have one type, and at least
/// one vertex is an object and not a stand-in.
fn name_of_level(slots: &[&TopologyObject], depth: u32, machine: &TopologyObject) -> String {
    let level: Vec<&TopologyObject> = slots
        .iter()
        .copied()
        .filter(|object| object.depth() == depth)
        .collect();
    let name = match level.first().map(|object| object.object_type()) {
        Some(ObjectType::Package) => "socket",
        Some(ObjectType::Die) => "die",
        Some(ObjectType::L1Cache) => "l1",
        Some(ObjectType::L2Cache) => "l2",
        Some(ObjectType::L3Cache) => "l3",
        Some(ObjectType::L4Cache) => "l4",
        Some(ObjectType::L5Cache) => "l5",
        Some(ObjectType::Core) => "core",
        Some(ObjectType::PU) => "pu",
        Some(ObjectType::NUMANode) => "numa",
        Some(ObjectType::Group) if are_memory_domains(&level, machine) => "numa",
        _ => "group",
    };
    name.to_owned()
}

/// True if groups stand for memory domains. If memory is attached to a set of cores that is no
/// other object, hwloc makes a group of them. Such a group holds one memory node of several.
fn are_memory_domains(level: &[&TopologyObject], machine: &TopologyObject) -> bool {
    memory_nodes(machine) > 1 && level.iter().all(|object| memory_nodes(object) == 1)
}

/// The number of memory nodes near an object; 0 if not known.
fn memory_nodes(object: &TopologyObject) -> i32 {
    object.nodeset().map_or(0, |nodes| nodes.weight().max(0))
}

/// True if an object is of this type.
pub(crate) fn is(object: &TopologyObject, kind: ObjectType) -> bool {
    object.object_type() == kind
}
