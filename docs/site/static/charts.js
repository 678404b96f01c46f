// A chart is drawn when it is first opened. The first one of a page loads Plotly. Scripts, unlike data, may be loaded
// from a disk, too.
const place = document.currentScript.src;
const charts = {}; // the scripts of the charts put theirs here: name → data and layout

function load(file) {
  return new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = new URL(file, place);
    script.onload = loaded;
    script.onerror = () => failed(new Error(`${script.src} cannot be loaded`));
    document.head.append(script);
  });
}

// In a narrow window the panels stand below each other, each as wide as the window. Sizes are in pixels.
const NARROW = 600;
const ROOM = { left: 62, right: 14, top: 26, bottom: 50 };

function stacked(data, layout, width) {
  const panels = Object.keys(layout)
    .filter((key) => key.startsWith("xaxis"))
    .map((key) => ({ x: layout[key], y: layout[key.replace("x", "y")] }))
    .map((axes) => ({ ...axes, from: { x: [...axes.x.domain], y: [...axes.y.domain] } }));
  const within = (one, other) =>
    "xy".split("").every((at) => other.from[at][0] <= one.from[at][0] && one.from[at][1] <= other.from[at][1]);
  const outer = panels.filter((one) => !panels.some((other) => other !== one && within(one, other)));
  outer.sort((one, other) => other.from.y[1] - one.from.y[1] || one.from.x[0] - other.from.x[0]);

  const bars = data.filter((trace) => trace.colorbar);
  const right = ROOM.right + 60 * Boolean(bars.length);
  const own = 0.9 * (width - ROOM.left - right);
  const step = ROOM.top + own + ROOM.bottom;
  const height = step * outer.length;
  outer.forEach((panel, number) => {
    const top = step * number + ROOM.top;
    panel.to = { x: [ROOM.left / width, 1 - right / width], y: [1 - (top + own) / height, 1 - top / height] };
    // Panels side by side may have one label for all.
    for (const at of ["x", "y"]) {
      const named = outer.find((one) => Math.abs(one.from[at][0] - panel.from[at][0]) < 1e-3 && one[at].title.text);
      panel[at].title.text ||= named?.[at].title.text ?? "";
    }
  });

  const moved = (panel, at, value) => {
    const [from, to] = [panel.from[at], panel.to[at]];
    return to[0] + ((value - from[0]) * (to[1] - to[0])) / (from[1] - from[0]);
  };
  const outside = (panel, at, value) => Math.max(panel.from[at][0] - value, 0, value - panel.from[at][1]);
  const nearest = (x, y) =>
    outer.reduce((best, one) =>
      Math.hypot(outside(one, "x", x), outside(one, "y", y)) < Math.hypot(outside(best, "x", x), outside(best, "y", y))
        ? one : best);
  for (const panel of panels) {
    const home = outer.find((one) => one === panel || within(panel, one));
    if (home !== panel) panel.x.title.standoff = panel.y.title.standoff = 2;
    const inside = (at) => (value) => Math.min(1, Math.max(0, moved(home, at, value)));
    for (const at of ["x", "y"]) panel[at].domain = panel.from[at].map(inside(at));
  }
  for (const note of layout.annotations.filter((one) => one.xref === "paper")) {
    const panel = nearest(note.x, note.y - 1e-6);
    [note.x, note.y] = [moved(panel, "x", note.x), moved(panel, "y", note.y)];
  }
  for (const { colorbar } of bars) {
    const panel = nearest(colorbar.x, colorbar.y);
    colorbar.len *= (panel.to.y[1] - panel.to.y[0]) / (panel.from.y[1] - panel.from.y[0]);
    [colorbar.x, colorbar.y] = [moved(panel, "x", colorbar.x), moved(panel, "y", colorbar.y)];
  }
  const words = data.filter((trace) => trace.showlegend).map((trace) => trace.name.replace(/<[^>]*>/g, "").length);
  const lines = Math.ceil(words.reduce((sum, length) => sum + 60 + 7 * length, 0) / (0.7 * width));
  layout.height = height + 22 * lines;
  layout.margin.b = 22 * lines;
}

// A note of the picture that lies over other text of the chart is moved up or down, away from it.
const GAP = 2;

async function apart(shown) {
  const boxes = (selector) => [...shown.querySelectorAll(selector)].map((node) => node.getBoundingClientRect());
  const others = boxes(".xaxislayer-above text, .yaxislayer-above text, .infolayer [class$=title] text");
  const moves = {};
  shown.querySelectorAll(".annotation").forEach((note) => {
    const one = note.querySelector("text").getBoundingClientRect();
    const over = others.filter((other) =>
      one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom);
    for (const other of over) {
      const below = one.top + one.bottom > other.top + other.bottom;
      const shift = below ? other.bottom - one.top + GAP : other.top - one.bottom - GAP;
      const { yshift = 0 } = shown.layout.annotations[note.dataset.index];
      moves[`annotations[${note.dataset.index}].yshift`] = yshift - shift;
    }
  });
  if (Object.keys(moves).length) await Plotly.relayout(shown, moves);
}

let plotly;
async function draw(details) {
  const name = details.dataset.chart;
  plotly ??= load("plotly.min.js");
  await Promise.all([plotly, load(`charts/${name}.js`)]);
  const { data, layout } = charts[name];
  const shown = details.querySelector("div");
  if (shown.clientWidth < NARROW) stacked(data, layout, shown.clientWidth);
  await Plotly.newPlot(shown, data, layout, { responsive: true, displaylogo: false });
  await apart(shown);
  details.dataset.drawn = "";
}

addEventListener("DOMContentLoaded", () => {
  for (const details of document.querySelectorAll("details.chart"))
    details.addEventListener("toggle", () => draw(details), { once: true });
});
