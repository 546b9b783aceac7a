// What all charts share: colours of the theme, axes with units, one echarts instance per place.
"use strict";

// Okabe and Ito's colours, safe for the colour-blind; yellow is darkened to stand on white.
const BOUND_COLOUR = {
    compute: "#0072b2",
    vector: "#56b4e9",
    memory: "#e69f00",
    pe_link: "#009e73",
    d2d_link: "#c9b800",
    c2c_link: "#d55e00",
    latency: "#cc79a7",
    overhead: "#8a8f98",
};
const SERIES_COLOUR = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

const instances = new Map(); // element -> echarts instance

function css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function is_dark() {
    return css("--dark") === "1";
}

// Viridis at 0..1, without the end that would vanish in the page's background.
function viridis(share) {
    const place = (is_dark() ? 0.18 + 0.82 * share : 0.92 * share) * (VIRIDIS.length - 1);
    const i = Math.min(VIRIDIS.length - 2, Math.max(0, Math.floor(place))),
        rest = place - i;
    const mix = at =>
        Math.round(
            parseInt(VIRIDIS[i].slice(at, at + 2), 16) * (1 - rest) + parseInt(VIRIDIS[i + 1].slice(at, at + 2), 16) * rest
        );
    return `rgb(${mix(1)},${mix(3)},${mix(5)})`;
}

function range_of(columns) {
    let low = Infinity,
        high = -Infinity;
    for (const values of columns)
        for (const value of values) {
            if (value < low) low = value;
            if (value > high) high = value;
        }
    return {low, high};
}

function text_style() {
    return {color: css("--muted"), fontFamily: css("--sans"), fontSize: 11};
}

// Large plain numbers of an axis: 30k, 2M.
function tick_text(value) {
    const size = Math.abs(value);
    return size >= 1e6 ? `${number(value / 1e6, 3)}M` : size >= 1e4 ? `${number(value / 1e3, 3)}k` : number(value, 4);
}

// Round values on a logarithmic axis: decades where it spans many, 1-2-5 where few, equal steps where hardly one.
function log_ticks(low, high) {
    const decades = Math.log10(high / low),
        ticks = [];
    const heads = decades > 3 ? [1] : decades > 1.1 ? [1, 2, 5] : decades > 0.55 ? [1, 1.5, 2, 3, 4, 5, 7] : null;
    if (!heads) {
        const raw = (high - low) / 5,
            size = Math.pow(10, Math.floor(Math.log10(raw))),
            step = [1, 2, 2.5, 5, 10].find(head => head * size >= raw) * size;
        for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(Number(tick.toPrecision(6)));
        return ticks;
    }
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
        for (const head of heads) ticks.push(Number((head * Math.pow(10, power)).toPrecision(6)));
    return ticks.filter(tick => tick >= low && tick <= high);
}

// An axis in the unit that suits its range; `factor` takes base units to it.
function axis_for(name, units, columns, {log = true, gap = 30} = {}) {
    const {low, high} = range_of(columns),
        [factor, unit] = scaled(Math.sqrt(Math.max(low, 1e-300) * high) || high, units);
    const option = {
        type: "value",
        name: unit ? `${name} [${unit}]` : name,
        nameLocation: "middle",
        nameGap: gap,
        nameTextStyle: {...text_style(), color: css("--ink")},
        scale: true,
        axisLabel: {...text_style(), formatter: tick_text, hideOverlap: true, showMinLabel: true, showMaxLabel: true},
        axisLine: {show: true, onZero: false, lineStyle: {color: css("--line")}},
        axisTick: {lineStyle: {color: css("--line")}},
        splitLine: {lineStyle: {color: css("--grid")}},
    };
    if (log && low > 0) {
        const margin = Math.max(1.02, Math.pow(high / low, 0.03)),
            min = (low * factor) / margin,
            max = high * factor * margin,
            customValues = log_ticks(min, max);
        Object.assign(option, {type: "log", min, max});
        Object.assign(option.axisLabel, {customValues});
        Object.assign(option.axisTick, {customValues});
    }
    return {factor, unit, option};
}

function tooltip_style() {
    return {
        backgroundColor: css("--panel"),
        borderColor: css("--line"),
        confine: true,
        textStyle: {color: css("--ink"), fontFamily: css("--sans"), fontSize: 12},
        extraCssText: "max-width:22rem;white-space:normal",
    };
}

// Draw an option in the element of this id when it comes near the view; what was there goes.  `click(parameters)` is called
// for what is clicked.
function draw(id, option, click) {
    const element = document.getElementById(id);
    pending.set(element, () => draw_now(element, option, click));
    near.unobserve(element);
    near.observe(element);
}

function draw_now(element, option, click) {
    let chart = instances.get(element);
    if (!chart) {
        chart = echarts.init(element, null, {renderer: "canvas", devicePixelRatio: Math.max(window.devicePixelRatio, 1.5)});
        instances.set(element, chart);
        sized.observe(element);
    }
    chart.off("click");
    if (click) chart.on("click", click);
    chart.setOption(
        {animation: false, aria: {enabled: true}, textStyle: {fontFamily: css("--sans")}, ...option},
        {notMerge: true}
    );
}

function draw_pending(element) {
    const now = pending.get(element);
    pending.delete(element);
    near.unobserve(element);
    if (now) now();
}

// Everything at once, as paper shows it.
function draw_all_pending() {
    for (const element of [...pending.keys()]) if (element.clientWidth > 0) draw_pending(element);
}

const pending = new Map(); // element -> what draws it
const near = new IntersectionObserver(
    entries => entries.filter(entry => entry.isIntersecting).forEach(entry => draw_pending(entry.target)),
    {rootMargin: "300px"}
);
const sized = new ResizeObserver(entries => {
    for (const entry of entries) {
        const chart = instances.get(entry.target),
            {width, height} = entry.contentRect;
        if (chart && width > 0 && (chart.getWidth() !== Math.round(width) || chart.getHeight() !== Math.round(height)))
            chart.resize();
    }
});

// Rows of small coloured keys under a title.
function legend(id, entries) {
    document.getElementById(id).innerHTML = entries
        .map(
            ({colour, text, shape}) =>
                `<span class="key"><i class="${shape || "dot"}" style="--colour:${colour}"></i>${text}</span>`
        )
        .join("");
}
