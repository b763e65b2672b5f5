//! The page in a browser, where there is one.

use super::{MILLISECOND, Sample};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs in the page, after its own script: looks at what was drawn, uses the page as people do, and puts
/// what it found into attributes of the root element.
const LOOK: &str = r#"<script>
addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => {
  const found = document.documentElement.dataset;
  const timeline = document.getElementById("timeline");
  const colours = () => {
    const pixels = timeline.getContext("2d").getImageData(0, 0, timeline.width, timeline.height).data;
    const seen = new Map();
    for (let i = 0; i < pixels.length; i += 4) {
      const colour = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]},${pixels[i + 3]}`;
      seen.set(colour, (seen.get(colour) ?? 0) + 1);
    }
    return [...seen.values()].filter((count) => count > 200).length;
  };
  const before = document.getElementById("view").textContent;
  found.colours = colours();
  for (const key of ["+", "+", "ArrowRight"]) timeline.dispatchEvent(new KeyboardEvent("keydown", { key }));
  document.getElementById("by-task").click();
  document.querySelector("th button").click();
  const box = timeline.getBoundingClientRect();
  let tips = 0;
  for (let x = 100; x < box.width; x += 7) {
    for (let y = 0; y < box.height; y += 5) {
      const place = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
      timeline.dispatchEvent(new PointerEvent("pointermove", place));
      if (!document.getElementById("tip").hidden) tips += 1;
    }
  }
  found.tips = tips;
  requestAnimationFrame(() => {
    found.zoomed = document.getElementById("view").textContent !== before;
    found.rows = document.querySelectorAll("tbody tr").length;
    found.charts = document.querySelectorAll(".chart svg").length;
    found.stolen = String(window.stolen);
    found.wide = document.documentElement.scrollWidth > innerWidth;
    found.done = "yes";
  });
})));
</script>"#;

fn browser() -> Option<PathBuf> {
    let directories = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&directories)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file())
}

/// Opens the page; returns its document as it then is, and what the browser said of it.
fn open(browser: &PathBuf, sample: &Sample, page: &str, width: u32) -> (String, String) {
    fs::write(sample.path("looked-at.html"), format!("{page}{LOOK}")).unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args(["--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=20000"]);
    command.arg(format!("--window-size={width},1000"));
    command.arg(format!("--user-data-dir={}", sample.path("profile").display()));
    command.arg("--dump-dom").arg(format!("file://{}", sample.path("looked-at.html").display()));
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{said}");
    (String::from_utf8_lossy(&stdout).into_owned(), said)
}

/// An attribute of the root element.
fn found<'d>(document: &'d str, name: &str) -> &'d str {
    let (_, rest) = document.split_once(&format!("data-{name}=\"")).unwrap_or_else(|| {
        panic!("the page did not get to `{name}`: {}", &document[..document.len().min(600)])
    });
    rest.split('"').next().unwrap_or_default()
}

fn number(document: &str, name: &str) -> u64 {
    let text = found(document, name);
    text.parse().unwrap_or_else(|_| panic!("{name} is {text}"))
}

#[test]
fn the_page_works_in_chromium() {
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium in PATH (Debian: apt install chromium)");
        return;
    };
    for (length, width) in [(20 * MILLISECOND, 1400), (400 * MILLISECOND, 420)] {
        let sample = Sample::new(length);
        let page = sample.converted("html", &[]);
        let (document, said) = open(&browser, &sample, &page, width);
        let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert_eq!(complaints, [""; 0]);
        assert_eq!(found(&document, "done"), "yes");
        assert!(number(&document, "drawn") > 100, "spans are drawn");
        assert!(number(&document, "colours") >= 5, "in several colours");
        assert!(number(&document, "tips") > 20, "tooltips appear");
        assert_eq!(found(&document, "zoomed"), "true");
        assert_eq!(number(&document, "charts"), 4);
        assert!(number(&document, "rows") > 10);
        assert_eq!(found(&document, "stolen"), "undefined", "a task's name was run as a script");
        assert_eq!(found(&document, "wide"), "false", "the page is wider than its window");
    }
}

#[test]
fn the_page_of_an_empty_trace_works_in_chromium() {
    let Some(browser) = browser() else { return };
    let sample = Sample::new(MILLISECOND);
    let page = sample.converted("html", &["--from", "5s"]);
    let (document, said) = open(&browser, &sample, &page, 1000);
    assert!(!said.contains("CONSOLE"), "{said}");
    assert!(document.contains("There are no events here"));
    assert_eq!(found(&document, "done"), "yes");
}
