//! Text of which nothing is known, made fit to be shown.

use std::borrow::Cow;
use std::fmt::Write;

/// Text with its controls made visible, and cut where it is too long. Tabs stay.
pub fn shown(text: &str, chars_max: usize) -> Cow<'_, str> {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |it| it.0);
    let kept = &text[..end];
    let is_cut = end < text.len();
    if !is_cut && !kept.chars().any(is_hidden) {
        return Cow::Borrowed(kept);
    }
    let mut visible = String::with_capacity(kept.len() + 8);
    for it in kept.chars() {
        match it {
            // There is a picture of each of these.
            '\0'..='\u{1f}' if is_hidden(it) => {
                visible.push(char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{fffd}'))
            }
            '\u{7f}' => visible.push('\u{2421}'),
            _ if is_hidden(it) => {
                let _ = write!(visible, "\u{27e8}U+{:04X}\u{27e9}", u32::from(it));
            }
            _ => visible.push(it),
        }
    }
    if is_cut {
        visible.push('\u{2026}');
    }
    Cow::Owned(visible)
}

/// Tests whether a character is not seen, or lets others be seen in another place.
fn is_hidden(it: char) -> bool {
    matches!(it,
        '\0'..='\u{8}' | '\u{a}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Text for HTML and XML, in elements and in quoted attributes.
pub fn escaped(text: &str, chars_max: usize) -> String {
    let shown = shown(text, chars_max);
    let mut safe = String::with_capacity(shown.len() + 8);
    for it in shown.chars() {
        match it {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(it),
        }
    }
    safe
}

/// JSON that can stand in a `script` element: nothing in it can end the element.
pub fn inert(json: &serde_json::Value) -> String {
    let text = json.to_string();
    let mut safe = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        match it {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", u32::from(it));
            }
            _ => safe.push(it),
        }
    }
    safe
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, it) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(it);
    }
    text
}

/// So many of something.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// A text with `#` for each number in it.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut was_digit = false;
    for it in text.chars() {
        let is_digit = it.is_ascii_digit();
        if !is_digit {
            shown.push(it);
        } else if !was_digit {
            shown.push('#');
        }
        was_digit = is_digit;
    }
    shown
}

/// Text that is cut to a width.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let shown: String = text.chars().take(width.saturating_sub(2)).collect();
    shown + ".."
}

/// Text that is cut in its middle, where both ends say more.
pub fn middle(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width || width < 4 {
        return cut(text, width);
    }
    let behind = (width - 2) / 2;
    let before: String = text.chars().take(width - 2 - behind).collect();
    let rest: String = text.chars().skip(count - behind).collect();
    format!("{before}..{rest}")
}

/// A time, as far as it matters to somebody who waits.
pub fn span(seconds: f64) -> String {
    match seconds {
        ..119.5 => format!("{seconds:.0} s"),
        // A minute more or less matters where they are few.
        ..600.0 => format!("{} min", (seconds / 6.0).round() / 10.0),
        ..5_400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

/// The beginning of a message.
pub fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 100;
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown += "...";
    }
    shown
}

/// The last part of a class name.
pub fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_out() {
        assert_eq!(without_numbers("scrub 12 done, 60 values, 0 bad"), "scrub # done, # values, # bad");
        assert_eq!(without_numbers(""), "");
        assert_eq!(without_numbers("v1.2"), "v#.#");
    }

    #[test]
    fn times_are_minutes_as_soon_as_there_are_two() {
        let check = |seconds: f64, expected: &str| assert_eq!(span(seconds), expected, "{seconds}");
        check(0.4, "0 s");
        check(119.4, "119 s");
        check(119.6, "2 min");
        check(150.0, "2.5 min");
        check(595.0, "9.9 min");
        check(597.0, "10 min");
        check(600.0, "10 min");
        check(5_399.0, "90 min");
        check(5_400.0, "1.5 h");
    }

    #[test]
    fn text_is_cut_where_it_says_least() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcd..");
        assert_eq!(middle("AckReader-wal.00007", 12), "AckRe..00007");
        assert_eq!(middle("main", 12), "main");
    }

    #[test]
    fn hostile_text_is_text() {
        let check = |text: &str, expected: &str| assert_eq!(escaped(text, 100), expected, "{text:?}");
        check("a < b && c > 'd' \"e\"", "a &lt; b &amp;&amp; c &gt; &#39;d&#39; &quot;e&quot;");
        check("</script><script>alert(1)</script>", "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
        check("\u{1b}[31mred\0\r\n\ttab", "\u{241b}[31mred\u{2400}\u{240d}\u{240a}\ttab");
        check("abc\u{202e}fdp.exe", "abc\u{27e8}U+202E\u{27e9}fdp.exe");
        check("\u{85}\u{feff}\u{ffff}", "\u{27e8}U+0085\u{27e9}\u{27e8}U+FEFF\u{27e9}\u{27e8}U+FFFF\u{27e9}");
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(shown("äöü", 3), "äöü");
        assert_eq!(shown("äöü", 2), "äö\u{2026}");
        assert_eq!(shown(&"x".repeat(1 << 20), 300).chars().count(), 301);
    }

    #[test]
    fn json_in_a_script_cannot_end_it() {
        let json = serde_json::json!(["</script><!--", "a&b", "\u{2028}"]);
        let text = inert(&json);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), json);
    }

    #[test]
    fn numbers_are_readable() {
        let check = |number, expected: &str| assert_eq!(thousands(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1_234_567, "1,234,567");
        assert_eq!((count(1, "row", "rows"), count(2, "row", "rows")), ("1 row".into(), "2 rows".into()));
    }
}
