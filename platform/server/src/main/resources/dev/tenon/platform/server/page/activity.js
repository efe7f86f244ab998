// The view of what the server does: figures and plots of the last minutes, made from the status and the metrics.

import { getText } from "./api.js";
import { bytes, duration, el } from "./dom.js";
import { loadStatus, sums } from "./server.js";

const POLL_MILLIS = 2000;
const MOST_POINTS = 300;
const LEAST_SECONDS = 60;
const HEIGHT = 150;
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

const percent = (value) => `${Math.round(value * 100)} %`;
const time = (value) => (value < 0.01 ? `${(value * 1000).toFixed(1)} ms` : value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`);

// Title, lines, how a value is written, and the least upper end of the scale.
const PLOTS = [
  ["Tokens a second", ["generated", "prompt"], (value) => value.toFixed(value < 10 ? 1 : 0), 1],
  ["Sequences", ["running", "waiting"], (value) => String(Math.round(value)), 1],
  ["KV cache", ["in use", "kept for reuse"], percent, 1],
  ["Prompt tokens reused", ["reused"], percent, 1],
  ["Time to first token, mean", ["first token"], time, 0.01],
  ["Time between tokens, mean", ["between tokens"], time, 0.001],
];

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export class ActivityView {
  constructor() {
    this.times = [];
    this.series = PLOTS.map(([, names]) => names.map(() => []));
    this.before = null;
    this.figures = el("dl", { class: "figures-row" });
    this.error = el("p", { class: "error", role: "alert" });
    this.none = PLOTS.map(() => el("p", { class: "hint none" }, "Nothing yet. It fills while this view is open and the server works."));
    this.frames = this.none.map((none) => el("div", { class: "plot" }, none));
    this.element = el(
      "section",
      { class: "page broad", tabIndex: 0, "aria-label": "Activity" },
      el("h1", {}, "Activity"),
      this.figures,
      this.error,
      el("div", { class: "plots" }, PLOTS.map(([title], i) => el("figure", { class: "panel" }, el("figcaption", {}, title), this.frames[i]))),
      el("p", { class: "hint" }, "The last ten minutes while this view is open. All of it, for dashboards: ", el("code", {}, "/metrics"), "."),
    );
  }

  open() {
    this.draw();
    this.observer = new ResizeObserver(() => this.resize());
    this.frames.forEach((frame) => this.observer.observe(frame));
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => this.draw();
    this.scheme.addEventListener("change", this.redraw);
    addEventListener("themechange", this.redraw);
    this.poll();
    this.timer = setInterval(() => document.hidden || this.poll(), POLL_MILLIS);
  }

  close() {
    clearInterval(this.timer);
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.redraw);
    removeEventListener("themechange", this.redraw);
    this.plots.forEach((plot) => plot.destroy());
  }

  async poll() {
    try {
      const status = await loadStatus();
      const metrics = sums(await getText("/metrics"), status.metrics_prefix);
      this.add(status, metrics);
      this.error.textContent = "";
    } catch (error) {
      this.error.textContent = error.message;
    }
  }

  add(status, metrics) {
    const now = performance.now() / 1000;
    const before = this.before || { now, metrics };
    this.before = { now, metrics };
    const grown = (name) => Math.max(0, (metrics[name] || 0) - (before.metrics[name] || 0));
    const rate = (name) => (now > before.now ? grown(name) / (now - before.now) : 0);
    const mean = (name) => (grown(`${name}_count`) ? grown(`${name}_sum`) / grown(`${name}_count`) : null);
    const total = (value) => status.models.reduce((sum, model) => sum + (value(model) || 0), 0);
    const pages = total((model) => model.cache?.pages);
    const used = pages ? total((model) => model.cache && model.cache.pages - model.cache.free_pages) / pages : 0;
    const kept = pages ? total((model) => model.cache?.kept_pages) / pages : 0;
    const queries = grown("prefix_cache_queries_total");
    const hits = metrics.prefix_cache_queries_total ? metrics.prefix_cache_hits_total / metrics.prefix_cache_queries_total : 0;
    const running = total((model) => model.running);
    const waiting = total((model) => model.waiting);
    const values = [
      [rate("generation_tokens_total"), rate("prompt_tokens_total")],
      [running, waiting],
      [used, kept],
      [queries ? grown("prefix_cache_hits_total") / queries : null],
      [mean("time_to_first_token_seconds")],
      [mean("inter_token_latency_seconds")],
    ];
    this.times.push(Date.now() / 1000);
    values.forEach((each, plot) => each.forEach((value, line) => this.series[plot][line].push(value)));
    if (this.times.length > MOST_POINTS) {
      this.times.shift();
      this.series.flat().forEach((line) => line.shift());
    }
    this.plots.forEach((plot, i) => {
      plot.setData([this.times, ...this.series[i]]);
      this.none[i].hidden = this.series[i].some((line) => line.some((value) => value > 0));
    });
    const figures = [
      ["Running", running],
      ["Waiting", waiting],
      ["Generated", `${values[0][0].toFixed(1)} tok/s`],
      ["Cache in use", percent(used)],
      ["Prompt tokens reused", percent(hits)],
      ["Requests served", Math.round(metrics.request_success_total || 0).toLocaleString()],
      ["Heap", `${bytes(status.heap.used_bytes)} of ${bytes(status.heap.max_bytes)}`],
      ["Up", duration(status.uptime_seconds)],
    ];
    this.figures.replaceChildren(...figures.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));
  }

  draw() {
    this.plots?.forEach((plot) => plot.destroy());
    // As the theme has them now: a canvas knows no light-dark().
    const colour = (name) => {
      this.element.style.outlineColor = `var(${name})`;
      return getComputedStyle(this.element).outlineColor;
    };
    const lines = [colour("--accent"), colour("--second")];
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    this.plots = PLOTS.map(
      ([, names, text, least], i) =>
        new uPlot(
          {
            width: this.frames[i].clientWidth || 300,
            height: HEIGHT,
            cursor: { y: false, points: { size: 6 } },
            scales: { x: { range: (plot, low, high) => [Math.min(low, high - LEAST_SECONDS), high] }, y: { range: (plot, low, high) => [0, Math.max(high || 0, least) * 1.1] } },
            axes: [
              { ...axis, size: 26, space: 90, incrs: [15, 30, 60, 120, 300], values: (plot, ticks) => ticks.map(clock) },
              { ...axis, size: 52, space: 26, ...(i === 1 && { incrs: WHOLE }), values: (plot, ticks) => ticks.map(text) },
            ],
            series: [{ value: (plot, time) => (time === null ? "–" : clock(time)) }].concat(
              names.map((name, line) => ({
                label: name,
                stroke: lines[line],
                width: 1.5,
                spanGaps: true,
                points: { show: false },
                value: (plot, value) => (value === null ? "–" : text(value)),
              })),
            ),
          },
          [this.times, ...this.series[i]],
          this.frames[i],
        ),
    );
  }

  resize() {
    this.plots.forEach((plot, i) => {
      const width = this.frames[i].clientWidth;
      if (width && width !== plot.width) {
        plot.setSize({ width, height: HEIGHT });
      }
    });
  }
}
