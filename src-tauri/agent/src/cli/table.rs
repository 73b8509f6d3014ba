//! Aligned columns.

use crate::cli::failure::Done;
use crate::cli::out;
use crate::cli::words::one_line;

/// Prints rows under a header, each column as wide as its widest cell.
pub(crate) fn print(header: &[&str], rows: &[Vec<String>]) -> Done {
    for line in layout(header, rows) {
        out::line(&line)?;
    }
    Ok(())
}

fn layout(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let header = header.iter().map(|&title| title.to_owned()).collect();
    let lines: Vec<Vec<String>> =
        std::iter::once(header).chain(rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect())).collect();
    let mut widths = Vec::new();
    for line in &lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let pad = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["ä".to_owned(), "1".to_owned()], vec!["long".to_owned(), "b\nc".to_owned()]];
        assert_eq!(layout(&["A", "B"], &rows), ["A     B", "ä     1", "long  b c"]);
    }
}
