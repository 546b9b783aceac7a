// The page: what is chosen, what is drawn when that changes, and the hands on it.
"use strict";

let DATA; // what every panel needs at once
const state = {
    scenario: null,
    row: -1,
    pins: new Set(),
    colour: "pes",
    background: "sample",
    curve_metric: "latency",
    effect: null,
};
const lines = {}; // blob name -> one JSON text per row, read when first asked for

// ---- what panels ask for -------------------------------------------------------------------------------------------

function show_panel(id, shown) {
    document.getElementById(id).hidden = !shown;
}

async function row_lines(kind, row) {
    const name = `${kind}-${DATA.scenarios.indexOf(state.scenario)}`;
    if (!(name in lines)) lines[name] = blob_text(name).then(text => (text ? text.split("\n") : []));
    const line = (await lines[name])[row];
    return line ? JSON.parse(line) : null;
}

// The machine of a row, nested as a study file has it under `hardware`.
function row_hardware(row) {
    const hardware = {};
    for (const column of state.scenario.columns.filter(one => one.key)) {
        const steps = column.key.split("."),
            value = column.values[row],
            last = steps.pop();
        let at = hardware;
        steps.forEach((step, i) => {
            at = at[step] = at[step] || (/^\d+$/.test(steps[i + 1] || last) ? [] : {});
        });
        at[last] = column.words ? column.words[value] : value;
    }
    return {...hardware, gqa_reuse: Boolean(hardware.gqa_reuse)};
}

// Everything `cosweep explain` says of a row.
async function row_details(row) {
    const details = await row_lines("rows", row);
    return details && {...details, hardware: row_hardware(row)};
}

// Degrees beyond 1 and the variants that differ between rows: "tp 64 · cp 16 · kv split dim".
function plan_text(row) {
    const plan = state.scenario.columns.filter(column => column.group === "plan");
    return (
        plan
            .filter(column => (column.words ? varies(column) : column.values[row] > 1))
            .map(column =>
                column.words
                    ? `${title(column.name)} ${cell(column, column.values[row])}`
                    : `${title(column.name)} ${column.values[row]}`
            )
            .join(" · ") || "all ones"
    );
}

function machine_text(row) {
    return state.scenario.columns
        .filter(column => column.group === "hardware" && varies(column))
        .map(column => `${title(column.name).replace(" bandwidth", "")} ${cell(column, column.values[row])}`)
        .join(" · ");
}

// ---- what happens --------------------------------------------------------------------------------------------------

function draw_baseline() {
    const {scenario, row} = state,
        metric = name => cell(scenario.column[name], scenario.column[name].values[row]);
    document.getElementById("baseline").innerHTML =
        `<b>row ${scenario.rows[row]}</b> <span>${metric("latency")}</span> <span>${metric("cost")}</span> ` +
        `<span>${metric("pes")} PEs</span> <span class="muted">${plan_text(row)}</span>`;
    document.getElementById("pin-chosen").setAttribute("aria-pressed", state.pins.has(row));
}

// Panels that need no details are drawn at once, the others when their line is there and still wanted.
async function draw_row() {
    draw_baseline();
    draw_fronts();
    draw_doubling();
    draw_elasticity();
    draw_curves();
    draw_compare();
    const row = state.row,
        details = await row_details(row);
    show_panel("section-why", details);
    show_panel("section-where", details);
    if (!details || row !== state.row) return;
    draw_stages(details);
    draw_timeline(details);
    draw_waste(details);
    draw_hints(details);
    draw_machine(details);
    draw_tensors(details);
    draw_glossary(await row_lines("symbols", row));
    document.body.dataset.row = state.scenario.rows[row]; // tests wait for it
}

function choose_row(row) {
    state.row = row;
    mark_table();
    remember();
    return draw_row();
}

function toggle_pin(row) {
    if (!state.pins.delete(row)) state.pins.add(row);
    mark_table();
    draw_baseline();
    draw_fronts();
    draw_elasticity();
    draw_compare();
}

function choose_scenario(index, row) {
    const scenario = (state.scenario = DATA.scenarios[index]),
        feasible = scenario.rows.length > 0;
    state.pins.clear();
    state.row = scenario.rows.includes(row) ? scenario.rows.indexOf(row) : Math.max(0, scenario.best);
    document.querySelectorAll("#scenarios button").forEach((button, i) => button.setAttribute("aria-pressed", i === index));
    draw_cards();
    draw_refusals();
    draw_effects();
    document.body.classList.toggle("empty", !feasible);
    if (!feasible) return;
    draw_table();
    remember();
    draw_row();
}

// ---- address, theme, paper -----------------------------------------------------------------------------------------

function remember() {
    const {scenario, row} = state;
    history.replaceState(null, "", `#${encodeURIComponent(scenario.name)}/${scenario.rows[row]}`);
}

function recall() {
    const [name, row] = location.hash.slice(1).split("/"),
        index = DATA.scenarios.findIndex(one => one.name === decodeURIComponent(name || ""));
    choose_scenario(Math.max(0, index), index >= 0 ? Number(row) : -1);
}

// Charts take their colours when drawn: everything is drawn again.
function redraw() {
    draw_refusals();
    draw_effects();
    draw_joint();
    if (state.scenario.rows.length) draw_row();
}

function set_theme(theme) {
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme").value = theme;
}

function theme_events() {
    const select = document.getElementById("theme"),
        media = matchMedia("(prefers-color-scheme: dark)");
    let before = "auto";
    select.addEventListener("change", () => {
        set_theme(select.value);
        redraw();
    });
    media.addEventListener("change", redraw);
    window.addEventListener("beforeprint", () => {
        before = select.value;
        set_theme("light");
        redraw();
        draw_all_pending();
    });
    window.addEventListener("afterprint", () => {
        set_theme(before);
        redraw();
    });
}

function choices(id, key, draw_again) {
    document.getElementById(id).addEventListener("change", ({target}) => {
        state[key] = target.value;
        draw_again();
    });
}

// ---- start ---------------------------------------------------------------------------------------------------------

function prepare(data) {
    DATA = unpack(data);
    UNITS = DATA.units;
    WORDS = DATA.words;
    for (const scenario of DATA.scenarios)
        scenario.column = Object.fromEntries(scenario.columns.map(column => [column.name, column]));
}

function scenario_buttons() {
    const place = document.getElementById("scenarios");
    place.hidden = DATA.scenarios.length < 2;
    place.innerHTML = DATA.scenarios
        .map((scenario, i) => `<button type="button" data-scenario="${i}">${escape_html(scenario.name)}</button>`)
        .join("");
    place.addEventListener(
        "click",
        ({target}) => target.dataset.scenario && choose_scenario(Number(target.dataset.scenario))
    );
}

async function start() {
    prepare(JSON.parse(await blob_text("data")));
    scenario_buttons();
    draw_about();
    draw_joint();
    table_events();
    theme_events();
    machine_events();
    document.querySelector("nav").addEventListener("click", event => {
        const to = event.target.dataset.to && document.getElementById(event.target.dataset.to);
        if (!to) return;
        event.preventDefault(); // the address keeps the row, not the section
        to.scrollIntoView();
    });
    choices("colour", "colour", draw_fronts);
    choices("background", "background", draw_fronts);
    choices("curve-metric", "curve_metric", draw_curves);
    document
        .getElementById("stages")
        .addEventListener("click", ({target}) => target.dataset.formulas && toggle_formulas(target));
    document.getElementById("pin-chosen").addEventListener("click", () => toggle_pin(state.row));
    document.getElementById("unpin").addEventListener("click", () => [...state.pins].forEach(toggle_pin));
    document
        .querySelectorAll("dialog button.close")
        .forEach(button => button.addEventListener("click", () => button.closest("dialog").close()));
    recall();
    document.body.dataset.ready = "yes";
}

start();
