//! Common parts of drawings.

use crate::text::escaped;

/// Widths of drawings, on a screen and on a phone.
pub const WIDTHS: [(&str, f64); 2] = [("wide", 1040.0), ("narrow", 380.0)];

/// A drawing in both widths; the style shows one of them.
pub fn both(draw: impl Fn(f64) -> (f64, String), label: &str) -> String {
    let mut text = String::new();
    for (class, width) in WIDTHS {
        let (height, body) = draw(width);
        text += &format!(
            "<svg class=\"drawing {class}\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" \
             role=\"img\" aria-label=\"{}\">{body}</svg>\n",
            escaped(label, 400)
        );
    }
    text
}

/// Text in lines of at most so many characters, broken at spaces, or behind dots, or anywhere; the last is cut if there are more
/// lines than may be.
pub fn wrapped(text: &str, chars_max: usize, lines_max: usize) -> Vec<String> {
    let chars_max = chars_max.max(4);
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > chars_max && lines.len() + 1 < lines_max {
        let space = rest[..=chars_max].iter().rposition(|it| *it == ' ').filter(|&it| it > chars_max / 3);
        let dot = || {
            rest[..chars_max]
                .iter()
                .rposition(|it| *it == '.')
                .filter(|&it| it > chars_max / 2)
                .map(|it| it + 1)
        };
        let end = space.or_else(dot).unwrap_or(chars_max);
        lines.push(rest[..end].iter().collect());
        rest.drain(..end + usize::from(space.is_some()));
    }
    lines.push(cut(&rest.into_iter().collect::<String>(), chars_max));
    lines
}

/// Text that is cut to so many characters.
pub fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain(['\u{2026}']).collect()
}

/// A bar of parts, each with its share of the whole and how it looks.
pub fn bar(parts: &[(f64, &str)]) -> String {
    let mut text = String::from(
        "<svg class=\"bar\" viewBox=\"0 0 120 10\" width=\"120\" height=\"10\" aria-hidden=\"true\"><rect width=\"120\" height=\"10\" rx=\"3\" class=\"rest\"/>",
    );
    let mut at = 0.0;
    for (share, class) in parts {
        let width = 120.0 * share.clamp(0.0, 1.0);
        text +=
            &format!("<rect x=\"{at:.1}\" width=\"{width:.1}\" height=\"10\" rx=\"3\" class=\"{class}\"/>");
        at += width;
    }
    text + "</svg>"
}

/// Steps for an axis: about as many as asked for, at round numbers.
pub fn ticks(from: f64, to: f64, about: usize) -> Vec<f64> {
    let span = to - from;
    if span.is_nan() || span <= 0.0 {
        return vec![from];
    }
    let rough = span / about.max(1) as f64;
    let digits = rough.log10().floor();
    let power = 10f64.powf(digits);
    let times = [1.0, 2.0, 5.0].into_iter().find(|it| it * power >= rough).unwrap_or(10.0);
    let step = times * power;
    let first = (from / step).ceil() as i64;
    // By a whole number, which is exact: a tenth is not.
    let parts = 10f64.powf(-digits).round();
    let tick = |it: i64| if digits < 0.0 { it as f64 * times / parts } else { it as f64 * step };
    (first..).map(tick).take_while(|&it| it <= to + step * 1e-9).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_where_it_can_be() {
        assert_eq!(wrapped("one two three four", 8, 3), ["one two", "three", "four"]);
        assert_eq!(wrapped("one two three four", 8, 2), ["one two", "three f\u{2026}"]);
        assert_eq!(wrapped("org.acme.Something", 12, 2), ["org.acme.", "Something"]);
        assert_eq!(wrapped(&"x".repeat(100_000), 10, 2).len(), 2);
        assert_eq!(wrapped("", 10, 2), [""]);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(-15.2, 4.0, 4), [-15.0, -10.0, -5.0, 0.0]);
        assert_eq!(ticks(3.0, 3.0, 4), [3.0]);
        assert_eq!(ticks(0.0, 0.8, 8), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
        assert_eq!(ticks(0.0, 0.07, 8).last(), Some(&0.07));
        assert!(ticks(f64::NAN, 1.0, 4).len() == 1);
    }
}
