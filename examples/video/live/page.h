#pragma once

namespace video {

inline constexpr char kPage[] = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Terrane video</title><link rel="icon" href="data:,">
<style>
body { font: 15px sans-serif; margin: 2em; background: #fafafa; color: #222; }
img { width: 100%; max-width: 960px; background: #000; display: block; }
table { border-collapse: collapse; margin-top: 1em; }
th, td { padding: .3em 1em; text-align: right; border-bottom: 1px solid #ddd; }
.bar { display: inline-block; height: .8em; background: #1f77b4; vertical-align: middle; }
.ideal { background: #ffbb78; }
</style></head><body>
<h1>Edges of each picture, by shared memory</h1>
<img id="picture" alt="the newest picture">
<p>Frame <b id="written">0</b>, <span id="rate">0</span> a second, <span id="size"></span> pixels.
In flight: <b id="flight">0</b> MB. Latency: <b id="latency">0</b> ms.</p>
<table><thead><tr><th>node</th><th>frames</th><th>ideal</th><th style="text-align:left">frames / ideal</th></tr></thead>
<tbody id="workers"></tbody></table>
<p id="end"></p>
<script>
let before = null, then = 0;
const show = (id, text) => { document.getElementById(id).textContent = text; };
async function look() {
  let state;
  try {
    state = await (await fetch("/state")).json();
  } catch (error) {
    show("end", "The run has ended.");
    return;
  }
  const now = performance.now();
  if (before !== null) show("rate", ((state.written - before) * 1000 / (now - then)).toFixed(1));
  before = state.written;
  then = now;
  show("written", state.written);
  show("size", state.width + " x " + state.height);
  show("flight", (state.bytes_in_flight / 1e6).toFixed(1));
  show("latency", state.latency_ms.toFixed(1));
  const most = Math.max(1, ...state.workers.map(worker => Math.max(worker.done, worker.ideal)));
  document.getElementById("workers").innerHTML = state.workers.map(worker =>
    `<tr><td>${worker.node}</td><td>${worker.done}</td><td>${worker.ideal.toFixed(0)}</td><td style="text-align:left">
     <span class="bar" style="width:${200 * worker.done / most}px"></span><br>
     <span class="bar ideal" style="width:${200 * worker.ideal / most}px"></span></td></tr>`).join("");
  setTimeout(look, 500);
}
// The stream never ends: it begins when the page has loaded.
addEventListener("load", () => {
  document.getElementById("picture").src = "/stream";
  look();
});
</script></body></html>
)page";

}  // namespace video
