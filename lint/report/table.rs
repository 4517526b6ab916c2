//! Columns for people.

/// Left-aligned columns, two spaces apart, nothing after the last.
pub(super) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(width);
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(cell));
        }
    }
    let head = head.map(str::to_owned);
    let mut text = String::new();
    for row in std::iter::once(&head).chain(rows) {
        let mut line = String::new();
        for (cell, widest) in row.iter().zip(widths) {
            line += cell;
            line.extend(std::iter::repeat_n(' ', widest - width(cell) + 2));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_aligned_and_lines_have_no_tail() {
        let rows = [["src/é.rs:1".to_owned(), "a".to_owned()], ["b".to_owned(), String::new()]];
        assert_eq!(table(["PLACE", "ITEM"], &rows), "PLACE       ITEM\nsrc/é.rs:1  a\nb\n");
    }
}
