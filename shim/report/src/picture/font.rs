//! The font of PNG pictures, which is included: machines in a computing centre often have no fonts.
//! (SVG leaves fonts to the viewer.)

use std::sync::Once;

use plotters::style::{FontStyle, register_font};

/// Font family of all texts.
pub const FAMILY: &str = "sans-serif";

/// Registers DejaVu Sans with the drawing library, once.
pub fn register() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let fonts = [
            (FontStyle::Normal, dejavu::sans::regular()),
            (FontStyle::Bold, dejavu::sans::bold()),
        ];
        for (style, bytes) in fonts {
            let known = register_font(FAMILY, style, bytes).is_ok();
            debug_assert!(known, "DejaVu Sans is a font");
        }
    });
}
