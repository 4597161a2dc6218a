//! OpenMetrics text, in the form of files that node exporters of Prometheus collect: sums by host
//! and layer, whose number does not grow with the ranks.

use std::collections::BTreeMap;
use std::io::{self, Write};

use treepie_profile::Profile;

use super::columns::Values;
use super::rows::{calls, messages};
use crate::input::choice::MatrixChoice;

/// Writes the sums of a profile.
pub(super) fn write(
    profile: &Profile,
    choice: &MatrixChoice,
    out: &mut dyn Write,
) -> io::Result<()> {
    let table = messages(profile, choice);
    let [_, _, from, to, layers, _, counts, bytes] = &table.0[..] else {
        return Ok(()); // a table of other columns: there is none
    };
    let mut sums: BTreeMap<[&str; 3], (i64, i64)> = BTreeMap::new();
    if let (
        Values::Text(from),
        Values::Text(to),
        Values::Text(layers),
        Values::Whole(counts),
        Values::Whole(bytes),
    ) = (
        &from.values,
        &to.values,
        &layers.values,
        &counts.values,
        &bytes.values,
    ) {
        for row in 0..counts.len() {
            let key: [&str; 3] = [&from[row], &to[row], &layers[row]];
            let sum = sums.entry(key).or_default();
            sum.0 = sum.0.saturating_add(counts[row]);
            sum.1 = sum.1.saturating_add(bytes[row]);
        }
    }
    writeln!(
        out,
        "# TYPE treepie_ranks gauge\ntreepie_ranks {}",
        profile.ranks
    )?;
    type Sum = fn(&(i64, i64)) -> i64;
    let families: [(&str, &str, Sum); 2] = [
        ("treepie_messages", "", |sum| sum.0),
        ("treepie_bytes", "# UNIT treepie_bytes bytes\n", |sum| sum.1),
    ];
    for (family, unit, value) in families {
        write!(out, "# TYPE {family} counter\n{unit}")?;
        for ([from, to, layer], sum) in &sums {
            writeln!(
                out,
                "{family}_total{{sender_host=\"{}\",receiver_host=\"{}\",layer=\"{layer}\"}} {}",
                escaped(from),
                escaped(to),
                value(sum)
            )?;
        }
    }
    seconds(profile, choice, out)?;
    writeln!(out, "# EOF")
}

/// Writes the seconds in MPI by host and class, if measured.
fn seconds(profile: &Profile, choice: &MatrixChoice, out: &mut dyn Write) -> io::Result<()> {
    let Some(table) = calls(profile, choice) else {
        return Ok(());
    };
    let [_, hosts, _, classes, _, seconds] = &table.0[..] else {
        return Ok(()); // as above
    };
    let mut sums: BTreeMap<[&str; 2], f64> = BTreeMap::new();
    if let (Values::Text(hosts), Values::Text(classes), Values::Real(seconds)) =
        (&hosts.values, &classes.values, &seconds.values)
    {
        for row in 0..seconds.len() {
            *sums.entry([&hosts[row], &classes[row]]).or_default() += seconds[row];
        }
    }
    writeln!(
        out,
        "# TYPE treepie_mpi_seconds counter\n# UNIT treepie_mpi_seconds seconds"
    )?;
    for ([host, class], sum) in &sums {
        writeln!(
            out,
            "treepie_mpi_seconds_total{{host=\"{}\",class=\"{class}\"}} {sum}",
            escaped(host)
        )?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}
