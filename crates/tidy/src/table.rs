//! Reads the tables of INVARIANTS.md.

use crate::Finding;
use crate::ids::Id;

/// Where the invariants are listed.
pub const FILE: &str = "INVARIANTS.md";

const COLUMNS: [&str; 5] = ["id", "what must be true", "status", "upheld in", "tested by"];

/// How much of an invariant exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All of it.
    Built,
    /// Some of it.
    Partly,
    /// Nothing.
    NotBuilt,
}

/// One invariant.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its id.
    pub id: Id,
    /// Where it stands in [`FILE`].
    pub line: usize,
    /// How much of it exists.
    pub status: Status,
    /// The paths in "upheld in".
    pub upheld: Vec<String>,
    /// The paths in "tested by".
    pub tested: Vec<String>,
}

/// Every row of every table whose first column is `id`, and what cannot be read.
pub fn read(text: &str) -> (Vec<Row>, Vec<Finding>) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let mut within = false;
    for (index, line) in text.lines().enumerate() {
        let cells = cells(line);
        let is_header = cells.first().is_some_and(|cell| cell.eq_ignore_ascii_case("id"));
        if is_header && cells != COLUMNS {
            let fix = format!("let the columns be: {}", COLUMNS.join(" | "));
            findings.push(Finding::new(FILE, index + 1, "a table with other columns", fix));
        }
        if is_header || cells.is_empty() {
            within = is_header;
        } else if within && !is_rule(&cells) {
            match row(&cells, index + 1) {
                Ok(row) => rows.push(row),
                Err(finding) => findings.push(finding),
            }
        }
    }
    (rows, findings)
}

/// The cells of a table's line; none if the line is not part of a table.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.trim().strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) else {
        return Vec::new();
    };
    // An escaped bar is text; no file holds a NUL.
    let hidden = inner.replace("\\|", "\0");
    hidden.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The line between a table's head and its body.
fn is_rule(cells: &[String]) -> bool {
    cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':')))
}

fn row(cells: &[String], line: usize) -> Result<Row, Finding> {
    let unreadable = |what: String, fix: &str| Finding::new(FILE, line, what, fix);
    let [id, _, status, upheld, tested] = cells else {
        let what = format!("a row of {} cells", cells.len());
        return Err(unreadable(what, "give it five; write a bar within a cell as \\|"));
    };
    let id = Id::parse(id).ok_or_else(|| {
        let what = format!("`{id}` is no id");
        unreadable(what, "use a family of crates/tidy/src/ids.rs and a number")
    })?;
    let status = match status.as_str() {
        "built" => Status::Built,
        "partly" => Status::Partly,
        "not built" => Status::NotBuilt,
        other => {
            let what = format!("`{other}` is no status");
            return Err(unreadable(what, "write `built`, `partly` or `not built`"));
        }
    };
    Ok(Row { id, line, status, upheld: quoted(upheld), tested: quoted(tested) })
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "| id | what must be true | status | upheld in | tested by |\n|---|---|---|---|---|\n";

    #[test]
    fn rows_are_read() {
        let text = format!("| word | meaning |\n|---|---|\n| Q9 | x |\n\n{HEAD}");
        let text = text + "| Q1 | a \\| b | partly | `a.rs`, `b.rs` (why) | `c.rs` |\n\n| Q2 |";
        let (rows, findings) = read(&text);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].id, rows[0].line), (Id { family: "Q", number: 1 }, 7));
        assert_eq!(rows[0].status, Status::Partly);
        assert_eq!(rows[0].upheld, ["a.rs", "b.rs"]);
        assert_eq!(rows[0].tested, ["c.rs"]);
    }

    #[test]
    fn what_cannot_be_read_is_found() {
        for (row, what) in [
            ("| Q1 | a | built | `a` |", "a row of 4 cells"),
            ("| Z1 | a | built | `a` | `b` |", "`Z1` is no id"),
            ("| Q1 | a | done | `a` | `b` |", "`done` is no status"),
            ("| id | what | status | upheld in | tested by |", "a table with other columns"),
        ] {
            let (_, findings) = read(&format!("{HEAD}{row}\n"));
            assert_eq!(findings.len(), 1, "{row}");
            assert_eq!((findings[0].what.as_str(), findings[0].line), (what, 3));
        }
    }
}
