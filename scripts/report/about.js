// What surrounds the panels: cards, waste and hints of the chosen row, glossary, joint front, provenance, study.
"use strict";

// ---- cards ---------------------------------------------------------------------------------------------------------

function moved(now, before, better) {
    if (before === null || before === undefined || !(before > 0)) return "";
    const ratio = now / before - 1,
        good = better === "low" ? ratio < 0 : ratio > 0;
    if (Math.abs(ratio) < 5e-5) return '<em class="same" title="unchanged">=</em>';
    return `<em class="${good ? "good" : "bad"}">${ratio > 0 ? "▲" : "▼"} ${per_cent(Math.abs(ratio))}</em>`;
}

function card(name, value, note, id) {
    return `<div class="card"><span>${name}</span><b${id ? ` id="${id}"` : ""}>${value}</b><small>${note}</small></div>`;
}

function draw_cards() {
    const {scenario} = state,
        {facts, best, column, comparison} = scenario;
    const measure = name => (comparison ? comparison.measures.find(one => one.name === name) || {} : {});
    const since = name => (scenario.previous && measure(name).before !== undefined ? measure(name) : {}),
        box = measure("covered share of the box").after;
    const worst =
        comparison && comparison.reference
            ? Object.entries(comparison.reference)
                  .map(([name, value]) => cell(column[name], value))
                  .join(", ")
            : "";
    document.getElementById("cards").innerHTML = [
        card("candidates", count(facts.candidates), `distinct of ${count(facts.candidates_raw)} raw`, "card-candidates"),
        card(
            "feasible",
            count(facts.feasible),
            `${per_cent(facts.feasible / facts.candidates)} of them ` +
                `${moved(facts.feasible, since("feasible").before, "high")}`,
            "card-feasible"
        ),
        card("Pareto rows", count(scenario.n_rows), `over ${DATA.objectives.map(title).join(", ")}`, "card-rows"),
        card(
            "best latency",
            best < 0 ? "–" : quantity(column.latency.values[best], "s"),
            best < 0
                ? "nothing is feasible"
                : `row ${scenario.rows[best]}, ${cell(column.cost, column.cost.values[best])} ` +
                      `${moved(column.latency.values[best], since("best latency").before, "low")}`,
            "card-latency"
        ),
        ...(box > 0
            ? [
                  card(
                      "hypervolume",
                      per_cent(box),
                      `of the box to ${worst} ${moved(measure("hypervolume").after, since("hypervolume").before, "high")}`,
                      "card-hypervolume"
                  ),
              ]
            : []),
        ...(scenario.previous && comparison
            ? [
                  card(
                      "since the previous",
                      `+${count(comparison.gained)} −${count(comparison.lost)}`,
                      `rows gained and lost, ${count(comparison.moved)} moved, since ${DATA.previous.created.slice(0, 10)}`,
                      "card-change"
                  ),
              ]
            : []),
    ].join("");
    draw_change();
}

// Before and after, as `cosweep compare` has it, and the knobs in which the two studies differ.
function draw_change() {
    const {comparison, previous} = state.scenario;
    show_panel("section-change", previous && comparison);
    if (!previous || !comparison) return;
    const knob = key =>
        Object.values(state.scenario.column).find(column => column.key === key.replace("hardware.", "")) || {units: "1"};
    const say = (key, values) =>
        []
            .concat(values)
            .map(value => (typeof value === "number" ? quantity(value, knob(key).units) : String(value)))
            .join(", ");
    document.getElementById("knobs-changed").innerHTML =
        DATA.previous.knobs
            .map(
                one =>
                    `<li><code>${escape_html(one.knob)}</code>: ${say(one.knob, one.before)} → ` +
                    `<b>${say(one.knob, one.after)}</b></li>`
            )
            .join("") || "<li>The two studies ask the same.</li>";
    const shares = name => /share|elasticity/.test(name),
        apart = one => (shares(one.name) ? 100 * (one.after - one.before) : 100 * (one.after / one.before - 1));
    document.querySelector("#change tbody").innerHTML = comparison.measures
        .filter((one, i) => i < 6 || Math.abs(apart(one)) >= 0.1)
        .map(one => {
            const units = shares(one.name) ? "%" : one.unit,
                by = apart(one);
            return (
                `<tr><th scope="row">${one.name.replaceAll("_", " ")}</th><td>${quantity(one.before, units)}</td>` +
                `<td>${quantity(one.after, units)}</td>` +
                `<td>${isFinite(by) ? `${by > 0 ? "+" : ""}${by.toFixed(2)}${shares(one.name) ? " points" : "%"}` : "–"}` +
                `</td></tr>`
            );
        })
        .join("");
}

// ---- waste, hints --------------------------------------------------------------------------------------------------

function draw_waste(details) {
    const {memory, waste} = details,
        capacity = details.hardware.pe.hbm_capacity,
        free = Math.max(0, capacity - memory.total_bytes);
    const parts = [
        ["weights", memory.weights_bytes, "#0072b2"],
        ["KV cache", memory.kv_bytes, "#e69f00"],
        ["activations", memory.activation_bytes, "#009e73"],
        ["free or reserved", free, css("--grid")],
    ];
    const bar = ([name, bytes, colour]) =>
        `<i style="flex:${bytes};background:${colour}" title="${name} ${quantity(bytes, "bytes")}"></i>`;
    const key = ([name, bytes, colour]) =>
        `<span class="key"><i class="square" style="--colour:${colour}"></i>${name} ` +
        `<b>${quantity(bytes, "bytes")}</b></span>`;
    document.getElementById("memory").innerHTML =
        `<div class="stack">${parts.map(bar).join("")}</div><div class="keys">${parts.map(key).join("")}</div>`;
    document.getElementById("waste").innerHTML = waste_html(waste);
}

// Each cause in bytes of the fullest PE and of all PEs, and in per cent of what they keep.
function waste_html(waste) {
    const kept = {false: ["pe_weights", "machine_weights"], true: ["pe_kv", "machine_kv"]};
    const part = (bytes, all) => `${quantity(bytes, "bytes")} <small>${per_cent(all > 0 ? bytes / all : 0)}</small>`;
    const rows = waste.causes.map(
        ({meaning, kv, pe_bytes, machine_bytes}) =>
            `<tr><th scope="row">${escape_html(meaning)}</th>` +
            `<td>${part(pe_bytes, waste[kept[kv][0]].kept_bytes)}</td><td>` +
            `${part(machine_bytes, waste[kept[kv][1]].kept_bytes)}</td></tr>`
    );
    const own = [
        ["weights of the model", "weights"],
        ["KV cache of the sequences", "kv"],
    ].map(
        ([name, key]) =>
            `<tr><th scope="row">${name}</th>` +
            ["pe", "machine"]
                .map(of => `<td>${part(waste[`${of}_${key}`].own_bytes, waste[`${of}_${key}`].kept_bytes)}</td>`)
                .join("") +
            "</tr>"
    );
    const idle = waste.idle_pes
        ? `<tr><th scope="row">PEs that are paid for and idle</th><td></td><td>${count(waste.idle_pes)} PEs</td></tr>`
        : "";
    return (
        `<table class="plain"><thead><tr><th>kept</th><th>fullest PE</th><th>all PEs</th></tr></thead>` +
        `<tbody>${own.join("")}` +
        `<tr class="head"><th colspan="3">more than once, or padding</th>` +
        `</tr>${rows.join("") || '<tr><th colspan="3">nothing</th></tr>'}${idle}</tbody></table>`
    );
}

// What a change of one knob gives, best first; a cell says how far it is from the chosen row.
function draw_hints(details) {
    const {hints, memory} = details,
        knob = path => state.scenario.columns.find(column => column.key === path.replace("hardware.", "")) || {units: "1"};
    show_panel("panel-hints", hints);
    const value = (path, one) =>
        typeof one === "number" ? quantity(one, knob(path).units) : String(one).replaceAll("_", " ");
    const gain = (now, before, better) => `${now.text} ${moved(now.value, before, better)}`;
    document.getElementById("hints").innerHTML =
        !hints || !hints.length
            ? '<p class="say">No change of one knob makes it faster.</p>'
            : `<table class="plain"><thead><tr><th>change</th><th>latency</th><th>cost</th><th>PEs</th><th>memory</th>` +
              `</tr></thead><tbody>${hints
                  .map(hint => {
                      const cells = [
                          [hint.latency, details.latency, "s"],
                          [hint.cost, details.cost, "USD"],
                          [hint.pes, details.pes, "1"],
                          [hint.memory_bytes, memory.total_bytes, "bytes"],
                      ];
                      return (
                          `<tr><th scope="row">${hint.knob.replace("hardware.", "").replace("plan.", "")} ` +
                          `<b>${value(hint.knob, hint.from)} → ${value(hint.knob, hint.to)}` +
                          `</b>${hint.free ? ' <em class="good">free</em>' : ""}</th>` +
                          cells
                              .map(
                                  ([now, before, unit]) =>
                                      `<td>${gain({text: quantity(now, unit), value: now}, before, "low")}</td>`
                              )
                              .join("") +
                          "</tr>"
                      );
                  })
                  .join("")}</tbody></table>`;
}

// ---- glossary ------------------------------------------------------------------------------------------------------

function draw_glossary(values) {
    const {symbols} = state.scenario;
    let of = "";
    document.querySelector("#glossary tbody").innerHTML = symbols
        .map((symbol, s) => {
            const known = values ? values[s].filter(([value]) => value !== null) : [],
                head = symbol.of === of ? "" : `<tr class="head"><th colspan="4">${(of = symbol.of)}</th></tr>`;
            const texts = [
                ...new Set(known.map(([value]) => (symbol.unit === "1" ? number(value, 6) : quantity(value, symbol.unit)))),
            ];
            return (
                `${head}<tr><th scope="row"><code>${symbol.symbol}</code></th><td>${escape_html(symbol.meaning)}</td>` +
                `<td>${texts.join(", ") || "–"}</td>` +
                `<td><code class="muted">${known.length && known[0][1] ? escape_html(known[0][1]) : ""}</code></td></tr>`
            );
        })
        .join("");
}

// ---- joint front ---------------------------------------------------------------------------------------------------

function draw_joint() {
    const {joint} = DATA;
    show_panel("section-joint", joint && joint.columns.length && joint.columns[0].values.length);
    if (document.getElementById("section-joint").hidden) return;
    const column = Object.fromEntries(joint.columns.map(one => [one.name, one])),
        mean = column.mean,
        against = column[joint.against[0]];
    const across = axis_for(`mean ${title(joint.metric)}`, mean.units, [mean.values]),
        up = axis_for(title(against.name), against.units, [against.values], {gap: 48});
    draw("chart-joint", {
        grid: {left: 66, right: 14, top: 10, bottom: 46},
        xAxis: across.option,
        yAxis: up.option,
        tooltip: {trigger: "item", ...tooltip_style()},
        series: [
            {
                type: "line",
                lineStyle: {type: "dashed", color: css("--muted"), width: 1.4},
                symbol: "circle",
                symbolSize: 8,
                itemStyle: {color: "#0072b2"},
                data: [...mean.values].map((value, i) => [value * across.factor, against.values[i] * up.factor]),
                tooltip: {formatter: ({dataIndex}) => joint_tip(joint, dataIndex)},
            },
        ],
    });
    const shown = joint.columns.filter(one => one === mean || joint.against.includes(one.name) || varies(one)),
        names = Object.keys(joint.scenarios);
    const choice = name => Object.fromEntries(joint.scenarios[name].map(one => [one.name, one]));
    document.querySelector("#joint thead").innerHTML =
        `<tr>${shown.map(one => `<th>${title(one.name)}</th>`).join("")}` +
        `${names.map(name => `<th>${escape_html(name)}: latency</th><th>plan</th>`).join("")}</tr>`;
    document.querySelector("#joint tbody").innerHTML = [...mean.values.keys()]
        .map(
            i =>
                `<tr>${shown.map(one => `<td>${cell(one, one.values[i])}</td>`).join("")}` +
                names
                    .map(
                        name =>
                            `<td>${quantity(choice(name).latency.values[i], "s")}</td>` +
                            `<td class="word">${joint_plan(choice(name), i)}</td>`
                    )
                    .join("") +
                "</tr>"
        )
        .join("");
}

function joint_plan(column, i) {
    return ["tp", "cp", "pp", "dp", "ep", "batch"]
        .filter(name => column[name].values[i] > 1)
        .map(name => `${title(name)} ${column[name].values[i]}`)
        .join(" ");
}

function joint_tip(joint, i) {
    return joint.columns
        .filter(one => ["mean", ...joint.against].includes(one.name) || varies(one))
        .map(one => `${title(one.name)} <b>${cell(one, one.values[i])}</b>`)
        .join("<br>");
}

// ---- provenance ----------------------------------------------------------------------------------------------------

function draw_about() {
    const {facts, performance} = DATA;
    document.getElementById("warnings").innerHTML = DATA.warnings
        .map(text => `<p class="warning" role="alert">${escape_html(text)}</p>`)
        .join("");
    document.getElementById("title").textContent = DATA.title;
    document.getElementById("made").textContent =
        `${DATA.file}, computed ${facts.created.replace("T", " ").replace("Z", " UTC")} by ${facts.program}`;
    document.querySelector("#provenance tbody").innerHTML = [
        ...Object.entries(facts).map(([key, value]) => [title(key), escape_html(value), ""]),
        ...performance.map(one => [title(one.name), quantity(one.value, one.units), escape_html(one.meaning)]),
    ]
        .map(([name, value, note]) => `<tr><th scope="row">${name}</th><td>${value}</td><td class="muted">${note}</td></tr>`)
        .join("");
    document.getElementById("study").textContent = DATA.study;
}
