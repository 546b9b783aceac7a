// Main effects: what each knob alone explains of the latency of all feasible candidates (MODEL section 10).
"use strict";

function draw_effects() {
    const effects = state.scenario.effects.filter(effect => effect.values.length > 1).sort((a, b) => a.share - b.share);
    show_panel("panel-effects", effects.length);
    show_panel("panel-effect", effects.length);
    if (!effects.length) return;
    if (!effects.some(effect => effect.name === state.effect)) state.effect = effects[effects.length - 1].name;
    document.getElementById("chart-effects").style.height = `${60 + 22 * effects.length}px`;
    draw(
        "chart-effects",
        {
            grid: {left: 8, right: 56, top: 4, bottom: 24, containLabel: true},
            xAxis: {
                type: "value",
                axisLabel: {...text_style(), formatter: value => per_cent(value)},
                splitLine: {lineStyle: {color: css("--grid")}},
            },
            yAxis: {
                type: "category",
                data: effects.map(effect => title(effect.name)),
                axisTick: {show: false},
                triggerEvent: true,
                axisLabel: {...text_style(), color: css("--ink"), interval: 0},
                axisLine: {lineStyle: {color: css("--line")}},
            },
            tooltip: {
                ...tooltip_style(),
                formatter: ({dataIndex}) =>
                    `${title(effects[dataIndex].name)} alone explains <b>${per_cent(effects[dataIndex].share)}` +
                    `</b> of the variance of ln latency`,
            },
            series: [
                {
                    name: "variance explained",
                    type: "bar",
                    barMaxWidth: 14,
                    cursor: "pointer",
                    data: effects.map(effect => ({
                        value: effect.share,
                        itemStyle: {color: effect.name === state.effect ? css("--accent") : "#56b4e9"},
                    })),
                    label: {
                        show: true,
                        position: "right",
                        color: css("--ink"),
                        fontSize: 11,
                        formatter: ({value}) => per_cent(value),
                    },
                },
            ],
        },
        ({componentType, dataIndex, value}) => {
            state.effect =
                componentType === "yAxis"
                    ? effects.find(effect => title(effect.name) === value).name
                    : effects[dataIndex].name;
            draw_effects();
        }
    );
    draw_effect(effects.find(effect => effect.name === state.effect));
}

// Geometric mean with one standard deviation of ln latency up and down, and the lowest latency, per value of a knob.
function draw_effect(effect) {
    const kept = [...effect.values.keys()].filter(v => effect.count[v] > 0),
        spread = v => Math.sqrt(effect.variance[v]);
    const bounds = kept.map(v => [
        Math.exp(effect.mean[v] - spread(v)),
        Math.exp(effect.mean[v]),
        Math.exp(effect.mean[v] + spread(v)),
        effect.min[v],
    ]);
    const up = axis_for("latency", "s", bounds, {gap: 48}),
        at = part => bounds.map((bound, i) => [i, bound[part] * up.factor]);
    document.querySelector("#panel-effect h3").innerHTML =
        `${title(effect.name)} <small>${escape_html(effect.meaning)}</small>`;
    const whisker = (parameters, api) => {
        const low = api.coord([api.value(0), api.value(1)]),
            high = api.coord([api.value(0), api.value(2)]);
        return {
            type: "line",
            shape: {x1: low[0], y1: low[1], x2: high[0], y2: high[1]},
            style: {stroke: css("--muted"), lineWidth: 2},
        };
    };
    draw("chart-effect", {
        grid: {left: 66, right: 14, top: 30, bottom: 40},
        legend: {top: 0, left: 0, itemWidth: 12, itemHeight: 10, textStyle: text_style()},
        xAxis: {
            type: "category",
            data: kept.map(v => cell(effect, effect.values[v])),
            axisLabel: {...text_style(), interval: 0, hideOverlap: true, rotate: kept.length > 6 ? 35 : 0},
            axisLine: {lineStyle: {color: css("--line")}},
        },
        yAxis: up.option,
        tooltip: {
            trigger: "axis",
            ...tooltip_style(),
            formatter: ([{dataIndex}]) => {
                const [low, mean, high, min] = bounds[dataIndex].map(value => quantity(value, "s"));
                return (
                    `<b>${cell(effect, effect.values[kept[dataIndex]])}` +
                    `</b>: ${count(effect.count[kept[dataIndex]])} feasible<br>geometric mean ${mean}` +
                    `<br>one deviation ${low} to ${high}<br>lowest ${min}`
                );
            },
        },
        series: [
            {
                name: "one standard deviation",
                type: "custom",
                renderItem: whisker,
                encode: {x: 0, y: [1, 2]},
                itemStyle: {color: css("--muted")},
                data: bounds.map((bound, i) => [i, bound[0] * up.factor, bound[2] * up.factor]),
            },
            {
                name: "geometric mean",
                type: "line",
                data: at(1),
                symbol: "circle",
                symbolSize: 9,
                itemStyle: {color: "#0072b2"},
            },
            {
                name: "lowest",
                type: "line",
                data: at(3),
                symbol: "triangle",
                symbolSize: 9,
                lineStyle: {type: "dotted"},
                itemStyle: {color: "#009e73"},
            },
        ],
    });
}
