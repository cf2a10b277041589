// Draws the charts that stand in the page as JSON. Nothing is fetched: the policy in the head of
// the page forbids it, too.
(function () {
  "use strict";
  const charts = new Map(JSON.parse(document.getElementById("charts").textContent).map((chart) => [chart.id, chart]));
  const hovers = JSON.parse(document.getElementById("hovers").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // A4 less its margins: portrait for the answer, landscape for what is open, and half of that for charts in pairs.
  const PRINT_ANSWER_PX = 700;
  const PRINT_ANSWER_HALF_PX = 340;
  const PRINT_ANSWER_HEIGHT_PX = 400;
  const PRINT_WIDTH_PX = 1020;
  const PRINT_HALF_PX = 500;
  // A higher chart would leave no room for what stands around it.
  const PRINT_HEIGHT_PX = 560;
  // A narrower chart has the names of its rows on two lines.
  const NARROW_PX = 720;
  const ROW_PX = 30;

  // The library stands packed at the end of the page and is unpacked once, as soon as a chart is to be drawn.
  async function load() {
    const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (digit) => digit.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
    performance.mark("library");
  }

  function template(onDark) {
    const ink = onDark ? "#e6e9ed" : "#1b1f24";
    const grid = onDark ? "#303842" : "#e3e7eb";
    const axis = {
      gridcolor: grid, zerolinecolor: grid, linecolor: onDark ? "#6b7683" : "#8c959f", tickcolor: grid,
      automargin: true, title: { standoff: 10, font: { size: 13 } }, exponentformat: "none", separatethousands: true,
    };
    return {
      data: { bar: [{ marker: { pattern: { fillmode: "overlay", size: 7, solidity: 0.2 } } }] },
      layout: {
        font: { family: "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif", size: 13, color: ink },
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
        margin: { l: 10, r: 24, t: 14, b: 44 }, bargap: 0.3, showlegend: false,
        xaxis: axis, yaxis: axis,
        hoverlabel: { align: "left", bgcolor: onDark ? "#181f27" : "#ffffff", bordercolor: grid, font: { color: ink, size: 12.5 } },
        modebar: { bgcolor: "rgba(0,0,0,0)", color: onDark ? "#6b7683" : "#8c959f", activecolor: ink },
      },
    };
  }

  // Shades that are too dark on a dark page, and what takes their place.
  const ON_DARK = {
    "#00395A": "#C6E2F5", "#7A3600": "#FBD9C0", "#00513B": "#CDEDE4", "#3F3A7A": "#DAD8F0",
    "#5E420F": "#EBDDC0", "#7D3E60": "#F2DCE8", "#8A5F00": "#FAE8C0",
  };
  const shade = (colour, onDark) => (onDark && ON_DARK[colour]) || colour;

  // Ink-coloured parts of a chart are written as "ink" in its JSON.
  function inked(value, colour, onDark) {
    if (value === "ink") return colour;
    if (typeof value === "string") return shade(value, onDark);
    if (Array.isArray(value)) return value.map((item) => inked(item, colour, onDark));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inked(item, colour, onDark)]));
    }
    return value;
  }

  // The legend has the colours of the chart.
  function shadeLegend(id, onDark) {
    document.querySelectorAll(`button[data-chart="${id}"] svg [stroke], button[data-chart="${id}"] svg [fill]`).forEach((part) => {
      const name = part.hasAttribute("stroke") ? "stroke" : "fill";
      part.dataset.colour = part.dataset.colour || part.getAttribute(name);
      part.setAttribute(name, shade(part.dataset.colour, onDark));
    });
  }

  // What is told of each point, and of its figure, whose conditions stand in the page once.
  function told(trace) {
    if (!trace.words) return trace;
    const { figures, words, ...rest } = trace;
    rest.hovertext = words.map((word, index) => figures ? word + "<br>" + (hovers[figures[index]] || "") : word);
    rest.hovertemplate = "%{hovertext}<extra></extra>";
    return rest;
  }

  // A name of a row on two lines, parted where both are about as long.
  function parted(name) {
    const places = Array.from(name.matchAll(/ · |  (?=<b>)/g));
    if (!places.length) return name;
    const uneven = (place) => Math.abs(name.length / 2 - place.index);
    const best = places.reduce((one, other) => (uneven(other) <= uneven(one) ? other : one));
    return name.slice(0, best.index) + "<br>" + name.slice(best.index + best[0].length);
  }

  function show(div, onDark, width) {
    const chart = charts.get(div.id);
    const colours = template(onDark);
    const ink = colours.layout.font.color;
    const layout = Object.assign({}, inked(chart.layout, ink, onDark), { template: colours });
    layout.height = div.clientHeight;
    if (width) layout.width = width; else layout.autosize = true;
    const rows = layout.yaxis && layout.yaxis.type === "category" && layout.yaxis.ticktext;
    // Two lines where rows are high enough for them, smaller ones where not even one fits.
    const high = rows && layout.height / rows.length;
    if (rows && high < ROW_PX) layout.yaxis = Object.assign({}, layout.yaxis, { tickfont: { size: Math.max(6, Math.min(11, high * 0.7)) } });
    else if (rows && (width || div.clientWidth) < NARROW_PX) layout.yaxis = Object.assign({}, layout.yaxis, { ticktext: rows.map(parted) });
    // Without a pointer that can hover the buttons would stand over the chart all the time.
    const hovers = window.matchMedia("(hover: hover)").matches;
    const config = {
      responsive: !width, displaylogo: false, displayModeBar: hovers ? "hover" : false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: div.id },
    };
    shadeLegend(div.id, onDark);
    Plotly.react(div, inked(chart.data.map(told), ink, onDark), layout, config);
    div.dataset.drawn = "yes";
  }

  // What is in a closed part may have a place all the same.
  const visible = (one) => !one.closest("details:not([open])");
  const all = () => Array.from(document.querySelectorAll(".chart"));

  // One chart at a time, so that the page can be read and scrolled meanwhile.
  let library;
  async function drawWaiting() {
    const next = all().find((div) => !div.dataset.drawn && visible(div));
    if (!next) { document.documentElement.dataset.charts = "drawn"; return; }
    document.documentElement.dataset.charts = "drawing";
    try {
      await (library = library || load());
    } catch (error) {
      document.getElementById("undrawn").hidden = false;
      return;
    }
    if (!next.dataset.drawn) show(next, dark.matches);
    performance.mark("chart");
    setTimeout(drawWaiting, 0);
  }

  const parts = () => Array.from(document.querySelectorAll("details"));
  function openAll(open) {
    parts().forEach((part) => { part.open = open; });
  }

  // What is open is printed.
  function print(begin) {
    if (!window.Plotly) return;
    all().filter((div) => (begin ? visible(div) : div.dataset.height)).forEach((div) => {
      if (begin) div.dataset.height = div.style.height;
      const [full, half] = div.closest("main") ? [PRINT_ANSWER_PX, PRINT_ANSWER_HALF_PX] : [PRINT_WIDTH_PX, PRINT_HALF_PX];
      const wide = div.closest("figure.full") ? full : half;
      const most = div.closest("main") ? PRINT_ANSWER_HEIGHT_PX : PRINT_HEIGHT_PX;
      div.style.height = begin ? Math.min(parseFloat(div.dataset.height), most) + "px" : div.dataset.height;
      show(div, !begin && dark.matches, begin ? wide : undefined);
    });
  }

  // A name in a legend hides and shows its series and what belongs to it.
  function toggle(button) {
    const { data } = charts.get(button.dataset.chart);
    const one = data[button.dataset.series];
    const visible = one.visible === false;
    data.filter((other) => other === one || (one.legendgroup && other.legendgroup === one.legendgroup))
      .forEach((other) => { other.visible = visible; });
    button.setAttribute("aria-pressed", String(!visible));
    show(document.getElementById(button.dataset.chart), dark.matches);
  }

  // Tables that are wider than their place say so.
  function hint() {
    Array.from(document.querySelectorAll(".scroll")).filter(visible).forEach((place) => place.classList.toggle("wide", place.scrollWidth > place.clientWidth + 1));
  }
  window.addEventListener("resize", hint);
  parts().forEach((part) => part.addEventListener("toggle", () => { if (part.open) { hint(); drawWaiting(); } }));
  document.querySelectorAll("button[data-open]").forEach((button) =>
    button.addEventListener("click", () => openAll(button.dataset.open === "yes")));
  document.querySelectorAll("button[data-chart]").forEach((button) => button.addEventListener("click", () => toggle(button)));
  dark.addEventListener("change", () => all().filter((div) => div.dataset.drawn).forEach((div) => show(div, dark.matches)));
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  // A link opens all parts that its target is in.
  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id === "all") openAll(true);
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("DOMContentLoaded", () => { follow(); hint(); drawWaiting(); });
})();
