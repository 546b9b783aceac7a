// The Pareto table: sort, filter, pin, choose; and a row copied as a study file or a command line.
"use strict";

const PAGE_ROWS = 200;
const view = {sort: null, down: false, filter: "", every: false, shown: PAGE_ROWS};

// ---- columns -------------------------------------------------------------------------------------------------------

function varies(column) {
    return column.values.some(value => value !== column.values[0]);
}

function constant_columns() {
    return state.scenario.columns.filter(column => column.group !== "row" && !varies(column));
}

// Objectives first, then other metrics, plan and machine; columns with one value only where all are wanted.
function table_columns() {
    const {columns, column} = state.scenario,
        first = DATA.objectives.map(name => column[name]);
    const shown = group => columns.filter(one => one.group === group && !first.includes(one) && (view.every || varies(one)));
    return [...first, ...["metric", "plan", "hardware", "memory"].flatMap(shown)];
}

// Numbers of a column share one unit, which stands in its head.
function head_unit(column) {
    if (column.words) return [1, ""];
    const {low, high} = range_of([column.values]);
    return scaled(low > 0 ? Math.sqrt(low * high) : high, column.units);
}

function cell_text(column, row, factor) {
    const value = column.values[row];
    return column.words
        ? column.words[value]
        : number(value * factor, column.units === "1" && Number.isInteger(value) ? 6 : 4);
}

// ---- filter --------------------------------------------------------------------------------------------------------

const PREFIX = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, m: 1e-3, u: 1e-6, n: 1e-9};

// A term such as latency<5ms, tp=64, hbm_bandwidth>=384GB/s or kv_mode=split_dim; a number without unit is in the head's.
function parse_term(term) {
    const match = /^([a-z0-9_]+)(<=|>=|!=|=|<|>)(.+)$/.exec(term),
        column = match && state.scenario.column[match[1]];
    if (!column) return null;
    const [, , operator, text] = match,
        measured = /^([-+0-9.eE]+)(.*)$/.exec(text);
    if (column.words) {
        const code = column.words.indexOf(text);
        return code < 0 ? null : {column, operator, wanted: code};
    }
    if (!measured || Number.isNaN(Number(measured[1]))) return null;
    const suffix = measured[2].trim(),
        [base] = UNITS[column.units] || [""];
    let factor = 1 / head_unit(column)[0];
    if (suffix === "%") factor = 0.01;
    else if (suffix && suffix === base) factor = 1;
    else if (suffix && PREFIX[suffix[0]] && suffix.slice(1) === base) factor = PREFIX[suffix[0]];
    else if (suffix) return null;
    return {column, operator, wanted: Number(measured[1]) * factor};
}

function holds({column, operator, wanted}, row) {
    const value = column.values[row],
        same = Math.abs(value - wanted) <= 1e-9 * Math.abs(wanted);
    return {
        "=": same,
        "!=": !same,
        "<": value < wanted && !same,
        ">": value > wanted && !same,
        "<=": value <= wanted || same,
        ">=": value >= wanted || same,
    }[operator];
}

// Rows that pass every term, in the order asked for; terms that say nothing are named.
function table_rows() {
    const {scenario} = state,
        words = view.filter
            .trim()
            .replace(/\s*(<=|>=|!=|=|<|>)\s*/g, "$1")
            .split(/[\s,]+/)
            .filter(Boolean);
    const terms = words.map(parse_term),
        unknown = words.filter((_, i) => !terms[i]);
    const rows = [...scenario.rows.keys()].filter(row => terms.every(term => !term || holds(term, row)));
    const column = view.sort && scenario.column[view.sort];
    if (column) rows.sort((a, b) => (view.down ? -1 : 1) * (column.values[a] - column.values[b]) || a - b);
    else if (view.down) rows.reverse();
    return {rows, unknown};
}

// ---- drawing -------------------------------------------------------------------------------------------------------

function head_html(columns, units) {
    const arrow = name => (view.sort === name ? (view.down ? "descending" : "ascending") : "none");
    const head = (name, text, unit, meaning) =>
        `<th scope="col" aria-sort="${arrow(name)}" title="${escape_html(meaning)}">` +
        `<button type="button" data-sort="${name || ""}">${text}${unit ? `<small>${unit}</small>` : ""}</button></th>`;
    return (
        `<tr><th scope="col">pin</th>${head(null, "row", "", "row of the file, sorted by the objectives")}` +
        columns.map((column, c) => head(column.name, title(column.name), units[c][1], column.meaning)).join("") +
        "</tr>"
    );
}

function row_html(row, columns, units) {
    const {scenario} = state,
        chosen = row === state.row;
    const cells = columns
        .map((column, c) => `<td${column.words ? ' class="word"' : ""}>${cell_text(column, row, units[c][0])}</td>`)
        .join("");
    return (
        `<tr data-row="${row}" tabindex="${chosen ? 0 : -1}" aria-selected="${chosen}">` +
        `<td><input type="checkbox" data-pin="${row}" aria-label="pin row ${scenario.rows[row]}"` +
        `${state.pins.has(row) ? " checked" : ""}></td>` +
        `<th scope="row">${scenario.rows[row]}</th>${cells}</tr>`
    );
}

function draw_table() {
    const {scenario} = state,
        columns = table_columns(),
        units = columns.map(head_unit),
        {rows, unknown} = table_rows();
    document.querySelector("#pareto thead").innerHTML = head_html(columns, units);
    document.querySelector("#pareto tbody").innerHTML = rows
        .slice(0, view.shown)
        .map(row => row_html(row, columns, units))
        .join("");
    const all =
        scenario.n_rows > scenario.rows.length ? `; ${count(scenario.n_rows)} rows in the file, evenly thinned here` : "";
    document.getElementById("table-count").textContent =
        `${count(rows.length)} of ${count(scenario.rows.length)} rows${all}` +
        `${unknown.length ? `; not understood: ${unknown.join(" ")}` : ""}`;
    const more = document.getElementById("table-more");
    more.hidden = rows.length <= view.shown;
    more.textContent = `show all ${count(rows.length)}`;
    const constant = constant_columns();
    document.querySelector("#constant summary").textContent = `The same in every row: ${constant.length} knobs and metrics`;
    document.querySelector("#constant div").innerHTML = constant
        .map(
            column =>
                `<span title="${escape_html(column.meaning)}">${title(column.name)} <b>${cell(column, column.values[0])}` +
                `</b></span>`
        )
        .join("");
}

// Only what marks the chosen and the pinned rows.
function mark_table() {
    for (const line of document.querySelectorAll("#pareto tbody tr")) {
        const row = Number(line.dataset.row),
            chosen = row === state.row;
        line.setAttribute("aria-selected", chosen);
        line.tabIndex = chosen ? 0 : -1;
        line.querySelector("input").checked = state.pins.has(row);
    }
}

// ---- copying -------------------------------------------------------------------------------------------------------

function yaml(value, indent) {
    const pad = " ".repeat(indent);
    return Object.entries(value)
        .map(([key, member]) => {
            if (Array.isArray(member)) return `${pad}${key}: [${member.join(", ")}]\n`;
            if (member !== null && typeof member === "object") return `${pad}${key}:\n${yaml(member, indent + 2)}`;
            return `${pad}${key}: ${typeof member === "string" ? JSON.stringify(member) : member}\n`;
        })
        .join("");
}

// A study file of one candidate: everything is spelt out, so that no preset's change moves it.
async function row_study(row) {
    const {plan, hardware} = await row_details(row),
        {question} = state.scenario,
        name = `${DATA.title}-row-${state.scenario.rows[row]}`;
    return (
        `# Row ${state.scenario.rows[row]} of scenario ${state.scenario.name} of ${DATA.file}, as one candidate.\nstudy: ` +
        `${JSON.stringify(name)}\n` +
        `scenarios:\n  -\n${yaml(question, 4)}plan:\n${yaml(plan, 2)}hardware:\n${yaml(hardware, 2)}objectives: [` +
        `${DATA.objectives.join(", ")}]\n`
    );
}

function row_command(row) {
    const quoted = text => (/^[\w./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
    return (
        `cosweep explain ${quoted(DATA.file)} --scenario ${quoted(state.scenario.name)} --row ` +
        `${state.scenario.rows[row]}`
    );
}

async function offer(heading, text) {
    const dialog = document.getElementById("copy");
    dialog.querySelector("h2").textContent = heading;
    dialog.querySelector("pre").textContent = text;
    dialog.showModal();
    let copied = true;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const range = document.createRange(); // no clipboard for pages from a file here: select, and let people press Ctrl+C
        range.selectNodeContents(dialog.querySelector("pre"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        copied = document.execCommand("copy");
    }
    dialog.querySelector("p").textContent = copied ? "Copied to the clipboard." : "Selected; copy it with Ctrl+C.";
}

// ---- hands on ------------------------------------------------------------------------------------------------------

function step_row(by) {
    const lines = [...document.querySelectorAll("#pareto tbody tr")];
    const at = lines.findIndex(line => Number(line.dataset.row) === state.row),
        next = lines[Math.min(lines.length - 1, Math.max(0, at + by))];
    if (!next) return;
    choose_row(Number(next.dataset.row));
    next.focus();
}

function table_events() {
    const table = document.getElementById("pareto"),
        filter = document.getElementById("filter");
    table.addEventListener("click", ({target}) => {
        const sort = target.closest("[data-sort]"),
            line = target.closest("tr[data-row]");
        if (sort) {
            const name = sort.dataset.sort || null,
                again = view.sort === name;
            Object.assign(view, {sort: name, down: again ? !view.down : Boolean(name && state.scenario.column[name].high)});
            draw_table();
            table.querySelector(`[data-sort="${name || ""}"]`).focus();
        } else if (target.dataset.pin) toggle_pin(Number(target.dataset.pin));
        else if (line) choose_row(Number(line.dataset.row));
    });
    table.addEventListener("keydown", event => {
        const line = event.target.closest("tr[data-row]"),
            step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[event.key];
        if (!line || (event.target.tagName === "INPUT" && event.key === " ")) return;
        if (step) step_row(step);
        else if (event.key === "p") toggle_pin(Number(line.dataset.row));
        else if (event.key === "Enter") choose_row(Number(line.dataset.row));
        else return;
        event.preventDefault();
    });
    filter.addEventListener("input", () => {
        Object.assign(view, {filter: filter.value, shown: PAGE_ROWS});
        draw_table();
    });
    document.getElementById("every-column").addEventListener("change", ({target}) => {
        view.every = target.checked;
        draw_table();
    });
    document.getElementById("table-more").addEventListener("click", () => {
        view.shown = Infinity;
        draw_table();
    });
    document
        .getElementById("copy-study")
        .addEventListener("click", async () => offer("Study file of this row", await row_study(state.row)));
    document
        .getElementById("copy-command")
        .addEventListener("click", () => offer("Command line of this row", row_command(state.row)));
}
