//! Dependencies of a step on earlier ones, from the ranges that they read and write: a read waits
//! for the last write, a write for the last write and all reads since.

use crate::plan::range::{Range, Space};
use std::collections::BTreeMap;

/// Units whose last accesses were by the same steps.
#[derive(Debug, Clone, Default)]
struct Touched {
    end: u64,
    writer: Option<u32>,
    readers: Vec<u32>,
}

/// Last steps that accessed each unit.
#[derive(Debug, Default)]
pub(super) struct Hazards {
    /// By space and first unit; ranges do not overlap.
    touched: BTreeMap<(Space, u64), Touched>,
}

impl Hazards {
    /// Records that `step` reads `range`; adds the steps on which it depends to `needs`.
    pub fn read(&mut self, range: Range, step: u32, needs: &mut Vec<u32>) {
        for place in self.divide(range) {
            let touched = self.touched.entry(place).or_default();
            needs.extend(touched.writer);
            touched.readers.push(step);
        }
    }

    /// Records that `step` writes `range`; adds the steps on which it depends to `needs`.
    pub fn write(&mut self, range: Range, step: u32, needs: &mut Vec<u32>) {
        for place in self.divide(range) {
            let touched = self.touched.remove(&place).unwrap_or_default();
            needs.extend(touched.writer);
            needs.extend(touched.readers);
        }
        let touched = Touched {
            end: range.end(),
            writer: Some(step),
            readers: Vec::new(),
        };
        self.touched.insert((range.space, range.start), touched);
    }

    /// Splits entries at the ends of `range`, adds entries for units without any, and returns the
    /// places of the entries inside.
    fn divide(&mut self, range: Range) -> Vec<(Space, u64)> {
        self.cut(range.space, range.start);
        self.cut(range.space, range.end());
        let mut places = Vec::new();
        let mut next = range.start;
        let inside = (range.space, range.start)..(range.space, range.end());
        let mut gaps = Vec::new();
        for (&place, touched) in self.touched.range(inside) {
            if next < place.1 {
                gaps.push((next, place.1));
            }
            places.push(place);
            next = touched.end;
        }
        if next < range.end() {
            gaps.push((next, range.end()));
        }
        for (start, end) in gaps {
            let untouched = Touched {
                end,
                ..Touched::default()
            };
            self.touched.insert((range.space, start), untouched);
            places.push((range.space, start));
        }
        places
    }

    /// Splits the entry that contains `unit`.
    fn cut(&mut self, space: Space, unit: u64) {
        let before = self
            .touched
            .range_mut((space, 0)..(space, unit))
            .next_back();
        let Some((_, touched)) = before else { return };
        if touched.end > unit {
            let rest = touched.clone();
            touched.end = unit;
            self.touched.insert((space, unit), rest);
        }
    }
}
