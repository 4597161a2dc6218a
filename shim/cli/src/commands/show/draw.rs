//! Pictures that are requested, or refused.

use treepie_launch::error::CommandError;
use treepie_report::picture::{
    Chart, Fabric, Format, MachineTree, Overview, Picture, write_drawing,
};

use crate::commands::show::arguments::Arguments;

/// A picture of a file.
pub(crate) enum Shown {
    HeatMap(Picture),
    Tree(MachineTree),
    Platform(Overview),
    Chart(Chart),
    Fabric(Fabric),
}

/// Draws the requested picture.
pub(crate) fn draw(
    arguments: &Arguments,
    picture: impl FnOnce() -> Result<Shown, CommandError>,
) -> Result<(), CommandError> {
    let Some(path) = &arguments.output else {
        return Ok(());
    };
    if path.extension().is_some_and(|ending| ending == "html") {
        return Err(CommandError::usage(format!(
            "-o {}: a picture ends in .svg or .png; `treepie report` writes pages",
            path.display()
        )));
    }
    let format = Format::from_path(path)?;
    match picture()? {
        Shown::HeatMap(picture) => picture.write_as(format, path),
        Shown::Tree(tree) => write_drawing(&tree, format, path),
        Shown::Platform(links) => write_drawing(&links, format, path),
        Shown::Chart(chart) => write_drawing(&chart, format, path),
        Shown::Fabric(fabric) => write_drawing(&fabric, format, path),
    }
}

pub(crate) fn no_picture(arguments: &Arguments, kind: &str) -> CommandError {
    CommandError::usage(format!(
        "{}: a {kind} has no picture; draw a profile, a placement or a matrix",
        arguments.file
    ))
}
