//! Colours of a picture as CSS variables, with other values on a dark ground.
//!
//! Elements keep their colours as attributes, for viewers that know no variables.

use plotters::style::RGBColor;

use super::scale;

/// Name of a variable, its colour on a light ground, and on a dark one.
const COLOURS: [(&str, &str, &str); 22] = [
    ("paper", "FFFFFF", "171717"),
    ("ink", "000000", "E6E6E6"),
    ("remark", "505050", "A3A9B0"),
    ("strong", "3C3C3C", "C8C8C8"),
    ("middle", "6E6E6E", "505050"),
    ("edge", "8C8C8C", "808080"),
    ("other", "969696", "9A9A9A"),
    ("bare", "BEBEBE", "5A5A5A"),
    ("idle", "CDCDCD", "4A4A4A"),
    ("pale", "E1E1E1", "3A3A3A"),
    ("band", "F0F0F0", "262626"),
    ("stripe", "F7F7F7", "212121"),
    ("node", "DEEBF7", "24384C"),
    ("rank", "9EBCDA", "4A6B8C"),
    ("marked", "D64541", "F0716C"),
    ("block", "D62728", "A34545"),
    ("blue", "0072B2", "56B0F0"),
    ("orange", "D55E00", "FF8A3C"),
    ("green", "009E73", "2FCF9F"),
    ("pink", "CC79A7", "E59CC5"),
    ("yellow", "E69F00", "FFBF3F"),
    ("sky", "56B4E9", "8CCFF7"),
];

/// Place on the scale of the least on a dark ground.
const DARKEST: f64 = 0.85;

/// The style of the colours that `drawn`, the text of an SVG, has; `None` for all colours.
pub(crate) fn style(drawn: Option<&str>) -> String {
    let is_used = |colour: &String| drawn.is_none_or(|text| text.contains(&format!("#{colour}\"")));
    let named = COLOURS.iter();
    let named = named.map(|&(name, light, dark)| (name.to_owned(), light.into(), dark.into()));
    // Much stands out from the ground: on a dark one it is bright, and little is not quite dark.
    let steps = (0..=scale::STEPS as usize).map(|step| {
        let place = step as f64 / scale::STEPS;
        let both = [place, DARKEST * (1.0 - place)];
        let [light, dark] = both.map(|place| hex(scale::colour_at(place)));
        (format!("s{step}"), light, dark)
    });
    let colours: Vec<(String, String, String)> = named
        .chain(steps)
        .filter(|(_, light, _)| is_used(light))
        .collect();
    let values = |of: fn(&(String, String, String)) -> (&str, &str)| {
        let pairs = colours.iter().map(of);
        pairs
            .map(|(name, value)| format!("--{name}:#{value};"))
            .collect::<String>()
    };
    let rules = colours.iter().map(|(name, light, _)| {
        format!(
            "svg [fill=\"#{light}\"]{{fill:var(--{name})}}\
             svg [stroke=\"#{light}\"]{{stroke:var(--{name})}}\n"
        )
    });
    format!(
        "svg{{{}}}\n@media screen and (prefers-color-scheme:dark){{svg{{{}}}}}\n{}",
        values(|(name, light, _)| (name, light)),
        values(|(name, _, dark)| (name, dark)),
        rules.collect::<String>()
    )
}

fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_variables_of_its_own_colours() {
        let style = style(Some("<rect fill=\"#FFFFFF\"/><line stroke=\"#505050\"/>"));
        assert!(
            style.starts_with("svg{--paper:#FFFFFF;--remark:#505050;}\n"),
            "{style}"
        );
        assert!(
            style.contains("svg [stroke=\"#505050\"]{stroke:var(--remark)}"),
            "{style}"
        );
        assert!(!style.contains("--ink"), "{style}");
    }

    #[test]
    fn much_is_bright_on_a_dark_ground() {
        let style = style(None);
        assert!(style.contains("--s96:#30013C;"), "{style}");
        assert!(
            style.contains("--s96:#FDE74C;") && style.contains("--s0:#FDE74C;"),
            "{style}"
        );
    }
}
