//! Reads the links and the headings of a Markdown file.

/// Where a link leads, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The line, counted from 1.
    pub line: usize,
    /// The destination, as written.
    pub destination: String,
}

/// Every inline link, image, link definition, and `href` or `src` of HTML.
pub fn links(text: &str) -> Vec<Link> {
    let text = without_code_spans(&without_blocks(text));
    let mut links = Vec::new();
    let mut add = |at: usize, destination: &str| {
        let line = crate::mask::line_of(&text, at);
        links.push(Link { line, destination: destination.to_owned() });
    };
    for opening in ["](", "href=\"", "src=\""] {
        for (at, _) in text.match_indices(opening) {
            let rest = &text[at + opening.len()..];
            let end = if opening == "](" { destination_end(rest) } else { rest.find('"') };
            if let Some(end) = end {
                add(at, rest[..end].trim().trim_start_matches('<').trim_end_matches('>'));
            }
        }
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(destination) = definition(line) {
            add(start, destination);
        }
        start += line.len();
    }
    links
}

/// The end of `destination "title")`, without the title.
fn destination_end(rest: &str) -> Option<usize> {
    if rest.starts_with('<') {
        return rest.find('>').map(|end| end + 1);
    }
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            c if c.is_whitespace() && at > 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The destination of a line such as `[label]: destination`; a footnote is none.
fn definition(line: &str) -> Option<&str> {
    let (label, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let destination = rest.split_whitespace().next()?;
    (!label.starts_with('^') && !label.contains(']'))
        .then(|| destination.trim_start_matches('<').trim_end_matches('>'))
}

/// The anchors that GitHub gives the headings, and those set by hand in HTML.
pub fn anchors(text: &str) -> Vec<String> {
    let text = without_blocks(text);
    let mut anchors: Vec<String> = Vec::new();
    let mut before = "";
    for line in text.lines() {
        let is_underline = |mark| !line.is_empty() && line.chars().all(|c| c == mark);
        let heading = match line.trim_start_matches('#') {
            title if title.len() < line.len() && title.starts_with(' ') => Some(title),
            _ if is_underline('=') || is_underline('-') => Some(before),
            _ => None,
        };
        if let Some(title) = heading.filter(|title| !title.trim().is_empty()) {
            let slug = slug(title.trim().trim_end_matches('#').trim_end());
            let unique = (0..).map(|n| if n == 0 { slug.clone() } else { format!("{slug}-{n}") });
            let unique = unique.into_iter().find(|anchor| !anchors.contains(anchor));
            anchors.extend(unique);
        }
        for opening in ["id=\"", "name=\""] {
            let set = line.split(opening).skip(1).filter_map(|rest| rest.split('"').next());
            anchors.extend(set.map(str::to_owned));
        }
        before = line;
    }
    anchors
}

/// GitHub's rule: lower case, blanks to hyphens, other punctuation goes; of a link its text.
fn slug(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some((start, after)) = rest.split_once("](") {
        text += start;
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text += rest;
    let kept = text.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

/// Blanks out fenced code and HTML comments; lines and offsets stay.
fn without_blocks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let mark = fence_mark(bare);
        let is_end = fence.is_some_and(|open| bare == mark && mark.starts_with(open));
        if fence.is_some() || !mark.is_empty() {
            kept += &blank(line);
        } else {
            kept += line;
        }
        if is_end {
            fence = None;
        } else if fence.is_none() && !mark.is_empty() {
            fence = Some(mark);
        }
    }
    while let Some(start) = kept.find("<!--") {
        let end = kept[start..].find("-->").map_or(kept.len(), |len| start + len + 3);
        let blanks = blank(&kept[start..end]);
        kept.replace_range(start..end, &blanks);
    }
    kept
}

/// The run of three or more backticks or tildes that a line starts with.
fn fence_mark(bare: &str) -> &str {
    let len = |mark| bare.chars().take_while(|&c| c == mark).count();
    let len = len('`').max(len('~'));
    let is_fence = len >= 3 && !bare[len..].contains('`');
    if is_fence { &bare[..len] } else { "" }
}

/// Blanks out code spans: a run of backticks up to the next run of the same length.
fn without_code_spans(text: &str) -> String {
    let mut kept = text.to_owned();
    let mut at = 0;
    while let Some(start) = kept[at..].find('`').map(|found| at + found) {
        let len = kept[start..].bytes().take_while(|&b| b == b'`').count();
        // A paragraph ends what it began.
        let limit = kept[start..].find("\n\n").map_or(kept.len(), |end| start + end);
        at = start + len;
        if let Some(end) = closing_run(&kept[..limit], at, len) {
            let blanks = blank(&kept[start..end]);
            kept.replace_range(start..end, &blanks);
            at = end;
        }
    }
    kept
}

/// The end of the next run of exactly `len` backticks from `from` on.
fn closing_run(text: &str, from: usize, len: usize) -> Option<usize> {
    let mut at = from;
    while let Some(start) = text[at..].find('`').map(|found| at + found) {
        let run = text[start..].bytes().take_while(|&b| b == b'`').count();
        at = start + run;
        if run == len {
            return Some(at);
        }
    }
    None
}

fn blank(text: &str) -> String {
    text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destinations(text: &str) -> Vec<String> {
        links(text).into_iter().map(|link| format!("{}:{}", link.line, link.destination)).collect()
    }

    #[test]
    fn links_of_all_kinds() {
        assert_eq!(destinations("x\n[a](b.md) ![c](d.png \"e\")"), ["2:b.md", "2:d.png"]);
        assert_eq!(destinations("[`a`](b(1).md#c)"), ["1:b(1).md#c"]);
        assert_eq!(destinations("[a\nb](<c d>)"), ["2:c d"]);
        assert_eq!(destinations("[a]\n\n[a]: b.md \"c\"\n[^n]: no"), ["3:b.md"]);
        assert_eq!(destinations("<img src=\"a.svg\"><a href=\"b\">"), ["1:b", "1:a.svg"]);
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(destinations("```md\n[a](b)\n```\n`[a](b)` ``[a]`(b)``"), [""; 0]);
        assert_eq!(destinations("~~~\n```\n[a](b)\n~~~\n[c](d)"), ["5:d"]);
        assert_eq!(destinations("<!-- [a](b)\n-->[c](d)"), ["2:d"]);
        assert_eq!(destinations("a ` b\n\n[c](d) ` e"), ["3:d"]);
    }

    #[test]
    fn anchors_by_the_rule() {
        let text = "# heist: what must be true\n## `pop` & push_batch()\n## A\n## A\n### A #\n";
        let all = ["heist-what-must-be-true", "pop--push_batch", "a", "a-1", "a-2"];
        assert_eq!(anchors(text), all);
        assert_eq!(
            anchors("Über uns\n===\n\n## [The ring](ring.md) [x]"),
            ["über-uns", "the-ring-x"]
        );
        assert_eq!(anchors("```\n# no\n```\n#no\n<a id=\"x\"></a>"), ["x"]);
    }
}
