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

let plotly;
async function draw(details) {
  const name = details.dataset.chart;
  plotly ??= load("plotly.min.js");
  await Promise.all([plotly, load(`charts/${name}.js`)]);
  const { data, layout } = charts[name];
  await Plotly.newPlot(details.querySelector("div"), data, layout, { responsive: true, displaylogo: false });
}

addEventListener("DOMContentLoaded", () => {
  for (const details of document.querySelectorAll("details.chart"))
    details.addEventListener("toggle", () => draw(details), { once: true });
});
