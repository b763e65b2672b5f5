"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const length = Math.max(data.length_ns, 1);

// ---- Words and numbers. All text goes into text nodes, never into markup. ----

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function time(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
  for (const [unit, name] of units) {
    if (Math.abs(ns) >= unit) {
      const value = ns / unit;
      return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${name}`;
    }
  }
  return `${Math.round(ns)} ns`;
}

/** A time for a ruler, whose steps are `step`: no digits that say nothing. */
function mark(ns, step) {
  if (ns === 0) return "0";
  const [unit, name] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : step >= 100 ? [1e3, "µs"] : [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return `${(ns / unit).toFixed(digits)} ${name}`;
}

function count(number) {
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (number >= unit && number >= 1e4) return `${(number / unit).toFixed(number >= 100 * unit ? 0 : 1).replace(/\.0$/, "")} ${name}`;
  }
  return number >= 10 || Number.isInteger(number) ? Math.round(number).toLocaleString("en") : number.toFixed(1);
}

const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const percent = (part) => `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %`;

function niceStep(span, marks) {
  const rough = span / marks;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

// ---- What was embedded ----

const [POLL, JOB, BLOCK, PARKED] = [0, 1, 2, 3];
const [WAKE, SPAWN, STEAL] = [0, 1, 2];
const SOURCES = ["its LIFO slot", "its ring", "the inject queue", "another worker", "its pinned tasks", "no queue of a worker"];
const OUTCOMES = ["done", "waits", "to be polled again", "had not ended"];

/** The spans of a lane by depth; those of one depth are in the order of time and do not overlap. */
function unpackLane(lane) {
  const levels = [];
  let start = 0;
  for (let i = 0; i < lane.spans.length; i += 6) {
    const [code, step, duration, a, b, c] = lane.spans.slice(i, i + 6);
    start += step;
    const depth = code >> 2;
    (levels[depth] ??= []).push({ kind: code & 3, start, end: start + duration, a, b, c });
  }
  for (let depth = 0; depth < levels.length; depth += 1) {
    levels[depth] ??= [];
    levels[depth].sort((x, y) => x.start - y.start);
  }
  return { name: lane.name, levels, busy: lane.busy, busyTime: lane.busy_ns, isWorker: lane.name.startsWith("worker") };
}

const lanes = data.lanes.map(unpackLane);
const arrows = data.arrows.map(([kind, fromLane, from, toLane, to]) => ({ kind, fromLane, from, toLane, to }));
const titleOf = (span) => (span.a > 0 ? data.titles[span.a - 1] : `task ${span.b}`);

/** The titles that took most have colours; what they took is known from the spans that are drawn. */
const colours = new Map();
{
  const busy = new Map();
  for (const lane of lanes) {
    for (const span of lane.levels[0] ?? []) {
      if (span.kind === POLL) busy.set(span.a, (busy.get(span.a) ?? 0) + span.end - span.start);
    }
  }
  const ranked = [...busy].filter(([title]) => title > 0).sort((x, y) => y[1] - x[1]);
  ranked.slice(0, 8).forEach(([title], rank) => colours.set(title, `--c${rank}`));
}

let style = {};
function readStyle() {
  const computed = getComputedStyle(document.documentElement);
  const names = ["back", "card", "ink", "muted", "edge", "lane", "grid", "accent", "block", "parked", "stall", "wake", "steal", "other",
    "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
  style = Object.fromEntries(names.map((name) => [`--${name}`, computed.getPropertyValue(`--${name}`).trim()]));
}
const colourOf = (name) => style[name];
const colourOfPoll = (span) => colourOf(colours.get(span.a) ?? "--other");

// ---- The head ----

function fillHead() {
  const program = data.program || "(no name)";
  document.title = `${program} – heist trace`;
  byId("program").textContent = program;
  const when = new Date(data.started_ms + data.start_ns / 1e6);
  const date = Number.isNaN(when.getTime()) ? "" : when.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
  byId("about").textContent = `Process ${data.pid} · from ${date}`;
  const workers = lanes.filter((lane) => lane.isWorker);
  const seats = Math.max(1, Math.min(data.seat_count || workers.length, Math.max(workers.length, 1)));
  const busy = workers.reduce((sum, lane) => sum + lane.busyTime, 0) / (seats * length);
  const facts = [
    ["length", time(data.length_ns)], ["seats", count(data.seat_count)], ["seats busy", percent(Math.min(busy, 1))],
    ["polls", count(data.polls)], ["wakes and spawns", count(data.wakes)], ["steals", count(data.steals)], ["stalls", count(data.stall_count)],
  ];
  for (const [name, value] of facts) {
    const fact = element("div", {}, element("dt", {}, name), element("dd", {}, value));
    if (name === "stalls" && data.stall_count > 0) fact.className = "bad";
    byId("facts").append(fact);
  }
}

function fillNotes() {
  const notes = [];
  if (data.events === 0) notes.push("There are no events here: the program did nothing, or the part of the trace that was asked for is empty.");
  if (data.is_truncated) notes.push("The file was cut off: this is what there is of it.");
  if (data.lost > 0) notes.push(`The recorder keeps the last events only: ${plural(data.lost, "event")} before these ${data.lost === 1 ? "was" : "were"} overwritten.`);
  if (data.resolution_ns > 0) notes.push(`A long trace: in the timeline, what is shorter than ${time(data.resolution_ns)} is drawn together. Charts and tables count everything. To see each poll, convert a part: --from 1.5s --until 1.6s.`);
  if (data.wake_stride > 1) notes.push(`Of the wakes one in ${count(data.wake_stride)} has an arrow.`);
  if (data.steal_stride > 1) notes.push(`Of the steals one in ${count(data.steal_stride)} has an arrow.`);
  if (data.hidden_lanes > 0) notes.push(`${plural(data.hidden_lanes, "more worker")} had no room here.`);
  if (data.hidden_asides > 0) notes.push(`Of the closures and local tasks ${count(data.hidden_asides)} had no room in the timeline; the table has them.`);
  if (data.polls > 0 && data.estimated > data.polls / 2) notes.push("Most polls were too short for the clock to be read at each: their times are estimated between those that were. Their number is right.");
  byId("notes").append(...notes.map((note) => element("li", {}, note)));
}

function fillLegend() {
  const item = (colour, name) => {
    const swatch = element("i");
    swatch.style.background = `var(${colour})`;
    const text = element("b", {}, element("bdi", {}, name));
    text.title = name;
    return element("span", {}, swatch, text);
  };
  const items = [...colours].map(([title, colour]) => item(colour, data.titles[title - 1]));
  const kinds = new Set(lanes.flatMap((lane) => (lane.levels[0] ?? []).map((span) => (span.kind === POLL && !colours.has(span.a) ? "rest" : span.kind))));
  if (kinds.has("rest")) items.push(item("--other", "other tasks"));
  if (kinds.has(JOB)) items.push(item("--muted", "jobs"));
  if (kinds.has(BLOCK)) items.push(item("--block", "many short polls"));
  if (kinds.has(PARKED)) items.push(item("--parked", "asleep"));
  if (data.stalls.length > 0) items.push(item("--stall", "stall"));
  byId("legend").append(...items);
}

// ---- The tooltip ----

const tip = byId("tip");
function showTip(event, title, ...lines) {
  tip.replaceChildren(element("b", {}, title), ...lines.filter(Boolean).map((line) => element("span", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 4))}px`;
}
const hideTip = () => { tip.hidden = true; };

// ---- The timeline ----

const GUTTER = 92, RULER = 24, LANE = 28, SEAT = 14, GAP = 5, MAX_ARROWS = 300;
const canvas = byId("timeline"), overview = byId("overview");
const view = { from: 0, to: length };
let hovered = null, selection = null, drawn = 0;

const laneTop = (index) => RULER + GAP + index * (LANE + GAP);
const seatsTop = () => laneTop(lanes.length) + (data.seats.length ? 12 : 0);
const seatTop = (index) => seatsTop() + index * (SEAT + 3);
const height = () => seatTop(data.seats.length) + 4;
const plotWidth = () => canvas.clientWidth - GUTTER;
const toX = (ns) => GUTTER + ((ns - view.from) / (view.to - view.from)) * plotWidth();
const toTime = (x) => view.from + ((x - GUTTER) / plotWidth()) * (view.to - view.from);

function setView(from, to) {
  const span = Math.min(Math.max(to - from, Math.min(50, length)), length);
  view.from = Math.min(Math.max(0, from), length - span);
  view.to = view.from + span;
  requestDraw();
}
const zoom = (factor, around = (view.from + view.to) / 2) =>
  setView(around - (around - view.from) * factor, around + (view.to - around) * factor);
const move = (part) => {
  const step = (view.to - view.from) * part;
  setView(view.from + step, view.to + step);
};

/** The first of the spans that ends after `at`. */
function firstAfter(spans, at) {
  let low = 0, high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end < at) low = middle + 1; else high = middle;
  }
  return low;
}

function prepare(target, cssHeight) {
  const scale = devicePixelRatio || 1;
  const width = target.clientWidth;
  if (target.width !== Math.round(width * scale) || target.height !== Math.round(cssHeight * scale)) {
    target.width = Math.round(width * scale);
    target.height = Math.round(cssHeight * scale);
    target.style.height = `${cssHeight}px`;
  }
  const context = target.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, cssHeight);
  context.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  context.textBaseline = "middle";
  return context;
}

function drawRuler(context) {
  const step = niceStep(view.to - view.from, Math.max(2, plotWidth() / 110));
  context.strokeStyle = colourOf("--grid");
  context.fillStyle = colourOf("--muted");
  context.textAlign = "left";
  context.beginPath();
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = Math.round(toX(at)) + 0.5;
    context.moveTo(x, RULER - 6);
    context.lineTo(x, height());
    if (x < canvas.clientWidth - 50) context.fillText(mark(at, step), x + 4, 10);
  }
  context.stroke();
}

function label(context, text, x, y, width) {
  if (width < 36) return;
  const room = Math.floor((width - 10) / 6);
  const short = text.length <= room ? text : room < 6 ? "" : `…${text.slice(text.length - room + 1)}`;
  if (short) context.fillText(short, x + 5, y);
}

function drawSpan(context, span, depth, top) {
  const left = Math.max(toX(span.start), GUTTER), right = Math.min(toX(span.end), canvas.clientWidth);
  const width = Math.max(right - left, 1);
  const inset = depth * 5;
  const [y, tall] = [top + inset, LANE - inset];
  if (span.kind === PARKED) {
    context.fillStyle = colourOf("--parked");
    context.fillRect(left, top + LANE / 2 - 1, width, 2);
    return;
  }
  context.fillStyle = span.kind === POLL ? colourOfPoll(span) : span.kind === JOB ? colourOf("--muted") : colourOf("--block");
  if (span.kind === BLOCK) {
    // As high as it is busy.
    const part = Math.min(1, span.b / Math.max(1, span.end - span.start));
    context.fillRect(left, y + tall * (1 - part), width, tall * part);
  } else {
    context.fillRect(left, y, width > 3 ? width - 0.5 : width, tall);
  }
  context.fillStyle = colourOf("--card");
  context.textAlign = "left";
  const text = span.kind === POLL ? titleOf(span) : span.kind === JOB ? "job" : width > 90 ? `${count(span.a)} polls` : "";
  label(context, text, left, y + tall / 2, width);
}

function drawLanes(context) {
  context.save();
  lanes.forEach((lane, index) => {
    const top = laneTop(index);
    context.fillStyle = colourOf("--lane");
    context.fillRect(GUTTER, top, plotWidth(), LANE);
    context.fillStyle = colourOf("--ink");
    context.textAlign = "right";
    context.fillText(lane.name, GUTTER - 10, top + LANE / 2);
  });
  context.beginPath();
  context.rect(GUTTER, 0, plotWidth(), height());
  context.clip();
  lanes.forEach((lane, index) => {
    lane.levels.forEach((spans, depth) => {
      // Of what is narrower than a pixel one is drawn for each.
      let pixel = -1;
      for (let i = firstAfter(spans, view.from); i < spans.length && spans[i].start <= view.to; i += 1) {
        const right = Math.floor(toX(spans[i].end));
        if (right === pixel && spans[i].kind !== BLOCK) continue;
        pixel = right;
        drawSpan(context, spans[i], depth, laneTop(index));
        drawn += 1;
      }
    });
  });
  context.restore();
}

function drawSeats(context) {
  data.seats.forEach((seat, index) => {
    const top = seatTop(index);
    context.fillStyle = colourOf("--muted");
    context.textAlign = "right";
    context.fillText(`seat ${seat.seat}`, GUTTER - 10, top + SEAT / 2);
    for (const [worker, from, to] of seat.sittings) {
      if (to < view.from || from > view.to) continue;
      const left = Math.max(toX(from), GUTTER), right = Math.min(toX(to), canvas.clientWidth);
      const width = Math.max(1, right - left - 1);
      const isHome = worker === seat.seat;
      context.fillStyle = colourOf(isHome ? "--lane" : "--steal");
      context.fillRect(left, top, width, SEAT);
      context.fillStyle = colourOf(isHome ? "--muted" : "--card");
      context.textAlign = "left";
      label(context, `worker ${worker}`, left, top + SEAT / 2 + 0.5, width);
    }
  });
}

function drawArrow(context, arrow, isBold) {
  const [x1, x2] = [toX(arrow.from), toX(arrow.to)];
  const [y1, y2] = [laneTop(arrow.fromLane) + LANE / 2, laneTop(arrow.toLane) + LANE / 2];
  const bend = Math.min(60, Math.max(14, Math.abs(x2 - x1) / 2));
  const lift = arrow.fromLane === arrow.toLane ? -LANE * 0.7 : 0;
  const line = (colour, width, alpha) => {
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [colour, width, alpha];
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1 + lift, x2 - bend, y2 + lift, x2 - 4, y2);
    context.stroke();
  };
  const colour = colourOf(arrow.kind === STEAL ? "--steal" : "--wake");
  // An edge, so that it is seen on spans of any colour.
  line(colourOf("--card"), isBold ? 5 : 3, 0.55);
  line(colour, isBold ? 2 : 1.25, isBold ? 1 : 0.9);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 6, y2 - 3.5);
  context.lineTo(x2 - 6, y2 + 3.5);
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1;
}

/** Returns how many arrows there would be if there were room. */
function drawArrows(context) {
  const isWanted = (arrow) => byId(arrow.kind === STEAL ? "show-steals" : "show-wakes").checked
    && arrow.to >= view.from && arrow.from <= view.to;
  const visible = arrows.filter(isWanted);
  context.save();
  context.beginPath();
  context.rect(GUTTER, RULER, plotWidth(), height());
  context.clip();
  if (visible.length <= MAX_ARROWS) visible.forEach((arrow) => drawArrow(context, arrow, false));
  if (hovered?.span) {
    const { lane, span } = hovered;
    const leadsTo = (arrow) => arrow.toLane === lane && arrow.to === span.start;
    const comesFrom = (arrow) => arrow.fromLane === lane && arrow.from >= span.start && arrow.from <= span.end;
    visible.filter((arrow) => leadsTo(arrow) || (span.kind === POLL && comesFrom(arrow))).slice(0, 50)
      .forEach((arrow) => drawArrow(context, arrow, true));
  }
  context.restore();
  return visible.length;
}

function drawStalls(context) {
  context.fillStyle = context.strokeStyle = colourOf("--stall");
  for (const stall of data.stalls) {
    if (stall.lane === null || stall.at < view.from || stall.at > view.to) continue;
    const [x, top] = [toX(stall.at), laneTop(stall.lane)];
    context.beginPath();
    context.moveTo(x - 5, top - 4);
    context.lineTo(x + 5, top - 4);
    context.lineTo(x, top + 4);
    context.fill();
    context.fillRect(x - 0.5, top, 1, LANE);
  }
}

function drawTimeline() {
  const context = prepare(canvas, height());
  drawn = 0;
  drawRuler(context);
  drawLanes(context);
  drawSeats(context);
  drawStalls(context);
  const wanted = drawArrows(context);
  if (hovered?.span) {
    const { lane, span, depth } = hovered;
    const left = Math.max(GUTTER, toX(span.start));
    context.strokeStyle = colourOf("--ink");
    context.strokeRect(left + 0.5, laneTop(lane) + depth * 5 + 0.5, Math.max(1, Math.min(toX(span.end), canvas.clientWidth) - left - 1), LANE - depth * 5 - 1);
  }
  if (selection) {
    context.fillStyle = colourOf("--accent");
    context.globalAlpha = 0.2;
    context.fillRect(Math.min(selection.from, selection.to), RULER, Math.abs(selection.to - selection.from), height());
    context.globalAlpha = 1;
  }
  const crowded = wanted > MAX_ARROWS ? ` · ${count(wanted)} arrows: zoom in to see them` : "";
  byId("view").textContent = `${time(view.from)} – ${time(view.to)} (${time(view.to - view.from)})${crowded}`;
}

function drawOverview() {
  const context = prepare(overview, 44);
  const width = overview.clientWidth - GUTTER;
  const buckets = data.polls_over_time.length;
  const workers = lanes.filter((lane) => lane.isWorker);
  const top = Math.max(1, workers.length) * 1000;
  context.fillStyle = colourOf("--muted");
  context.textAlign = "right";
  context.fillText("busy workers", GUTTER - 10, 22);
  context.fillStyle = colourOf("--block");
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const busy = workers.reduce((sum, lane) => sum + lane.busy[bucket], 0) / top;
    // Whole pixels: columns that share one would leave a line between them.
    const left = Math.round(GUTTER + ((bucket * data.bucket_ns) / length) * width);
    const right = Math.round(Math.min(GUTTER + (((bucket + 1) * data.bucket_ns) / length) * width, GUTTER + width));
    context.fillRect(left, 42 - busy * 38, right - left, busy * 38);
  }
  context.fillStyle = colourOf("--stall");
  for (const stall of data.stalls) context.fillRect(GUTTER + (stall.at / length) * width - 1, 0, 2, 5);
  const left = GUTTER + (view.from / length) * width, right = GUTTER + (view.to / length) * width;
  context.fillStyle = colourOf("--card");
  context.globalAlpha = 0.7;
  context.fillRect(GUTTER, 0, left - GUTTER, 44);
  context.fillRect(right, 0, GUTTER + width - right, 44);
  context.globalAlpha = 1;
  context.strokeStyle = colourOf("--accent");
  context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), 43);
}

let isDrawRequested = false;
function requestDraw() {
  if (isDrawRequested) return;
  isDrawRequested = true;
  requestAnimationFrame(() => {
    isDrawRequested = false;
    drawTimeline();
    drawOverview();
  });
}

/** What is under the pointer. */
function find(x, y) {
  if (x < GUTTER) return null;
  const at = toTime(x), reach = (view.to - view.from) / plotWidth();
  const stall = data.stalls.find((one) => one.lane !== null && Math.abs(toX(one.at) - x) < 6 && y >= laneTop(one.lane) - 5 && y < laneTop(one.lane) + 6);
  if (stall) return { stall };
  const lane = lanes.findIndex((_, index) => y >= laneTop(index) && y < laneTop(index) + LANE);
  if (lane >= 0) {
    const { levels } = lanes[lane];
    for (let depth = levels.length - 1; depth >= 0; depth -= 1) {
      const span = levels[depth][firstAfter(levels[depth], at - reach)];
      if (span && span.start <= at + reach && y >= laneTop(lane) + depth * 5) return { lane, span, depth };
    }
    return null;
  }
  const seat = data.seats.find((_, index) => y >= seatTop(index) && y < seatTop(index) + SEAT);
  const sitting = seat?.sittings.find(([, from, to]) => from <= at && at <= to);
  return sitting ? { seat, sitting } : null;
}

function describe(event, found) {
  if (found.stall) {
    const { stall } = found;
    return showTip(event, `Stall: ${stall.what}`, `worker ${stall.worker}`, stall.task && `in ${stall.task}`, `at ${time(stall.at)}`);
  }
  if (found.sitting) {
    const [worker, from, to] = found.sitting;
    return showTip(event, `Seat ${found.seat.seat}: worker ${worker}`, `for ${time(to - from)}, from ${time(from)}`);
  }
  const { span, lane } = found;
  const when = `${time(span.end - span.start)}, from ${time(span.start)}`;
  const { name } = lanes[lane];
  if (span.kind === PARKED) {
    const rounds = span.a && `woken ${plural(span.a, "time")} for nothing, awake for ${time(span.b)}`;
    return showTip(event, "Asleep", when, name, rounds);
  }
  if (span.kind === JOB) return showTip(event, span.a ? "Job, stolen" : "Job", when, name);
  if (span.kind === BLOCK) {
    const busy = percent(Math.min(1, span.b / Math.max(1, span.end - span.start)));
    return showTip(event, plural(span.a, "short span"), `${busy} of ${when}`, name);
  }
  const isEstimated = span.c & 64;
  return showTip(event, titleOf(span), `task ${span.b} on ${name}`, `${isEstimated ? "about " : ""}${when}`,
    `from ${SOURCES[span.c & 7] ?? "elsewhere"}; then ${OUTCOMES[(span.c >> 3) & 7] ?? "something else"}`);
}

function listenToTimeline() {
  let drag = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const [x] = place(event);
    canvas.setPointerCapture(event.pointerId);
    drag = { x, from: view.from, to: view.to };
    if (event.shiftKey) selection = { from: Math.max(x, GUTTER), to: Math.max(x, GUTTER) };
    else canvas.classList.add("moving");
    hideTip();
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag && selection) {
      selection.to = Math.max(x, GUTTER);
      requestDraw();
    } else if (drag) {
      const step = ((drag.x - x) / plotWidth()) * (drag.to - drag.from);
      setView(drag.from + step, drag.to + step);
    } else {
      const found = find(x, y);
      if (found) describe(event, found); else hideTip();
      if (found?.span !== hovered?.span) { hovered = found; requestDraw(); }
    }
  });
  const stop = () => {
    if (selection && Math.abs(selection.to - selection.from) > 4) {
      const [from, to] = [toTime(Math.min(selection.from, selection.to)), toTime(Math.max(selection.from, selection.to))];
      setView(from, to);
    }
    drag = selection = null;
    canvas.classList.remove("moving");
    requestDraw();
  };
  canvas.addEventListener("pointerup", stop);
  canvas.addEventListener("pointercancel", stop);
  canvas.addEventListener("pointerleave", () => { hideTip(); hovered = null; requestDraw(); });
  canvas.addEventListener("dblclick", (event) => zoom(0.4, toTime(place(event)[0])));
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), toTime(place(event)[0]));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      move((event.deltaX || event.deltaY) / plotWidth());
    }
  }, { passive: false });
  const keys = { "ArrowLeft": () => move(-0.15), "ArrowRight": () => move(0.15), "+": () => zoom(0.6), "=": () => zoom(0.6),
    "-": () => zoom(1.6), "0": () => setView(0, length), "a": () => move(-0.15), "d": () => move(0.15), "w": () => zoom(0.6), "s": () => zoom(1.6) };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function listenToOverview() {
  let isDown = false;
  const centre = (event) => {
    const box = overview.getBoundingClientRect();
    const at = ((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * length;
    const half = (view.to - view.from) / 2;
    setView(at - half, at + half);
  };
  overview.addEventListener("pointerdown", (event) => { isDown = true; overview.setPointerCapture(event.pointerId); centre(event); });
  overview.addEventListener("pointermove", (event) => { if (isDown) centre(event); });
  overview.addEventListener("pointerup", () => { isDown = false; });
}

// ---- Charts ----

const nothing = (id) => byId(id).append(element("p", { class: "empty" }, "Nothing was recorded."));

function drawPolls() {
  const values = data.polls_over_time.map((polls, bucket) => {
    const width = Math.min(data.bucket_ns, Math.max(1, data.length_ns - bucket * data.bucket_ns));
    return data.polls === 0 ? 0 : polls / (width / 1e9);
  });
  if (data.polls === 0) return nothing("polls-chart");
  // The last step may be too short to say anything.
  if (values.length > 2 && data.length_ns % data.bucket_ns < data.bucket_ns / 2) values.pop();
  const [width, tall, left] = [600, 150, 52];
  const step = niceStep(Math.max(...values, 1), 4);
  const top = Math.ceil(Math.max(...values, 1) / step) * step;
  const x = (bucket) => left + (bucket / Math.max(1, values.length - 1)) * (width - left);
  const y = (value) => tall - (value / top) * tall;
  const svg = shape("svg", { viewBox: `0 -8 ${width} ${tall + 30}` });
  for (let value = 0; value <= top; value += step) {
    svg.append(shape("line", { class: "grid-line", x1: left, x2: width, y1: y(value), y2: y(value) }),
      shape("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, count(value)));
  }
  const points = values.map((value, bucket) => `${x(bucket).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  svg.append(shape("polygon", { class: "area", points: `${left},${tall} ${points} ${width},${tall}` }),
    shape("polyline", { class: "curve", points }));
  for (const part of [0, 0.5, 1]) {
    svg.append(shape("text", { x: left + part * (width - left), y: tall + 16, "text-anchor": ["start", "middle", "end"][part * 2] }, time(part * length)));
  }
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width * width - left) / (width - left);
    const bucket = Math.max(0, Math.min(values.length - 1, Math.round(at * (values.length - 1))));
    showTip(event, `${count(values[bucket])} polls/s`, `at ${time(bucket * data.bucket_ns)}`);
  });
  svg.addEventListener("pointerleave", hideTip);
  byId("polls-chart").append(svg);
}

function drawBusy() {
  const workers = lanes.filter((lane) => lane.isWorker);
  if (workers.length === 0) return nothing("busy-chart");
  const [width, row, left, right] = [600, 26, 78, 548];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${workers.length * row + 4}` });
  workers.forEach((lane, index) => {
    const top = index * row + 4, tall = row - 6;
    const x = (bucket) => left + (bucket / Math.max(1, lane.busy.length)) * (right - left);
    const steps = lane.busy.flatMap((busy, bucket) => {
      const y = (top + tall * (1 - busy / 1000)).toFixed(1);
      return [`${x(bucket).toFixed(1)},${y}`, `${x(bucket + 1).toFixed(1)},${y}`];
    });
    const all = lane.busyTime / length;
    const group = shape("g", {},
      shape("text", { class: "name", x: left - 10, y: top + tall / 2 + 4, "text-anchor": "end" }, lane.name),
      shape("rect", { x: left, y: top, width: right - left, height: tall, fill: "var(--lane)", rx: 2 }),
      shape("polygon", { class: "column", points: `${left},${top + tall} ${steps.join(" ")} ${right},${top + tall}` }),
      shape("text", { class: "percent", x: width, y: top + tall / 2 + 4, "text-anchor": "end" }, percent(all)));
    group.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width * width - left) / (right - left);
      const bucket = Math.max(0, Math.min(lane.busy.length - 1, Math.floor(at * lane.busy.length)));
      showTip(event, `${lane.name}: ${percent(lane.busy[bucket] / 1000)} busy`, `at ${time(bucket * data.bucket_ns)}`, `${percent(all)} over all`);
    });
    svg.append(group);
  });
  svg.addEventListener("pointerleave", hideTip);
  byId("busy-chart").append(svg);
}

/** Bars on a scale of logarithms, so that the few long ones are seen beside the many short. */
function drawHistogram(id, bars, one, late) {
  if (bars.length === 0) return nothing(id);
  const [width, tall, left] = [600, 150, 52];
  const total = bars.reduce((sum, [, number]) => sum + number, 0);
  const most = Math.max(...bars.map(([, number]) => number));
  const decades = Math.max(1, Math.ceil(Math.log10(most + 1)));
  const y = (number) => (number <= 0 ? tall : tall - (Math.log10(number + 1) / decades) * tall);
  const svg = shape("svg", { viewBox: `0 -8 ${width} ${tall + 30}` });
  for (let decade = 0; decade <= decades; decade += Math.ceil(decades / 4)) {
    const value = 10 ** decade;
    if (decade > 0) svg.append(shape("line", { class: "grid-line", x1: left, x2: width, y1: y(value), y2: y(value) }));
    svg.append(shape("text", { x: left - 8, y: (decade ? y(value) : tall) + 4, "text-anchor": "end" }, decade ? count(value) : "0"));
  }
  svg.append(shape("line", { class: "grid-line", x1: left, x2: width, y1: tall, y2: tall }));
  const slot = Math.min(44, (width - left) / bars.length);
  let seen = 0;
  bars.forEach(([bound, number], index) => {
    const x = left + index * slot + 3;
    seen += number;
    const upTo = seen;
    const range = bound === 0 ? "longer than 10 s" : `up to ${time(bound)}`;
    const bar = shape("rect", { class: bound === 0 || bound > late ? "column late" : "column", x, y: y(number), width: slot - 4, height: tall - y(number), rx: 1.5 });
    bar.addEventListener("pointermove", (event) => showTip(event, `${plural(number, one)} ${range}`, `${percent(number / total)}; ${percent(upTo / total)} were no longer`));
    bar.addEventListener("pointerleave", hideTip);
    svg.append(bar);
    const everyOther = Math.ceil(46 / slot);
    if (index % everyOther === 0) svg.append(shape("text", { x: x + slot / 2 - 2, y: tall + 16, "text-anchor": "middle" }, bound === 0 ? "more" : time(bound).replace(/\.0+ /, " ")));
  });
  byId(id).append(svg);
}

// ---- Stalls and the table ----

function fillStalls() {
  byId("stall-section").hidden = data.stalls.length === 0;
  for (const stall of data.stalls) {
    const button = element("button", { type: "button" }, element("b", {}, `worker ${stall.worker} ${stall.what}`),
      `${stall.task ? ` in ${stall.task}` : ""}, at ${time(stall.at)}`);
    button.addEventListener("click", () => {
      const half = Math.min(length / 2, 5e6);
      setView(stall.at - half, stall.at + half);
      canvas.focus();
      canvas.scrollIntoView({ block: "center" });
    });
    byId("stalls").append(element("li", {}, button));
  }
  const more = data.stall_count - data.stalls.length;
  if (more > 0) byId("stalls").append(element("li", { class: "muted" }, `and ${count(more)} more`));
}

const table = { isByTask: false, sort: "busy", isAscending: false };
const COLUMNS = [["title", ""], ["busy", "Busy"], ["polls", "Polls"], ["mean", "Mean poll"], ["longest", "Longest poll"],
  ["mean_delay", "Mean delay"], ["longest_delay", "Longest delay"]];

function fillTable() {
  const rows = table.isByTask ? data.tasks : data.places;
  const key = (row) => (table.sort === "mean" ? row.busy / Math.max(1, row.polls) : row[table.sort]);
  const words = byId("filter").value.trim().toLowerCase();
  const matches = (row) => `${row.title} ${row.place ?? ""}`.toLowerCase().includes(words);
  const order = (x, y) => (key(x) < key(y) ? -1 : key(x) > key(y) ? 1 : 0) * (table.isAscending ? 1 : -1);
  const most = Math.max(1, ...rows.map((row) => row.busy));
  const heads = COLUMNS.map(([name, text]) => {
    const button = element("button", { type: "button" }, name === "title" ? (table.isByTask ? "Task" : "Spawned at") : text);
    const head = element("th", { scope: "col" }, button);
    if (name === table.sort) head.setAttribute("aria-sort", table.isAscending ? "ascending" : "descending");
    button.addEventListener("click", () => {
      table.isAscending = name === table.sort ? !table.isAscending : name === "title";
      table.sort = name;
      fillTable();
    });
    return head;
  });
  document.querySelector("thead").replaceChildren(element("tr", {}, ...heads));
  const shown = rows.filter(matches).sort(order);
  document.querySelector("tbody").replaceChildren(...shown.map((row) => {
    const bar = element("span", { class: "share" });
    bar.style.width = `${Math.max(1, (row.busy / most) * 90)}px`;
    const title = element("td", {}, row.title);
    if (row.place && row.place !== row.title) title.append(element("small", {}, row.place));
    const cells = [time(row.busy), count(row.polls), time(row.busy / Math.max(1, row.polls)), time(row.longest), time(row.mean_delay), time(row.longest_delay)];
    const nodes = cells.map((cell) => element("td", {}, cell));
    nodes[0].prepend(bar);
    return element("tr", {}, title, ...nodes);
  }));
  const notes = [`${plural(shown.length, "row")}${rows.length >= 200 ? " of the 200 that took most" : ""}.`];
  if (data.is_task_list_partial && table.isByTask) notes.push("There were too many tasks to count each: those that took least are not in it.");
  byId("table-note").textContent = notes.join(" ");
}

function listenToTable() {
  byId("filter").addEventListener("input", fillTable);
  for (const [id, isByTask] of [["by-place", false], ["by-task", true]]) {
    byId(id).addEventListener("click", () => {
      table.isByTask = isByTask;
      byId("by-place").setAttribute("aria-pressed", String(!isByTask));
      byId("by-task").setAttribute("aria-pressed", String(isByTask));
      fillTable();
    });
  }
}

// ---- All together ----

readStyle();
fillHead();
fillNotes();
fillLegend();
drawPolls();
drawBusy();
drawHistogram("poll-histogram", data.poll_times, "poll", 1e6);
drawHistogram("delay-histogram", data.delays, "poll", 1e7);
fillStalls();
fillTable();
listenToTable();
listenToTimeline();
listenToOverview();
byId("zoom-in").addEventListener("click", () => zoom(0.5));
byId("zoom-out").addEventListener("click", () => zoom(2));
byId("zoom-fit").addEventListener("click", () => setView(0, length));
for (const id of ["show-wakes", "show-steals"]) byId(id).addEventListener("change", requestDraw);
addEventListener("resize", requestDraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readStyle(); requestDraw(); });
drawTimeline();
drawOverview();
document.documentElement.dataset.drawn = String(drawn);
})();
