// SPDX-License-Identifier: Apache-2.0
// Draws the page of quoit report. The data is JSON in the page; text is only ever set as text.
"use strict";

const $ = (id) => document.getElementById(id);
// Characters that no one can see, or that reverse text, are shown as bytes, like in tables of quoit.
const escaped = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => c === "\n" ? c : encodeURIComponent(c).toLowerCase().replaceAll("%", "\\x"));
const read = (id) => {
  const json = $(id).textContent, hasHidden = /\\u(?!00(26|3c|3e))/.test(json);
  return JSON.parse(json, hasHidden ? (key, value) => typeof value === "string" ? escaped(value) : value : undefined);
};
const status = read("data-status"), slots = read("data-slots"), fragmentation = read("data-fragmentation");
const map = read("data-map"), history_ = read("data-history");
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawing(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const number = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
const shortTime = (time) => time === null ? "-" : time.slice(0, 16).replace("T", " ");

// --- the slices ---

const LOOKS = ["free", "partly used", "held", "external", "draining", "degraded"];
const STATES = { ".": "free", "+": "in external use", "~": "draining", "#": "dead", "?": "missing" };

const classes = map.classes.map((row) => {
  const places = row.places.map((place) => place.split(",").map(Number));
  return { name: row.accelerator + " " + row.topology, places, ...arrange(places) };
});

// The layers of a slice lie side by side, in rows if that makes the slice less long.
function arrange(places) {
  const size = [0, 1, 2].map((axis) => 1 + Math.max(0, ...places.map((place) => place[axis])));
  let best = 1;
  const shape = (columns) => {
    const rows = Math.ceil(size[2] / columns);
    return [columns * size[0] + (columns - 1) / 2, rows * size[1] + (rows - 1) / 2];
  };
  const badness = (columns) => Math.abs(Math.log(shape(columns)[0] / shape(columns)[1] / 1.2));
  for (let columns = 2; columns <= size[2]; columns++)
    if (badness(columns) < badness(best)) best = columns;
  const [width, height] = shape(best);
  const at = places.map(([x, y, z]) => [x + (z % best) * (size[0] + 0.5), y + Math.floor(z / best) * (size[1] + 0.5)]);
  return { width, height, at };
}

const unknown = new Map();
function classOf(number, nHosts) {
  if (number >= 0) return classes[number];
  if (!unknown.has(nHosts)) {
    const places = Array.from({ length: nHosts }, (_, i) => [i % 8, Math.floor(i / 8), 0]);
    unknown.set(nHosts, { name: "unknown topology", places, ...arrange(places) });
  }
  return unknown.get(nHosts);
}

// What all names begin with, up to a hyphen: narrow boxes leave it out.
function commonPrefix(names) {
  let length = names.length < 2 ? 0 : names[0].lastIndexOf("-") + 1;
  while (length > 0 && !names.every((name) => name.startsWith(names[0].slice(0, length)) && name.length > length))
    length = names[0].lastIndexOf("-", length - 2) + 1;
  return length;
}

const pools = [];
const slices = [];
{
  const numbers = map.slices.classes === "" ? [] : map.slices.classes.split(" ").map(Number);
  let next = 0;
  for (const row of map.pools) {
    const pool = { name: row.source + "/" + row.pool, slices: [] };
    for (let i = 0; i < row.n_slices; i++, next++) {
      const hosts = map.slices.hosts[next];
      const slice = {
        index: next, pool, name: map.slices.names[next], look: Number(map.slices.looks[next]), hosts,
        kind: classOf(numbers[next], hosts.length), users: map.slices.users[next] === "" ? [] : map.slices.users[next].split("\n"),
      };
      slice.text = [slice.name, pool.name, slice.kind.name, LOOKS[slice.look], ...slice.users].join(" ").toLowerCase();
      slices.push(slice);
      pool.slices.push(slice);
    }
    if (pool.slices.length > 0) pools.push(pool);
    pool.prefix = commonPrefix(pool.slices.map((slice) => slice.name));
  }
}

function nodeName(slice, worker) {
  const names = map.slices.nodes[slice.index];
  if (slice.hosts[worker] === "?") return "-";
  return names === "" ? slice.name + "-" + worker : names.split("\n")[worker];
}

const colours = new Map();
const colourOf = (group) => {
  if (!colours.has(group)) colours.set(group, "g" + colours.size % 8);
  return colours.get(group);
};
for (const group of status.groups) colourOf(group.group);

// A letter, or a character from U+4E00 on, is the number of a user of the slice. A capital, or an odd character, means
// that no chip of the host is left.
const userNumber = (symbol) => /[A-Za-z]/.test(symbol) ? symbol.toLowerCase().charCodeAt(0) - 97 : 26 + ((symbol.charCodeAt(0) - 0x4e00) >> 1);
const userOf = (slice, symbol) => userNumber(symbol) < 26 + 17000 ? slice.users[userNumber(symbol)] : "another group";
const isUsed = (symbol) => /[A-Za-z\u4e00-\ud7ff]/.test(symbol);
const isFull = (symbol) => /[A-Z]/.test(symbol) || (symbol >= "\u4e00" && symbol.charCodeAt(0) % 2 === 1);

function hostState(slice, worker) {
  const symbol = slice.hosts[worker];
  if (!isUsed(symbol)) return STATES[symbol];
  return (isFull(symbol) ? "used by " : "partly used by ") + userOf(slice, symbol);
}

// Hosts of one state are one path. A state has a form of its own, so that nobody needs its colour.
function drawHosts(slice, size) {
  const { at, width, height } = slice.kind, gap = size >= 8 ? 2 : 1, side = size - gap;
  const svg = drawing("svg", { width: Math.ceil(width * size), height: Math.ceil(height * size), "aria-hidden": "true" });
  const paths = new Map();
  const add = (style, path) => paths.set(style, (paths.get(style) || "") + path);
  const texts = [];
  for (let worker = 0; worker < slice.hosts.length; worker++) {
    const symbol = slice.hosts[worker], x = at[worker][0] * size + 0.5, y = at[worker][1] * size + 0.5;
    const box = `M${x} ${y}h${side - 1}v${side - 1}h${1 - side}z`, end = side - 1, half = end / 2, third = end / 3;
    if (isFull(symbol)) add(colourOf(userOf(slice, symbol)), box);
    else if (isUsed(symbol)) {
      add("frame", box);
      add(colourOf(userOf(slice, symbol)), `M${x} ${y + end}v${-third}h${end}v${third}z`);
    } else if (symbol === "?") add("missing", box);
    else {
      add("frame", box);
      if (symbol === "#") add("dead", `M${x} ${y}l${end} ${end}m0 ${-end}l${-end} ${end}`);
      if (symbol === "~") add("draining-fill", `M${x} ${y + half}L${x + half} ${y}M${x} ${y + end}L${x + end} ${y}M${x + half} ${y + end}L${x + end} ${y + half}`);
      if (symbol === "+") add("external", `M${x + half} ${y}v${end}M${x} ${y + half}h${end}`);
    }
    if (size >= 14 && symbol !== "#" && symbol !== "+")
      texts.push(drawing("text", { x: x + half, y: y + half + (isUsed(symbol) && !isFull(symbol) ? 0.8 : 3.2), ...(isFull(symbol) ? { class: "on" } : {}) }, worker));
  }
  for (const [style, d] of paths) svg.append(drawing("path", { class: style, d }));
  svg.append(...texts);
  return svg;
}

// --- details ---

function open(slice) {
  $("details-heading").textContent = slice.name;
  const problems = problemsOf(slice);
  const facts = [["Pool", slice.pool.name], ["Shape", slice.kind.name], ["State", LOOKS[slice.look]],
    ["Groups", slice.users.length === 0 ? "none" : slice.users.join(", ")], ...problems.map((text) => ["Problem", text])];
  const list = element("dl");
  for (const [name, value] of facts) list.append(element("dt", {}, name), element("dd", {}, value));
  const holder = element("div", { class: "drawing", tabindex: 0, role: "group", "aria-label": "Hosts in their places; the table has the same facts" });
  holder.append(drawHosts(slice, 22));
  const hosts = Array.from(slice.hosts, (_, worker) => ({ worker, node: nodeName(slice, worker),
    state: hostState(slice, worker), place: slice.kind.places[worker].join(", ") }));
  const table = element("div");
  fillTable(table, "Hosts of " + slice.name, [["worker", "Worker"], ["node", "Node"], ["state", "State"],
    ["place", "Place x, y, z", "n"]], hosts);
  $("details-body").replaceChildren(list, holder, table);
  $("details").showModal();
  $("details-heading").focus();
}

$("close").addEventListener("click", () => $("details").close());
$("details").addEventListener("click", (event) => { if (event.target === $("details")) $("details").close(); });
$("details").addEventListener("close", () => {
  // The browser gives the focus back, unless that element is no longer drawn.
  if (document.activeElement === document.body) focusSlice();
});

// --- tables ---

const CHUNK = 100;

// Appends rows in chunks, so that a long table costs nothing before it is read.
function fillTable(holder, caption, columns, rows, chunk = CHUNK) {
  if (rows.length === 0) {
    holder.replaceChildren(element("p", { class: "note" }, "None."));
    return;
  }
  const body = element("tbody"), more = element("button", { type: "button", class: "more" });
  const head = element("tr", {}, ...columns.map(([, heading, style]) => element("th", { scope: "col", class: style }, heading)));
  let shown = 0;
  const add = () => {
    for (const row of rows.slice(shown, shown + chunk))
      body.append(element("tr", {}, ...columns.map(([key, , style], i) => {
        const value = typeof key === "function" ? key(row) : row[key];
        return element(i === 0 ? "th" : "td", { class: style, ...(i === 0 ? { scope: "row" } : {}) },
          value === null || value === undefined ? "-" : value instanceof Node ? value : String(value));
      })));
    shown = Math.min(shown + chunk, rows.length);
    more.textContent = `Show more (${number(rows.length - shown)} left)`;
    more.hidden = shown === rows.length;
  };
  more.addEventListener("click", add);
  add();
  holder.replaceChildren(element("table", {}, element("caption", {}, caption), element("thead", {}, head), body), more);
}

function link(text, slice) {
  const button = element("button", { type: "button" }, text);
  button.addEventListener("click", () => open(slice));
  return button;
}

// --- the map ---

const SIZES = [34, 26, 22, 18, 16, 14, 12, 10, 8, 6, 5], SMALLEST = 5, HEADING = 21, GAP = 3;
let zoom = null, size = 10, rows = [], visible = slices, current = slices[0] || null, rowOf = new Map(), total = 0;

const labelHeight = () => size >= 10 ? 14 : 2;
const tileWidth = (slice) => Math.max(Math.ceil(slice.kind.width * size) + 5, size >= 10 ? 30 : 0);
const tileHeight = (slice) => Math.ceil(slice.kind.height * size) + labelHeight() + 3;

// Places each visible slice in a row below the heading of its pool.
function layOut(width) {
  const wanted = new Set(visible);
  rows = [];
  rowOf = new Map();
  total = 0;
  for (const pool of pools) {
    const shown = visible === slices ? pool.slices : pool.slices.filter((slice) => wanted.has(slice));
    if (shown.length === 0) continue;
    rows.push({ pool, shown, top: total, height: HEADING });
    total += HEADING;
    let row = null;
    for (const slice of shown) {
      const need = tileWidth(slice);
      if (row === null || row.right + need > width) {
        if (row !== null) total += row.height + GAP;
        row = { cells: [], top: total, height: 0, right: 0 };
        rows.push(row);
      }
      rowOf.set(slice, rows.length - 1);
      row.cells.push([slice, row.right]);
      row.right += need + GAP;
      row.height = Math.max(row.height, tileHeight(slice));
    }
    total += row.height + GAP;
  }
}

function fit() {
  const grid = $("grid"), top = grid.getBoundingClientRect().top + window.scrollY;
  const room = Math.max(240, window.innerHeight - top - 46), width = grid.clientWidth - 12;
  if (zoom !== null) {
    size = SIZES[zoom];
    layOut(width);
  } else
    for (const candidate of SIZES) {
      size = candidate;
      layOut(width);
      if (total <= room || candidate === SMALLEST) break;
    }
  grid.style.height = Math.max(60, Math.min(total + 6, room)) + "px";
  grid.setAttribute("aria-rowcount", rows.length);
  draw(true);
}

const tileLabel = (slice) => `${slice.name}, ${slice.kind.name}, ${LOOKS[slice.look]}` +
  (slice.users.length > 0 ? `, used by ${slice.users.join(", ")}` : "");

function makeRow(row, index) {
  const made = element("div", { role: "row", "aria-rowindex": index + 1 });
  made.style.top = row.top + "px";
  made.style.height = row.height + "px";
  if (row.pool !== undefined) {
    const free = row.shown.filter((slice) => slice.look === 0).length;
    const kinds = [...new Set(row.shown.map((slice) => slice.kind.name))];
    made.append(element("div", { role: "rowheader" }, element("b", {}, row.pool.name), "  " +
      kinds.slice(0, 3).join(", ") + (kinds.length > 3 ? ", \u2026" : "") + `  \u00b7  ${number(free)} of ${number(row.shown.length)} free`));
    return made;
  }
  for (const [slice, left] of row.cells) {
    const tile = element("div", { role: "gridcell", class: "slice " + LOOKS[slice.look], "data-slice": slice.index,
      tabindex: slice === current ? 0 : -1, title: tileLabel(slice) }, element("span", { class: "heard" }, tileLabel(slice)));
    tile.style.left = left + "px";
    tile.style.width = tileWidth(slice) + "px";
    tile.style.height = tileHeight(slice) + "px";
    const svg = drawHosts(slice, size);
    svg.style.top = labelHeight() + "px";
    if (size >= 10) tile.append(element("span", { class: "label", "aria-hidden": "true" },
      6 * slice.name.length < tileWidth(slice) ? slice.name : slice.name.slice(slice.pool.prefix)));
    tile.append(svg);
    made.append(tile);
  }
  return made;
}

const drawn = new Map();

// Keeps only the rows near the view, and the row that has the focus.
function draw(again) {
  const grid = $("grid"), from = grid.scrollTop - 300, to = grid.scrollTop + grid.clientHeight + 300;
  const focused = grid.contains(document.activeElement);
  if (again) {
    drawn.clear();
    const spacer = element("div", { class: "spacer", role: "presentation" });
    spacer.style.height = total + "px";
    grid.replaceChildren(spacer);
  }
  let first = 0, last = rows.length;
  while (first < last) {
    const middle = (first + last) >> 1;
    if (rows[middle].top + rows[middle].height < from) first = middle + 1;
    else last = middle;
  }
  const wanted = new Set(current !== null && rowOf.has(current) ? [rowOf.get(current)] : []);
  for (let i = first; i < rows.length && rows[i].top < to; i++) wanted.add(i);
  for (const [i, made] of drawn)
    if (!wanted.has(i)) {
      made.remove();
      drawn.delete(i);
    }
  for (const i of [...wanted].sort((a, b) => a - b))
    if (!drawn.has(i)) {
      const made = makeRow(rows[i], i);
      let after = null;
      for (const [j, other] of drawn) if (j > i && (after === null || j < after[0])) after = [j, other];
      grid.insertBefore(made, after === null ? null : after[1]);
      drawn.set(i, made);
    }
  if (again && focused) focusSlice();
}

const tileOf = (slice) => $("grid").querySelector(`[data-slice="${slice.index}"]`);

function focusSlice() {
  if (current === null || !rowOf.has(current)) return;
  const grid = $("grid"), row = rows[rowOf.get(current)];
  if (row.top < grid.scrollTop + HEADING) grid.scrollTop = row.top - HEADING;
  else if (row.top + row.height > grid.scrollTop + grid.clientHeight) grid.scrollTop = row.top + row.height - grid.clientHeight + 4;
  draw(false);
  tileOf(current).focus({ preventScroll: true });
}

function choose(slice) {
  const before = current === null ? null : tileOf(current);
  if (before !== null) before.tabIndex = -1;
  current = slice;
  draw(false);
  tileOf(slice).tabIndex = 0;
  focusSlice();
}

// The slice in the next row, a row of slices, that is nearest to the present one.
function below(by) {
  let index = rowOf.get(current);
  const left = rows[index].cells.find(([slice]) => slice === current)[1];
  for (let steps = Math.abs(by); steps > 0;) {
    const next = index + Math.sign(by);
    if (next < 0 || next >= rows.length) break;
    index = next;
    if (rows[index].cells !== undefined) steps--;
  }
  if (rows[index].cells === undefined) return current;
  return rows[index].cells.reduce((best, cell) => Math.abs(cell[1] - left) < Math.abs(best[1] - left) ? cell : best)[0];
}

$("grid").addEventListener("keydown", (event) => {
  if (current === null || event.ctrlKey || event.altKey || event.metaKey) return;
  const order = visible, at = order.indexOf(current), page = 10;
  const moves = {
    ArrowRight: () => order[Math.min(at + 1, order.length - 1)], ArrowLeft: () => order[Math.max(at - 1, 0)],
    ArrowDown: () => below(1), ArrowUp: () => below(-1), PageDown: () => below(page), PageUp: () => below(-page),
    Home: () => order[0], End: () => order[order.length - 1],
  };
  if (event.key === "Enter" || event.key === " ") open(current);
  else if (moves[event.key] !== undefined) choose(moves[event.key]());
  else return;
  event.preventDefault();
});
$("grid").addEventListener("click", (event) => {
  const tile = event.target.closest(".slice");
  if (tile === null) return;
  choose(slices[Number(tile.dataset.slice)]);
  open(current);
});
$("grid").addEventListener("scroll", () => draw(false), { passive: true });
window.addEventListener("resize", fit);

function changeZoom(by) {
  const at = zoom === null ? SIZES.indexOf(size) : zoom;
  zoom = Math.max(0, Math.min(SIZES.length - 1, at + by));
  fit();
}
$("larger").addEventListener("click", () => changeZoom(-1));
$("smaller").addEventListener("click", () => changeZoom(1));

// --- the filter ---

function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  visible = words.length === 0 ? slices : slices.filter((slice) => words.every((word) => slice.text.includes(word)));
  if (current === null || !visible.includes(current)) current = visible[0] || null;
  $("count").textContent = `${number(visible.length)} of ${number(slices.length)} slices`;
  $("grid").scrollTop = 0;
  fit();
  fillSlices();
}
$("filter").addEventListener("input", filter);
$("filter").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || $("filter").value === "") return;
  $("filter").value = "";
  filter();
  event.preventDefault();
});

// --- the other parts ---

const byFullName = new Map(slices.map((slice) => [slice.pool.name + "/" + slice.name, slice]));
const problemsByName = new Map();
for (const row of status.problems)
  if (row.kind === "slice") problemsByName.set(row.full_name, [...(problemsByName.get(row.full_name) || []), row.problem]);

function problemsOf(slice) {
  return problemsByName.get(slice.pool.name + "/" + slice.name) || [];
}

function fillProblems() {
  const list = element("ul", { class: "problems" }), more = element("button", { type: "button", class: "more" });
  let shown = 0;
  if (status.problems.length === 0) return $("problems").replaceChildren(element("p", { class: "note" }, "None."));
  const add = () => {
    for (const row of status.problems.slice(shown, shown + CHUNK)) {
      const slice = row.kind === "slice" ? byFullName.get(row.full_name) : undefined;
      list.append(element("li", {}, slice === undefined ? element("b", {}, row.name) : link(row.name, slice), " " + row.problem));
    }
    shown = Math.min(shown + CHUNK, status.problems.length);
    more.textContent = `Show more (${number(status.problems.length - shown)} left)`;
    more.hidden = shown === status.problems.length;
  };
  more.addEventListener("click", add);
  add();
  $("problems").replaceChildren(list, more);
}

function fillSlices() {
  fillTable($("slices"), `${number(visible.length)} slices of the map`, [[(slice) => link(slice.name, slice), "Slice"],
    [(slice) => slice.pool.name, "Pool"], [(slice) => slice.kind.name, "Shape"], [(slice) => LOOKS[slice.look], "State"],
    [(slice) => slice.hosts.length, "Hosts", "n"], [(slice) => slice.users.join(", ") || "-", "Groups"],
    [(slice) => problemsOf(slice).join("; ") || "-", "Problem"]], visible, 25);
}

function fillHeader() {
  const counts = status.slices, nodes = status.sources.reduce((sum, row) => sum + row.n_nodes, 0);
  const figures = [["slices", counts.total], ["nodes", nodes], ["free", counts.free], ["held", counts.held],
    ["draining", counts.draining, "warn"], ["degraded", counts.degraded, "bad"], ["groups", status.groups.length],
    ["problems", status.problems.length, "bad"]];
  $("title").textContent = document.title;
  $("moment").textContent = `${document.body.dataset.time.replace("T", " ").slice(0, 19)} UTC, journal entry ${status.seq}`;
  for (const [name, count, style] of figures)
    $("figures").append(element("div", { class: count > 0 ? style : null }, element("dt", {}, count === 1 ? name.replace(/s$/, "") : name),
      element("dd", {}, number(count))));
}

function fillLegend() {
  const kind = { width: 1, height: 1, at: [[0, 0]] };
  for (const [symbol, text] of [[".", "free"], ["A", "used (colour: group)"], ["a", "partly used"], ["+", "external use"],
    ["~", "draining"], ["#", "dead"], ["?", "missing"]])
    $("legend").append(element("li", {}, drawHosts({ kind, hosts: symbol, users: [""] }, 13), text));
}

// --- the past ---

const time = (text) => Date.parse(text);

// Evenly spaced labels of a range of time.
function timeLabels(from, to, n) {
  return Array.from({ length: n + 1 }, (_, i) => {
    const at = new Date(from + (to - from) * i / n).toISOString();
    return to - from > 4 * 86400000 ? at.slice(0, 10) : to - from > 120000 ? at.slice(5, 16).replace("T", " ") : at.slice(11, 19);
  });
}

function fillTimeline() {
  const now = time(document.body.dataset.time);
  const bars = status.groups.map((row) => ({ group: row.group, state: row.state, from: time(row.begins || row.since), to: row.begins ? time(row.until || row.begins) : now,
    text: `${row.state}, since ${row.since}` + (row.until ? `, until ${row.until}` : "") }))
    .concat(history_.ended.map((row) => ({ group: row.group, state: "ended", from: time(row.since), to: time(row.ended),
      text: `from ${row.since} to ${row.ended}` + (row.reason ? `, ${row.reason}` : "") })))
    .filter((bar) => Number.isFinite(bar.from) && Number.isFinite(bar.to)).sort((a, b) => b.to - a.to || b.from - a.from);
  const events = (history_.events || []).slice().reverse();
  const holder = $("timeline");
  if (bars.length === 0 && events.length === 0)
    return holder.replaceChildren(element("p", { class: "note" }, "No group and no change of a node is recorded."));
  const times = [...bars.flatMap((bar) => [bar.from, bar.to]), ...events.map((row) => time(row.time))];
  const least = times.reduce((a, b) => Math.min(a, b)), greatest = times.reduce((a, b) => Math.max(a, b));
  const from = least, to = Math.max(greatest, least + 1000);
  const chart = element("div"), more = element("button", { type: "button", class: "more" });
  let lanes = 24;
  const render = () => {
    const width = Math.max(260, holder.clientWidth), left = width < 500 ? 90 : 130, right = width - 12, lane = 16, top = 20 + (events.length > 0 ? 18 : 0);
    const shown = bars.slice(0, lanes), height = top + shown.length * lane + 4;
    const x = (at) => left + (at - from) / (to - from) * (right - left);
    const svg = drawing("svg", { width, height, role: "img", "aria-label": "Groups as bars over time; the table below has the same facts" });
    timeLabels(from, to, 4).forEach((label, i) => {
      const at = left + (right - left) * i / 4;
      svg.append(drawing("path", { class: "axis", d: `M${at} 14V${height}` }),
        drawing("text", { x: at, y: 10, class: "soft" + (i === 4 ? " end" : i === 0 ? " start" : "") }, label));
    });
    if (events.length > 0) svg.append(drawing("text", { x: 0, y: 31, class: "start soft" }, "nodes"));
    for (const row of events) {
      const at = x(time(row.time)), sign = row.dead > 0 ? ["dead", `M${at - 4} 23l8 8m0-8l-8 8`]
        : row.draining > 0 ? ["draining-fill", `M${at - 4} 24h8l-4 7z`] : ["sign", `M${at - 4} 31h8l-4-7z`];
      const mark = drawing("path", { class: sign[0], d: sign[1] });
      mark.append(drawing("title", {}, `${shortTime(row.time)}: ${describeEvent(row)}`));
      svg.append(mark);
    }
    shown.forEach((bar, i) => {
      const y = top + i * lane, begin = x(bar.from), end = Math.max(x(bar.to), begin + 2);
      const box = drawing("path", { class: colourOf(bar.group) + (bar.state === "ahead" ? " ahead" : ""),
        d: `M${begin} ${y + 2}H${end}V${y + lane - 3}H${begin}z`, "fill-opacity": bar.state === "ended" ? 0.35 : 1 });
      box.append(drawing("title", {}, `${bar.group}: ${bar.text}`));
      svg.append(drawing("text", { x: 0, y: y + 11, class: "start" }, bar.group.length > left / 6 ? bar.group.slice(0, Math.floor(left / 6) - 1) + "\u2026" : bar.group), box);
    });
    chart.replaceChildren(svg);
    more.textContent = `Show more (${number(bars.length - shown.length)} left)`;
    more.hidden = bars.length <= lanes;
  };
  more.addEventListener("click", () => { lanes += CHUNK; render(); });
  const asTable = element("details", {}, element("summary", {}, "As tables")), groups = element("div"), nodes = element("div");
  asTable.append(groups, nodes);
  asTable.addEventListener("toggle", () => {
    fillTable(groups, "Groups over time", [["group", "Group"], ["state", "State"], ["text", "Time"]], bars);
    fillTable(nodes, "Changes of nodes", [["seq", "Entry", "n"], [(row) => shortTime(row.time), "Time (UTC)"], [describeEvent, "Nodes"]], history_.events || []);
  }, { once: true });
  const key = element("p", { class: "note" }, events.length > 0 ? "Times are UTC. Pale bars have ended. Nodes: \u00d7 dead, \u25bd draining, \u25b3 alive again." : "Times are UTC. Pale bars have ended.");
  holder.replaceChildren(chart, more, key, asTable);
  render();
  window.addEventListener("resize", render);
}

function describeEvent(row) {
  const parts = [["dead", row.dead], ["draining", row.draining], ["alive", row.alive]].filter(([, n]) => n > 0).map(([word, n]) => `${n} ${word}`);
  const total = row.dead + row.draining + row.alive;
  return parts.join(", ") + ": " + row.nodes.join(", ") + (total > row.nodes.length ? ", \u2026" : "");
}

function fillFragmentation() {
  const holder = $("fragmentation"), samples = history_.samples || [], table = element("div");
  fillTable(table, "Now, by class: 0 is none, 1 means that no part of a slice fits", [[(row) => row.accelerator + " " + row.topology, "Class"],
    ["free_hosts", "Free hosts", "n"], [(row) => range(row.least, row.most), "Fragmentation", "n"]], fragmentation.classes);
  const series = new Map();
  for (const row of samples) {
    const name = row.accelerator + " " + row.topology;
    series.set(name, [...(series.get(name) || []), row]);
  }
  const seqs = samples.map((row) => row.seq), from = Math.min(...seqs), to = Math.max(...seqs);
  if (samples.length === 0 || from === to)
    return holder.replaceChildren(table, element("p", { class: "note" }, history_.samples === undefined ? "Only a ledger has a past." : "The journal has no other value."));
  const width = 374, left = 26, right = width - 8, top = 10, bottom = 130;
  const x = (seq) => left + (seq - from) / (to - from) * (right - left), y = (value) => bottom - value * (bottom - top);
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${bottom + 18}`, role: "img", "aria-label": "Fragmentation of each class over the entries of the journal; the table below has the same facts" });
  for (const value of [0, 0.5, 1])
    svg.append(drawing("path", { class: "axis", d: `M${left} ${y(value)}H${right}` }), drawing("text", { x: left - 4, y: y(value) + 3, class: "end soft" }, value));
  svg.append(drawing("text", { x: left, y: bottom + 14, class: "start soft" }, "entry " + from), drawing("text", { x: right, y: bottom + 14, class: "end soft" }, "entry " + to));
  const legend = element("ul", { class: "note" }), dashes = ["", "6 3", "2 2", "8 2 2 2"];
  [...series].slice(0, 8).forEach(([name, points], i) => {
    const style = { class: "line part g" + i, "stroke-dasharray": dashes[i % 4] };
    const path = points.map((row, n) => (n === 0 ? "M" + x(row.seq) + " " : "H" + x(row.seq) + "V") + y(Number(row.most))).join("");
    const line = drawing("path", { ...style, d: path });
    line.append(drawing("title", {}, name));
    svg.append(line);
    const sample = drawing("svg", { width: 26, height: 8, "aria-hidden": "true" });
    sample.append(drawing("path", { ...style, d: "M0 4H26" }));
    legend.append(element("li", {}, sample, name));
  });
  const asTable = element("details", {}, element("summary", {}, "As a table")), past = element("div");
  asTable.append(past);
  asTable.addEventListener("toggle", () => fillTable(past, "Fragmentation over time", [["seq", "Entry", "n"], [(row) => shortTime(row.time), "Time (UTC)"],
    [(row) => row.accelerator + " " + row.topology, "Class"], [(row) => range(row.least, row.most), "Fragmentation", "n"]], samples), { once: true });
  legend.id = "lines";
  holder.replaceChildren(svg, legend, asTable, table);
}

const range = (least, most) => least === null ? null : least === most ? least : `${least}..${most}`;

// --- the theme ---

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
function showTheme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen === undefined ? prefersDark.matches : chosen === "dark";
  $("theme").setAttribute("aria-pressed", String(isDark));
  return isDark;
}
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = showTheme() ? "light" : "dark";
  showTheme();
});
prefersDark.addEventListener("change", showTheme);

fillHeader();
fillLegend();
fillProblems();
fillTable($("groups"), "Groups that are not removed", [["group", "Group"], ["state", "State"], ["n_slices", "Slices", "n"], ["request", "Request"]], status.groups);
fillTable($("slots"), "Slices of each class", [[(row) => row.accelerator + " " + row.topology, "Class"], ["slices", "Slices", "n"],
  ["held", "Held", "n"], ["degraded", "Degraded", "n"], ["fit_now", "Fit now", "n"]], slots.classes);
fillTimeline();
fillFragmentation();
showTheme();
filter();
