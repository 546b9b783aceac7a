// Why the chosen row takes what it takes: its stages as a table and as a timeline, with the formulas behind each number;
// and pinned rows side by side.
"use strict";

const EDGES = ["embed", "final_norm", "lm_head"];

function kind_text(stage) {
    return [stage.window ? `window ${count(stage.window)}` : "", stage.moe ? "MoE" : ""].filter(Boolean).join(", ");
}

function bound_chip(bound) {
    return `<span class="chip" style="--colour:${BOUND_COLOUR[bound]}">${title(bound)}</span>`;
}

// ---- table ---------------------------------------------------------------------------------------------------------

function stage_row(stage, s, details) {
    const total = stage.count * stage.time_s,
        share = total / (details.layers_s + details.edges_s);
    const values = [
        count(stage.count),
        quantity(stage.time_s, "s"),
        stage.exchange_s ? quantity(stage.exchange_s, "s") : "–",
        quantity(total, "s"),
    ];
    return (
        `<tr style="--colour:${BOUND_COLOUR[stage.bound]}" class="bound"><th scope="row">` +
        `<button type="button" data-formulas="${s}" aria-expanded="false"` +
        ` title="formulas">${title(stage.stage)}</button> <small>${kind_text(stage)}</small></th>` +
        values.map(value => `<td>${value}</td>`).join("") +
        `<td class="meter"><i style="width:${(100 * share).toFixed(2)}%"></i><span>${per_cent(share)}</span></td>` +
        `<td class="word">${bound_chip(stage.bound)}</td>` +
        [
            ["flop", "FLOP"],
            ["vector_flop", "FLOP"],
            ["hbm_bytes", "bytes"],
        ]
            .map(([key, units]) => `<td>${stage[key] ? quantity(stage[key], units) : "–"}</td>`)
            .join("") +
        "</tr>"
    );
}

function draw_stages(details) {
    const foot = [
        ["layers", details.layers_s],
        ["edges", details.edges_s],
        ["hop of the pipeline, each", details.hop_s],
        ["step", details.step_s],
        ["latency", details.latency_s],
    ];
    document.querySelector("#stages tbody").innerHTML = details.stages
        .map((stage, s) => stage_row(stage, s, details))
        .join("");
    document.querySelector("#stages tfoot").innerHTML = foot
        .map(
            ([name, seconds]) =>
                `<tr><th scope="row">${name}</th><td></td><td></td><td></td>` +
                `<td data-total="${name.split(" ")[0]}">${quantity(seconds, "s")}</td><td colspan="5"></td></tr>`
        )
        .join("");
}

function formula_html(stage) {
    const line = ({quantity: what, term, formula, substituted, value}) =>
        `<tr><td>${title(what)}<br><small>${escape_html(term || "")}</small></td>` +
        `<td><code>${escape_html(formula)}</code><br><code class="muted">= ${escape_html(substituted)}</code></td>` +
        `<td>${number(value, 6)}</td></tr>`;
    const times_of = Object.entries(stage.roofline || {}).map(
        ([name, seconds]) => `${title(name.replace(/_s$/, ""))} ${quantity(seconds, "s")}`
    );
    const exchange = one =>
        `<tr><td>${title(one.kind)} over ${count(one.ranks)} ranks<br><small>${escape_html(one.what)}, ` +
        `${escape_html(one.over)}</small></td>` +
        `<td><code>${escape_html(one.formula)}</code><br><code class="muted">= ${escape_html(one.substituted)}</code>` +
        `</td><td>${quantity(one.vector_bytes, "bytes")}<br>${quantity(one.time_s, "s")}</td></tr>`;
    return (
        `<table class="formulas"><tbody>${(stage.formulas || []).map(line).join("")}` +
        `${(stage.exchanges || []).map(exchange).join("")}</tbody></table>` +
        `<p class="say">one stage takes the longest of ${times_of.slice(0, -1).join(", ")}; then ${times_of.slice(-1)}, ` +
        `and its exchanges ${quantity(stage.exchange_s, "s")}</p>`
    );
}

async function toggle_formulas(button) {
    const line = button.closest("tr"),
        next = line.nextElementSibling,
        open = next && next.classList.contains("detail");
    button.setAttribute("aria-expanded", !open);
    if (open) return next.remove();
    const detail = document.createElement("tr"),
        {stages} = await row_lines("formulas", state.row);
    detail.className = "detail";
    detail.innerHTML = `<td colspan="10">${formula_html(stages[Number(button.dataset.formulas)])}</td>`;
    line.after(detail);
}

// ---- timeline ------------------------------------------------------------------------------------------------------

// Stages by layer kind, in their order; the edges of the step are one more.
function kinds_of(details) {
    const kinds = [];
    for (const stage of details.stages) {
        const edge = EDGES.includes(stage.stage),
            key = edge ? "edges" : `${stage.window} ${stage.moe}`;
        let kind = kinds.find(one => one.key === key);
        if (!kind)
            kinds.push(
                (kind = {
                    key,
                    edge,
                    stages: [],
                    count: stage.count,
                    text: edge ? "embedding and logits, once a step" : kind_text(stage) || "layer",
                })
            );
        kind.stages.push(stage);
    }
    return kinds;
}

function find_ring(details, kind) {
    const rings = details.ring ? [].concat(details.ring) : [];
    return rings.find(ring => `${ring.window || 0} ${Boolean(ring.moe)}` === kind.key && ring.hops > 0);
}

// The loop that context parallelism runs around attention's bar.
function ring_svg(ring, x, width, y) {
    const end = x + Math.max(width, 10);
    return (
        `<path d="M${end - 8} ${y + 19.5}H${x + 3}a6 9 0 0 1 0 -18.5H${end - 3}a6 9 0 0 1 2 17.5m-3.5 -5l3 5l5 -2.5" ` +
        `class="loop"><title>ring over CP</title></path>` +
        `<text x="${Math.min(x, 330)}" y="${y + 33}" class="note ring">ring: ${count(ring.hops)} hops of ` +
        `${quantity(ring.hop_s, "s")}, ` +
        `${ring.hidden ? "hidden behind compute" : `${quantity(ring.exposed_s, "s")} exposed`}</text>`
    );
}

function timeline_svg(kind, details) {
    const per_layer = kind.stages.reduce((sum, stage) => sum + stage.time_s, 0),
        width = 640,
        left = 150,
        room = width - left - 74,
        ring = find_ring(details, kind);
    let at = 0,
        y = 4,
        lines = "";
    for (const stage of kind.stages) {
        const x = left + (room * at) / per_layer,
            w = Math.max(1, (room * stage.time_s) / per_layer),
            exchange = (room * stage.exchange_s) / per_layer;
        lines +=
            `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${title(stage.stage)}</text>` +
            `<rect x="${x}" y="${y + 3}" width="${w}" height="14" rx="2" fill="${BOUND_COLOUR[stage.bound]}">` +
            `<title>${title(stage.stage)}: ${quantity(stage.time_s, "s")}, bound by ${title(stage.bound)}</title>` +
            `</rect>` +
            (exchange > 1
                ? `<rect x="${x + w - exchange}" y="${y + 3}" width="${exchange}" height="14" fill="url(#hatch)"/>`
                : "") +
            `<text x="${x + w + 5}" y="${y + 14}" class="note">${quantity(stage.time_s, "s")}</text>`;
        if (ring && stage.stage === "attention") {
            lines += ring_svg(ring, x, w, y);
            y += 17;
        }
        at += stage.time_s;
        y += 21;
    }
    return (
        `<figure><figcaption><b>${kind.text}</b> ${kind.edge ? "" : `× ${count(kind.count)}`}: ` +
        `${quantity(per_layer, "s")}${kind.edge ? "" : ` each, ${quantity(per_layer * kind.count, "s")} in all`}` +
        `</figcaption>` +
        `<svg viewBox="0 0 ${width} ${y + 4}" role="img" aria-label="timeline of one ${kind.text}"><defs>` +
        `<pattern id="hatch" width="5" height="5" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">` +
        `<rect width="2" height="5" fill="#fff" opacity=".65"/></pattern></defs>${lines}</svg></figure>`
    );
}

// Pipeline stages as boxes with the layers each holds, and the hop between them.
function pipeline_svg(details) {
    const {pp} = details.plan,
        layers = state.scenario.question.model.layers,
        each = Math.ceil(layers / pp),
        shown = Math.min(pp, 6),
        step = 640 / Math.max(shown, 1);
    if (pp === 1) return `<p class="say">One pipeline stage holds all ${layers} layers: no hops.</p>`;
    const box = i => {
        const index = i < shown - 1 ? i : pp - 1,
            held = Math.max(0, Math.min(layers, (index + 1) * each) - Math.min(layers, index * each)),
            x = i * step;
        return (
            `<rect x="${x + 1}" y="4" width="${step - 30}" height="40" rx="5" class="box"/>` +
            `<text x="${x + (step - 28) / 2}" y="21" text-anchor="middle">stage ${index}</text>` +
            `<text x="${x + (step - 28) / 2}" y="36" text-anchor="middle" class="note">${held} layers</text>` +
            (i < shown - 1
                ? `<path d="M${x + step - 27} 24h22m-5 -4l5 4l-5 4" class="loop"/>` +
                  `${i === shown - 2 && pp > shown ? `<text x="${x + step - 18}" y="14" class="note">…</text>` : ""}`
                : "")
        );
    };
    return (
        `<figure><figcaption><b>pipeline</b> of ${pp} stages, ${quantity(details.hop_s, "s")} per hop</figcaption>` +
        `<svg viewBox="0 0 640 48" role="img" aria-label="pipeline stages">${[...Array(shown).keys()].map(box).join("")}` +
        `</svg></figure>`
    );
}

function draw_timeline(details) {
    document.getElementById("timeline").innerHTML =
        kinds_of(details)
            .map(kind => timeline_svg(kind, details))
            .join("") + pipeline_svg(details);
    const used = [...new Set(details.stages.map(stage => stage.bound))];
    legend("bound-keys", [
        ...used.map(bound => ({shape: "square", colour: BOUND_COLOUR[bound], text: `bound by ${title(bound)}`})),
        {shape: "hatched", colour: css("--muted"), text: "exchange"},
    ]);
}

// ---- side by side --------------------------------------------------------------------------------------------------

function compare_line(name, values, text, better) {
    const best = better && new Set(values).size > 1 ? (better === "high" ? Math.max : Math.min)(...values) : NaN;
    return (
        `<tr><th scope="row">${name}</th>` +
        `${values.map((value, i) => `<td${value === best ? ' class="best"' : ""}>${text(value, i)}</td>`).join("")}</tr>`
    );
}

function draw_compare() {
    const {scenario} = state,
        rows = [...new Set([state.row, ...state.pins])];
    show_panel("section-compare", state.pins.size > 0 && rows.length > 1);
    if (rows.length < 2) return;
    const metrics = scenario.columns.filter(column => ["metric", "memory"].includes(column.group));
    const knobs = scenario.columns.filter(
        column => ["plan", "hardware"].includes(column.group) && new Set(rows.map(row => column.values[row])).size > 1
    );
    const n = scenario.stages.length,
        stage_time = (row, s) => scenario.stage_time[row * n + s];
    const stages = [...scenario.stages.keys()].filter(s => rows.some(row => stage_time(row, s) > 0));
    const head = row => `<th scope="col">row ${scenario.rows[row]}${row === state.row ? " (chosen)" : ""}</th>`;
    const section = text => `<tr class="head"><th colspan="${rows.length + 1}">${text}</th></tr>`;
    document.getElementById("compare").innerHTML =
        `<thead><tr><th></th>` +
        `${rows.map(head).join("")}</tr></thead><tbody>` +
        section("metrics") +
        metrics
            .map(column =>
                compare_line(
                    title(column.name),
                    rows.map(row => column.values[row]),
                    value => cell(column, value),
                    column.high ? "high" : column.name === "hbm_utilization" ? null : "low"
                )
            )
            .join("") +
        section("stages, all layers of a step") +
        stages
            .map(s =>
                compare_line(
                    title(scenario.stages[s]),
                    rows.map(row => stage_time(row, s)),
                    (value, i) =>
                        `${quantity(value, "s")} <i class="dot" style="--colour:` +
                        `${BOUND_COLOUR[scenario.bounds[scenario.stage_bound[rows[i] * n + s]]]}"></i>`,
                    "low"
                )
            )
            .join("") +
        section("knobs that differ") +
        knobs
            .map(column =>
                compare_line(
                    title(column.name),
                    rows.map(row => column.values[row]),
                    value => cell(column, value)
                )
            )
            .join("") +
        "</tbody>";
    draw_compare_chart(rows, stages, stage_time);
}

function draw_compare_chart(rows, stages, stage_time) {
    const {scenario} = state,
        sums = rows.map(row => stages.reduce((sum, s) => sum + stage_time(row, s), 0)),
        [factor, unit] = scaled(Math.max(...sums), "s");
    const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#c9b800", "#8a8f98"];
    document.getElementById("chart-compare").style.height = `${130 + 36 * rows.length}px`;
    draw("chart-compare", {
        grid: {left: 8, right: 20, top: 66, bottom: 40, containLabel: true},
        legend: {type: "scroll", top: 0, textStyle: text_style(), itemWidth: 12, itemHeight: 10},
        tooltip: {
            trigger: "item",
            ...tooltip_style(),
            formatter: ({seriesName, value}) => `${seriesName}: <b>${number(value)} ${unit}</b>`,
        },
        xAxis: {
            type: "value",
            name: `time in a step [${unit}]`,
            nameLocation: "middle",
            nameGap: 26,
            nameTextStyle: text_style(),
            axisLabel: text_style(),
            splitLine: {lineStyle: {color: css("--grid")}},
        },
        yAxis: {
            type: "category",
            inverse: true,
            data: rows.map(row => `row ${scenario.rows[row]}`),
            axisLabel: {...text_style(), color: css("--ink")},
            axisTick: {show: false},
        },
        series: stages.map((s, i) => ({
            name: title(scenario.stages[s]),
            type: "bar",
            stack: "all",
            barMaxWidth: 24,
            data: rows.map(row => stage_time(row, s) * factor),
            itemStyle: {
                color: colours[i % colours.length],
                decal:
                    i >= colours.length
                        ? {symbol: "rect", color: "#fff6", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -0.8}
                        : null,
            },
        })),
    });
}
