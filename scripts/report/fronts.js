// Where the Pareto set lies: one metric against another over the population, and what was refused.
"use strict";

const FRONTS = [
    ["latency", "cost"],
    ["latency", "pes"],
    ["latency", "hbm_utilization"],
];

// Rows that no other beats in both columns, from low x to high: where the dashed line goes.
function front_line(x, y) {
    const sign = column => (column.high ? -1 : 1),
        order = [...x.values.keys()];
    const a = i => sign(x) * x.values[i],
        b = i => sign(y) * y.values[i];
    order.sort((i, j) => a(i) - a(j) || b(i) - b(j));
    let best = Infinity;
    return order.filter(i => b(i) < best && ((best = b(i)), true)).sort((i, j) => x.values[i] - x.values[j]);
}

// How rows are coloured: by PEs (logarithmic) or by efficiency.
function row_colours() {
    const column = state.scenario.column[state.colour],
        {low, high} = range_of([column.values]);
    const place = value =>
        column.name === "pes" ? Math.log(value / low) / Math.log(high / low || 1) : (value - low) / (high - low || 1);
    const colour = value => viridis(high > low ? place(value) || 0 : 0.5);
    return {column, low, high, colour};
}

function colour_keys({column, low, high, colour}) {
    const distinct = [...new Set(column.values)].sort((a, b) => a - b);
    if (distinct.length <= 12) return distinct.map(value => ({colour: colour(value), text: cell(column, value)}));
    const stops = [...Array(9).keys()].map(i =>
        colour(column.name === "pes" ? low * Math.pow(high / low, i / 8) : low + ((high - low) * i) / 8)
    );
    return [
        {
            shape: "ramp",
            colour: `linear-gradient(90deg,${stops.join(",")})`,
            text: `${cell(column, low)} to ${cell(column, high)}`,
        },
    ];
}

function row_tip(row) {
    const {scenario} = state,
        line = name => `${title(name)} <b>${cell(scenario.column[name], scenario.column[name].values[row])}</b>`;
    return [
        `<b>row ${scenario.rows[row]}</b>`,
        ["latency", "cost", "pes"].map(line).join(" · "),
        ["efficiency", "hbm_utilization"].map(line).join(" · "),
        plan_text(row),
        machine_text(row),
    ].join("<br>");
}

function sample_series(x, y, fx, fy) {
    const {sample, n_sample} = state.scenario;
    if (!sample || !sample[x.name] || !sample[y.name]) return [];
    const points = new Float32Array(2 * n_sample);
    for (let i = 0; i < n_sample; i++) {
        points[2 * i] = sample[x.name][i] * fx;
        points[2 * i + 1] = sample[y.name][i] * fy;
    }
    return [
        {
            name: "sample",
            type: "scatter",
            data: points,
            dimensions: ["x", "y"],
            large: true,
            largeThreshold: 1,
            symbolSize: 2.5,
            silent: true,
            itemStyle: {color: css("--cloud")},
            progressive: 0,
            z: 1,
        },
    ];
}

function find_histogram(x, y) {
    return state.scenario.histograms.find(part => part.metrics[0] === x.name && part.metrics[1] === y.name);
}

function histogram_series(x, y, fx, fy) {
    const found = find_histogram(x, y);
    if (!found) return sample_series(x, y, fx, fy);
    const [a, b] = found.edges,
        n = b.length - 1,
        top = Math.log1p(range_of([found.counts]).high),
        cells = [];
    found.counts.forEach((counted, i) => {
        if (counted > 0)
            cells.push([
                a[Math.floor(i / n)] * fx,
                a[Math.floor(i / n) + 1] * fx,
                b[i % n] * fy,
                b[(i % n) + 1] * fy,
                counted,
            ]);
    });
    const render = (parameters, api) => {
        const low = api.coord([api.value(0), api.value(2)]),
            high = api.coord([api.value(1), api.value(3)]);
        const box = parameters.coordSys,
            rect = echarts.graphic.clipRectByRect(
                {x: low[0], y: high[1], width: high[0] - low[0] + 0.4, height: low[1] - high[1] + 0.4},
                box
            );
        return (
            rect && {
                type: "rect",
                shape: rect,
                style: {fill: css("--ink"), opacity: 0.06 + (0.5 * Math.log1p(api.value(4))) / top},
            }
        );
    };
    return [
        {
            name: "histogram",
            type: "custom",
            renderItem: render,
            data: cells,
            encode: {x: [0, 1], y: [2, 3]},
            clip: true,
            z: 1,
            tooltip: {formatter: ({value}) => `${count(value[4])} feasible candidates here`},
        },
    ];
}

function marker_series(name, rows, point, style) {
    return {
        name,
        type: "scatter",
        data: rows.map(point),
        symbolSize: 15,
        silent: true,
        z: 5,
        itemStyle: {color: "transparent", borderWidth: 2.5, borderColor: css("--accent")},
        ...style,
    };
}

function front_series(x, y, fx, fy) {
    const {scenario} = state,
        colours = row_colours();
    const point = row => [x.values[row] * fx, y.values[row] * fy];
    const old = scenario.previous && scenario.previous[x.name] && scenario.previous[y.name];
    return [
        ...(old
            ? [
                  {
                      name: "previous",
                      type: "scatter",
                      symbol: "diamond",
                      symbolSize: 6,
                      silent: true,
                      z: 2,
                      data: Array.from(scenario.previous[x.name], (value, i) => [
                          value * fx,
                          scenario.previous[y.name][i] * fy,
                      ]),
                      itemStyle: {color: "transparent", borderColor: css("--muted"), borderWidth: 1},
                  },
              ]
            : []),
        {
            name: "line",
            type: "line",
            data: y.name === "hbm_utilization" ? [] : front_line(x, y).map(point),
            showSymbol: false,
            silent: true,
            z: 3,
            lineStyle: {type: "dashed", width: 1.4, color: css("--muted")},
        },
        {
            name: "rows",
            type: "scatter",
            symbolSize: 8,
            z: 4,
            cursor: "pointer",
            data: scenario.rows.map((_, row) => ({
                value: point(row),
                itemStyle: {color: colours.colour(colours.column.values[row])},
            })),
            itemStyle: {borderColor: css("--panel"), borderWidth: 0.6},
            tooltip: {formatter: ({dataIndex}) => row_tip(dataIndex)},
        },
        marker_series("pinned", [...state.pins], point, {
            symbol: "diamond",
            itemStyle: {color: "transparent", borderWidth: 2, borderColor: css("--ink")},
        }),
        marker_series("baseline", [state.row], point),
    ];
}

function draw_front(id, [x_name, y_name]) {
    const {scenario} = state,
        x = scenario.column[x_name],
        y = scenario.column[y_name],
        {sample} = scenario;
    const old = scenario.previous || {},
        everything = column => [column.values, ...[sample && sample[column.name], old[column.name]].filter(Boolean)];
    const across = axis_for(title(x_name), x.units, everything(x)),
        up = axis_for(title(y_name), y.units, everything(y), {gap: 44, log: y.units !== "%"});
    const background = state.background === "histogram" ? histogram_series : sample_series;
    draw(
        id,
        {
            grid: {left: 66, right: 14, top: 10, bottom: 46},
            xAxis: across.option,
            yAxis: up.option,
            tooltip: {trigger: "item", ...tooltip_style()},
            series: [...background(x, y, across.factor, up.factor), ...front_series(x, y, across.factor, up.factor)],
        },
        ({seriesName, dataIndex}) => seriesName === "rows" && choose_row(dataIndex)
    );
}

// The panels' own pairs, and the study's first two objectives where they are another pair.
function draw_fronts() {
    const pair = [...DATA.objectives.slice(0, 2)],
        usual = FRONTS.some(front => pair.every(name => front.includes(name)));
    document.getElementById("panel-objectives").hidden = usual;
    if (!usual) {
        document.querySelector("#panel-objectives h3").textContent = `${title(pair[1])} against ${title(pair[0])}`;
        draw_front("chart-objectives", pair);
    }
    FRONTS.forEach(front => draw_front(`chart-${front[1]}`, front));
    const {n_sample, facts, previous} = state.scenario,
        density = state.background === "histogram" && state.scenario.histograms.length;
    legend("front-keys", [
        ...colour_keys(row_colours()),
        {shape: "ring", colour: css("--accent"), text: "chosen row"},
        {shape: "dashes", colour: css("--muted"), text: "Pareto set of the two axes"},
        ...(previous ? [{shape: "hollow", colour: css("--muted"), text: "previous result"}] : []),
        ...(n_sample
            ? [
                  {
                      colour: css("--cloud-key"),
                      text: density
                          ? `density of ${count(facts.feasible)} feasible candidates where counted`
                          : `${count(n_sample)} of ${count(facts.feasible)} feasible candidates`,
                  },
              ]
            : []),
    ]);
}

function draw_refusals() {
    const {refusals, facts} = state.scenario,
        rows = [...refusals, ["feasible", facts.feasible]].reverse();
    document.getElementById("chart-refusals").style.height = `${70 + 34 * rows.length}px`;
    draw("chart-refusals", {
        grid: {left: 8, right: 92, top: 6, bottom: 26, containLabel: true},
        xAxis: {
            type: "value",
            axisLabel: {...text_style(), formatter: value => quantity(value, "1"), hideOverlap: true},
            splitNumber: 3,
            splitLine: {lineStyle: {color: css("--grid")}},
        },
        yAxis: {
            type: "category",
            data: rows.map(([reason]) => title(reason)),
            axisLabel: {...text_style(), color: css("--ink")},
            axisTick: {show: false},
            axisLine: {lineStyle: {color: css("--line")}},
        },
        tooltip: {
            ...tooltip_style(),
            formatter: ({dataIndex}) => `${title(rows[dataIndex][0])}: <b>${count(rows[dataIndex][1])}</b> candidates`,
        },
        series: [
            {
                type: "bar",
                barMaxWidth: 18,
                data: rows.map(([reason, n]) => ({
                    value: n,
                    itemStyle: {color: reason === "feasible" ? css("--good") : css("--bad")},
                })),
                label: {
                    show: true,
                    position: "right",
                    color: css("--ink"),
                    fontSize: 11,
                    formatter: ({value}) => per_cent(value / facts.candidates),
                },
            },
        ],
    });
}
