//! The pages in a browser, where there is one.

use super::{MILLISECOND, Sample};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A browser without a window draws one frame and no more.
const FRAMES: &str = "<script>window.requestAnimationFrame = (f) => setTimeout(f, 16);</script>";

/// Runs in a page, after its own script: looks at what was drawn, uses the page as people do, and
/// tells the page around it what it found.
const LOOK: &str = r#"<script>
addEventListener("load", () => setTimeout(() => {
  const byId = (id) => document.getElementById(id);
  const timeline = byId("timeline");
  const pixels = timeline.getContext("2d").getImageData(0, 0, timeline.width, timeline.height).data;
  const colours = new Map();
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]},${pixels[i + 3]}`;
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  const before = byId("view").textContent;
  for (const key of ["+", "+", "ArrowRight"]) timeline.dispatchEvent(new KeyboardEvent("keydown", { key }));
  byId("by-task").click();
  document.querySelector("th button").click();
  const box = timeline.getBoundingClientRect();
  let tips = 0;
  for (let x = 100; x < box.width; x += 7) {
    for (let y = 0; y < box.height; y += 5) {
      const place = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
      timeline.dispatchEvent(new PointerEvent("pointermove", place));
      tips += byId("tip").hidden ? 0 : 1;
    }
  }
  setTimeout(() => parent.postMessage({
    page: window.name,
    drawn: Number(document.documentElement.dataset.drawn),
    colours: [...colours.values()].filter((pixels) => pixels > 200).length,
    tips,
    isZoomed: byId("view").textContent !== before,
    rows: document.querySelectorAll("tbody tr").length,
    charts: document.querySelectorAll(".chart svg").length,
    wasRobbed: "stolen" in window,
    isTooWide: document.documentElement.scrollWidth > innerWidth,
    notes: byId("notes").textContent,
  }, "*"), 100);
}, 100));
</script>"#;

/// Around the pages: takes down what they tell.
const AROUND: &str = r#"<!doctype html><script>
addEventListener("message", (event) => { document.body.append(`@@${JSON.stringify(event.data)}@@`); });
</script><body>"#;

fn browser() -> Option<PathBuf> {
    let directories = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&directories)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file())
}

/// Opens pages of these names and widths. Returns what each told, and what the browser complained
/// of.
fn open(browser: &PathBuf, sample: &Sample, pages: &[(&str, u32, String)]) -> (Vec<Value>, String) {
    let mut around = AROUND.to_owned();
    for (name, width, page) in pages {
        let page = page.replacen("<head>", &format!("<head>{FRAMES}"), 1);
        fs::write(sample.path(&format!("{name}.html")), format!("{page}{LOOK}")).unwrap();
        let size = format!(r#"width="{width}" height="1000""#);
        around.push_str(&format!(r#"<iframe name="{name}" src="{name}.html" {size}></iframe>"#));
    }
    fs::write(sample.path("around.html"), around).unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args(["--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=20000"]);
    command.arg(format!("--user-data-dir={}", sample.path("profile").display()));
    command.arg("--dump-dom").arg(format!("file://{}", sample.path("around.html").display()));
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{said}");
    let document = String::from_utf8_lossy(&stdout).into_owned();
    let (_, body) = document.rsplit_once("<body>").unwrap();
    let told = body.split("@@").skip(1).step_by(2);
    let told = told.map(|json| serde_json::from_str(&json.replace("&amp;", "&")).unwrap());
    let complaints = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    (told.collect(), complaints)
}

#[test]
fn pages_work_in_chromium() {
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium in PATH (Debian: apt install chromium)");
        return;
    };
    let sample = Sample::new(20 * MILLISECOND);
    let pages = [
        ("wide", 1400, sample.converted("html", &[])),
        ("narrow", 420, Sample::new(1000 * MILLISECOND).converted("html", &[])),
        ("empty", 1000, Sample::of(&super::html::empty()).converted("html", &[])),
    ];
    let (told, complaints) = open(&browser, &sample, &pages);
    assert_eq!(complaints, "");
    let of = |page: &str| {
        let found = told.iter().find(|told| told["page"] == page);
        found.unwrap_or_else(|| panic!("the {page} page did not get to its end: {told:?}"))
    };
    for page in ["wide", "narrow"] {
        let told = of(page);
        let number = |name: &str| told[name].as_u64().unwrap();
        assert!(number("drawn") > 100 && number("colours") >= 4, "spans are drawn: {told}");
        assert!(number("tips") > 20, "tooltips appear: {told}");
        assert_eq!(told["isZoomed"], true);
        assert_eq!(told["wasRobbed"], false, "a task's name was run as a script");
        assert_eq!(told["isTooWide"], false, "the page is wider than its window");
        assert!(number("charts") == 4 && number("rows") > 10, "{told}");
    }
    assert!(of("narrow")["notes"].as_str().unwrap().contains("is drawn together"));
    assert!(of("empty")["notes"].as_str().unwrap().contains("There are no events here"));
}
