// What the chosen row hangs on: doubling of each knob, elasticities, the five curves of parallelism.
"use strict";

// ---- doubling ------------------------------------------------------------------------------------------------------

// One entry per knob, least worth first, as a chart of bars lists them from below.
function doublings(row) {
    const {doubling, column} = state.scenario,
        n = doubling.knobs.length;
    return doubling.knobs
        .map((knob, k) => ({
            knob,
            kept: doubling.kept[row * n + k],
            chosen: doubling.chosen[row * n + k],
            another: doubling.another[row * n + k] === 1,
            values: change(column[knob].values[row], 2 * column[knob].values[row], column[knob].units),
        }))
        .sort((a, b) => Math.max(a.kept, a.chosen || 0) - Math.max(b.kept, b.chosen || 0) || a.kept - b.kept);
}

function draw_doubling() {
    const {doubling} = state.scenario;
    show_panel("panel-doubling", doubling);
    if (!doubling) return;
    const entries = doublings(state.row),
        bar = (name, key, style) => ({
            name,
            type: "bar",
            barMaxWidth: 13,
            barGap: "12%",
            itemStyle: style,
            data: entries.map(entry => entry[key] - 1),
            label: {
                show: true,
                position: "right",
                color: css("--ink"),
                fontSize: 11,
                formatter: ({dataIndex}) => times(entries[dataIndex][key]),
            },
        });
    draw("chart-doubling", {
        grid: {left: 8, right: 48, top: 28, bottom: 24, containLabel: true},
        legend: {top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: text_style()},
        xAxis: {
            type: "value",
            min: 0,
            max: ({max}) => Math.max(0.05, max * 1.1),
            splitNumber: 4,
            splitLine: {lineStyle: {color: css("--grid")}},
            axisLabel: {...text_style(), formatter: value => times(1 + value), hideOverlap: true},
        },
        yAxis: {
            type: "category",
            axisTick: {show: false},
            axisLine: {lineStyle: {color: css("--line")}},
            data: entries.map(entry => `{a|${title(entry.knob)}}\n{b|${entry.values}}`),
            axisLabel: {
                rich: {
                    a: {color: css("--ink"), fontSize: 12, align: "right", lineHeight: 15},
                    b: {color: css("--muted"), fontSize: 10.5, align: "right", lineHeight: 13},
                },
            },
        },
        tooltip: {
            trigger: "axis",
            axisPointer: {type: "shadow"},
            ...tooltip_style(),
            formatter: ([{dataIndex}]) => {
                const entry = entries[dataIndex];
                return (
                    `<b>${title(entry.knob)}</b> ${entry.values}<br>plan kept: ${times(entry.kept)} as fast<br>` +
                    `plan chosen again: ${times(entry.chosen)} as fast, ` +
                    `${entry.another ? "with another plan" : "with the same plan"}`
                );
            },
        },
        series: [bar("plan chosen again", "chosen", {color: "#56b4e9"}), bar("plan kept", "kept", {color: "#0072b2"})],
    });
    const best = entries[entries.length - 1],
        ratio = Math.max(best.kept, best.chosen || 0);
    document.getElementById("say-doubling").textContent =
        ratio > 1.005
            ? `Doubling ${title(best.knob)} (${best.values}) is worth most: ${times(ratio)} as fast.`
            : "Doubling any one of these changes the latency by less than half a per cent.";
}

// What a resource has more of, so that what it binds gets shorter.
const RESOURCE = {
    compute: "more FLOP/s",
    vector: "more vector FLOP/s",
    memory: "more HBM bandwidth",
    pe_link: "more PE link bandwidth",
    d2d_link: "more D2D bandwidth",
    c2c_link: "more C2C bandwidth",
    latency: "shorter hops",
    overhead: "shorter fixed times",
};

// ---- elasticity ----------------------------------------------------------------------------------------------------

function shares(row) {
    const {elasticity} = state.scenario,
        n = elasticity.resources.length;
    return elasticity.resources.map((resource, r) => ({resource, share: elasticity.share[row * n + r]}));
}

// The chosen row's bar above those of the pinned ones.
function draw_elasticity() {
    const {elasticity, rows} = state.scenario;
    show_panel("panel-elasticity", elasticity);
    if (!elasticity) return;
    const bars = [...[...state.pins].filter(row => row !== state.row).reverse(), state.row];
    document.getElementById("chart-elasticity").style.height = `${170 + 34 * (bars.length - 1)}px`;
    const parts = bars.map(shares),
        label = ({value}) => (value >= 0.06 ? per_cent(value) : "");
    draw("chart-elasticity", {
        grid: {left: 8, right: 16, top: 62, bottom: 22, containLabel: true},
        legend: {top: 0, left: 0, itemWidth: 12, itemHeight: 10, itemGap: 8, textStyle: text_style()},
        xAxis: {
            type: "value",
            min: 0,
            max: 1,
            axisLabel: {...text_style(), formatter: value => per_cent(value)},
            splitLine: {lineStyle: {color: css("--grid")}},
        },
        yAxis: {
            type: "category",
            data: bars.map(row => `row ${rows[row]}`),
            axisTick: {show: false},
            axisLabel: {...text_style(), color: css("--ink")},
            axisLine: {lineStyle: {color: css("--line")}},
        },
        tooltip: {
            trigger: "axis",
            axisPointer: {type: "none"},
            ...tooltip_style(),
            formatter: ([{dataIndex}]) =>
                [...parts[dataIndex]]
                    .sort((a, b) => b.share - a.share)
                    .filter(part => part.share > 0)
                    .map(part => `${title(part.resource)} <b>${per_cent(part.share)}</b>`)
                    .join("<br>"),
        },
        series: elasticity.resources.map((resource, r) => ({
            name: title(resource),
            type: "bar",
            stack: "all",
            barMaxWidth: 26,
            data: parts.map(part => part[r].share),
            itemStyle: {color: BOUND_COLOUR[resource]},
            label: {show: true, formatter: label, color: "#fff", fontSize: 11, textBorderColor: "#0008", textBorderWidth: 2},
        })),
    });
    const [first] = shares(state.row).sort((a, b) => b.share - a.share);
    document.getElementById("say-elasticity").textContent =
        `1% ${RESOURCE[first.resource]} takes ${number(first.share, 3)}% off the latency; the shares sum to 1.`;
}

// ---- parallelism ---------------------------------------------------------------------------------------------------

// "2 to 256: ep without experts (129)": neighbouring values that are refused for the same reason.
function refused_runs(curve, reasons) {
    const runs = [];
    curve.values.forEach((value, i) => {
        const last = runs[runs.length - 1];
        if (last && last.reason === reasons[i]) last.to = value;
        else runs.push({reason: reasons[i], from: value, to: value});
    });
    return runs
        .filter(run => run.reason !== 0)
        .map(run => `${run.from}${run.to > run.from ? " to " + run.to : ""}: ${title(curve.reasons[run.reason])}`);
}

function curve_points(curve, row) {
    const n = curve.values.length,
        key = state.curve_metric,
        part = values => values.subarray(row * n, (row + 1) * n);
    return {latency: part(curve.latency), memory: part(curve.memory), drawn: part(curve[key]), reasons: part(curve.reason)};
}

function draw_curve(curve) {
    const {column} = state.scenario,
        points = curve_points(curve, state.row),
        baseline = column[curve.name].values[state.row];
    const memory = state.curve_metric === "memory",
        units = memory ? "bytes" : "s";
    const finite = points.drawn.filter(value => value > 0);
    const up = axis_for(memory ? "memory" : "latency", units, [finite.length ? finite : [1]], {gap: 44}),
        top = up.option;
    const bottom = top.min,
        fits = [],
        crosses = [];
    curve.values.forEach((value, i) => {
        const drawn = points.drawn[i] > 0 ? points.drawn[i] * up.factor : null;
        if (points.reasons[i] === 0) fits.push({value: [value, drawn], i});
        else crosses.push({value: [value, drawn === null ? bottom : drawn], i});
    });
    const line = {
        silent: true,
        symbol: "none",
        lineStyle: {type: "dotted", color: css("--accent"), width: 1.5},
        label: {show: false},
    };
    draw(`chart-curve-${curve.name}`, {
        grid: {left: 62, right: 12, top: 8, bottom: 40},
        xAxis: {
            type: "log",
            logBase: 2,
            min: 1,
            max: Math.max(2, ...curve.values),
            name: title(curve.name),
            nameLocation: "middle",
            nameGap: 24,
            nameTextStyle: {...text_style(), color: css("--ink")},
            axisLabel: {...text_style(), hideOverlap: true},
            axisLine: {onZero: false, lineStyle: {color: css("--line")}},
            splitLine: {lineStyle: {color: css("--grid")}},
        },
        yAxis: top,
        tooltip: {
            trigger: "item",
            ...tooltip_style(),
            formatter: ({data}) =>
                `<b>${title(curve.name)} ${curve.values[data.i]}</b><br>latency ${quantity(points.latency[data.i], "s")}` +
                `<br>` +
                `memory ${quantity(points.memory[data.i], "bytes")}<br>` +
                `${points.reasons[data.i] ? "refused: " + title(curve.reasons[points.reasons[data.i]]) : "fits"}`,
        },
        series: [
            {
                name: "fits",
                type: "line",
                data: fits,
                symbol: "circle",
                symbolSize: 4,
                lineStyle: {width: 1.8},
                itemStyle: {color: "#0072b2"},
                markLine: {
                    ...line,
                    data: [
                        {xAxis: baseline},
                        {yAxis: column[memory ? "total_bytes" : "latency"].values[state.row] * up.factor},
                    ],
                },
            },
            {
                name: "refused",
                type: "scatter",
                data: crosses,
                symbol: "path://M0,0L10,10M10,0L0,10",
                symbolSize: 6,
                itemStyle: {color: "transparent", borderColor: css("--bad"), borderWidth: 1.5},
            },
        ],
    });
    document.getElementById(`say-curve-${curve.name}`).innerHTML = [
        `chosen: ${title(curve.name)} ${baseline}`,
        ...refused_runs(curve, points.reasons).map(run => `<span class="bad">✕</span> ${escape_html(run)}`),
    ].join("<br>");
}

function draw_curves() {
    const {curves} = state.scenario,
        place = document.getElementById("curves");
    show_panel("section-parallelism", curves.length);
    if (place.dataset.knobs !== curves.map(curve => curve.name).join()) {
        place.dataset.knobs = curves.map(curve => curve.name).join();
        place.innerHTML = curves
            .map(
                ({name, meaning}) =>
                    `<figure class="panel"><h3>${title(name)} <small>${escape_html(meaning)}</small></h3>` +
                    `<div class="chart small" id="chart-curve-${name}"></div>` +
                    `<figcaption class="say runs" id="say-curve-${name}"></figcaption></figure>`
            )
            .join("");
    }
    curves.forEach(draw_curve);
}
