//! Pictures that are requested, or refused.

use treepie_launch::error::CommandError;
use treepie_report::picture::{Chart, Fabric, Format, Gantt, MachineTree, Picture, write_drawing};

use crate::commands::show::arguments::Arguments;

/// A picture of a file.
pub(crate) enum Shown {
    HeatMap(Picture),
    Tree(MachineTree),
    Gantt(Gantt),
    Chart(Chart),
    Fabric(Fabric),
}

/// Draws the requested picture.
pub(crate) fn draw(
    arguments: &Arguments,
    picture: impl FnOnce() -> Result<Shown, CommandError>,
) -> Result<(), CommandError> {
    let pictures = [(&arguments.svg, Format::Svg), (&arguments.png, Format::Png)];
    for (path, format) in pictures {
        if let Some(path) = path {
            return match picture()? {
                Shown::HeatMap(picture) => picture.write_as(format, path),
                Shown::Tree(tree) => write_drawing(&tree, format, path),
                Shown::Gantt(chart) => write_drawing(&chart, format, path),
                Shown::Chart(chart) => write_drawing(&chart, format, path),
                Shown::Fabric(fabric) => write_drawing(&fabric, format, path),
            };
        }
    }
    Ok(())
}

pub(crate) fn no_picture(arguments: &Arguments, kind: &str) -> CommandError {
    CommandError::usage(format!(
        "{}: a {kind} has no picture; draw a profile, a placement or a matrix",
        arguments.file
    ))
}
