// The machine drawn: PEs in cubes, cubes in SIPs, links as the topology has them, and which group of the plan sits where
// (MODEL section 3).
"use strict";

const MOST_PES = 4096; // drawn; the SIPs that follow look the same
const AXIS_NAME = {tp: "TP rank", cp: "CP rank", pp: "pipeline stage", dp: "DP replica"};
const AXIS_COLOUR = {tp: "#d6246e", cp: "#56b4e9", pp: "#009e73", dp: "#e69f00"};
const chosen_axis = {name: null, details: null, pe: 0};

// ---- where nodes of a level stand, and what links them -----------------------------------------------------------------

// Grids lie on their side: the longer extent goes across, so that pages scroll less.
function grid_of(n, topology) {
    let short = Math.floor(Math.sqrt(n));
    while (n % short) short--;
    const lines = [],
        stubs = [],
        long = n / short;
    if (topology === "mesh2d" || topology === "torus2d") {
        for (let i = 0; i < n; i++) {
            if (i % short < short - 1) lines.push([i, i + 1]);
            if (i + short < n) lines.push([i, i + short]);
            if (topology === "torus2d" && long > 2 && (i < short || i >= n - short)) stubs.push([i, i < short ? -1 : 1, 0]);
            if (topology === "torus2d" && short > 2 && (i % short === 0 || i % short === short - 1))
                stubs.push([i, 0, i % short === 0 ? -1 : 1]);
        }
        return {across: long, down: short, at: i => [Math.floor(i / short), i % short], lines, stubs, bus: null};
    }
    const across = short === 1 && n > 8 ? Math.ceil(Math.sqrt(2 * n)) : long,
        down = Math.ceil(n / across);
    if (topology === "ring") {
        // as a snake; its ends are joined
        for (let i = 0; i + 1 < n; i++) lines.push([i, i + 1]);
        const turned = (down - 1) % 2 === 1;
        if (n > 2) stubs.push([0, -1, 0], [n - 1, turned ? -1 : 1, 0]);
        return {
            across,
            down,
            at: i => [Math.floor(i / across) % 2 ? across - 1 - (i % across) : i % across, Math.floor(i / across)],
            lines,
            stubs,
            bus: null,
        };
    }
    return {
        across,
        down,
        at: i => [i % across, Math.floor(i / across)],
        lines,
        stubs,
        bus: topology === "full" ? "full" : "switch",
    };
}

// Links of a level: lines between neighbours, stubs where they wrap around, a bus under every row for switches.
function links_svg(grid, n, [x0, y0], [step_x, step_y], [width, height], weight) {
    const middle = i => {
        const [c, r] = grid.at(i);
        return [x0 + c * step_x + width / 2, y0 + r * step_y + height / 2];
    };
    const style = `class="link" style="stroke-width:${weight}"`;
    let path = "";
    for (const [i, j] of grid.lines) path += `M${middle(i)}L${middle(j)}`;
    for (const [i, dx, dy] of grid.stubs) {
        const [x, y] = middle(i);
        path += `M${x} ${y}l${dx * (width / 2 + 5)} ${dy * (height / 2 + 5)}`;
    }
    if (grid.bus && n > 1)
        for (let r = 0; r < grid.down; r++) {
            const y = y0 + r * step_y + height + (step_y - height) / 2,
                last = Math.min(grid.across, n - r * grid.across) - 1;
            path += `M${x0 + width / 2} ${y}L${x0 + Math.max(last, 0) * step_x + width / 2} ${y}`;
            for (let c = 0; c <= last; c++) path += `M${x0 + c * step_x + width / 2} ${y0 + r * step_y + height}V${y}`;
        }
    return path && `<path d="${path}" ${style}${grid.bus === "full" ? ' stroke-dasharray="3 2"' : ""}/>`;
}

// ---- ranks ---------------------------------------------------------------------------------------------------------

// Coordinates of a PE along the axes, or null where no rank sits.
function ranks_of(pe, placement) {
    const ranks = {};
    for (const {axis, ranks: n, stride} of [...placement].filter(one => one.ranks > 1).sort((a, b) => b.stride - a.stride)) {
        ranks[axis] = Math.floor(pe / stride);
        if (ranks[axis] >= n) return null;
        pe %= stride;
    }
    return pe === 0 ? ranks : null;
}

function rank_colour(rank, n) {
    return n <= SERIES_COLOUR.length ? SERIES_COLOUR[rank] : viridis(rank / (n - 1));
}

// ---- drawing -------------------------------------------------------------------------------------------------------

function cube_svg(machine, cube, [x, y]) {
    const {grid_pe, pes_per_cube, placement, axis} = machine,
        size = machine.pe_size,
        step = size + 4;
    let svg = links_svg(grid_pe, pes_per_cube, [x + 5, y + 5], [step, step], [size, size], 0.8);
    for (let i = 0; i < pes_per_cube; i++) {
        const pe = cube * pes_per_cube + i,
            ranks = pe < machine.span_pes ? ranks_of(pe, placement) : null,
            [c, r] = grid_pe.at(i);
        const fill = !ranks ? "none" : axis ? rank_colour(ranks[axis.axis], axis.ranks) : SERIES_COLOUR[0];
        svg +=
            `<rect data-pe="${pe}" x="${x + 5 + c * step}" y="${y + 5 + r * step}" width="${size}" height="${size}" ` +
            `rx="1.5" fill="${fill}"${ranks ? "" : ' class="idle"'}/>`;
    }
    return `<rect x="${x}" y="${y}" width="${machine.cube[0]}" height="${machine.cube[1]}" rx="3" class="box"/>${svg}`;
}

function sip_svg(machine, sip, [x, y]) {
    const {grid_cube, cubes_per_sip, cube} = machine,
        step = [cube[0] + 9, cube[1] + 9];
    let svg =
        `<rect x="${x}" y="${y}" width="${machine.sip[0]}" height="${machine.sip[1]}" rx="6" class="box sip"/>` +
        links_svg(grid_cube, cubes_per_sip, [x + 9, y + 16], step, cube, 1.6) +
        `<text x="${x + 9}" y="${y + 12}" class="note">SIP ${sip}</text>`;
    for (let i = 0; i < cubes_per_sip; i++) {
        const index = sip * cubes_per_sip + i,
            [c, r] = grid_cube.at(i);
        if (index < machine.cubes) svg += cube_svg(machine, index, [x + 9 + c * step[0], y + 16 + r * step[1]]);
    }
    return svg;
}

// Sizes of everything, from the inside out.
function measure(details) {
    const {hardware, layout, placement} = details,
        {pes_per_cube, cubes_per_sip, links} = hardware,
        per_sip = pes_per_cube * cubes_per_sip;
    const shown = Math.max(1, Math.min(layout.sips, Math.floor(MOST_PES / per_sip))),
        pe_size = per_sip * shown > 1200 ? 8 : 11;
    const grid_pe = grid_of(pes_per_cube, links.pe.topology),
        grid_cube = grid_of(cubes_per_sip, links.d2d.topology),
        grid_sip = grid_of(shown, links.c2c.topology);
    const cube = [grid_pe.across * (pe_size + 4) + 6, grid_pe.down * (pe_size + 4) + 6 + (grid_pe.bus ? 2 : 0)];
    const sip = [grid_cube.across * (cube[0] + 9) + 9, grid_cube.down * (cube[1] + 9) + 16];
    return {
        placement,
        pes_per_cube,
        cubes_per_sip,
        links,
        shown,
        pe_size,
        grid_pe,
        grid_cube,
        grid_sip,
        cube,
        sip,
        sips: layout.sips,
        cubes: Math.max(layout.cubes, Math.ceil(layout.used / pes_per_cube)),
        span_pes: layout.sips * per_sip,
        axis: placement.find(one => one.axis === chosen_axis.name && one.ranks > 1),
    };
}

function machine_keys({placement, axis}) {
    const groups = placement
        .filter(one => one.ranks > 1)
        .map(({axis: name, ranks, span}) => ({
            shape: "square outline",
            colour: AXIS_COLOUR[name],
            text:
                `${title(name)} group of the marked PE: ${ranks} ranks, ` +
                `${["PE", "cube", "SIP"].map((what, l) => plural(span[l], what)).join(" × ")}`,
        }));
    const n = axis ? axis.ranks : 0,
        ramp =
            n > SERIES_COLOUR.length
                ? [
                      {
                          shape: "ramp",
                          colour: `linear-gradient(90deg,${[...Array(9).keys()].map(i => viridis(i / 8)).join(",")})`,
                          text: `${AXIS_NAME[axis.axis]} 0 to ${n - 1}`,
                      },
                  ]
                : [...Array(n).keys()].map(rank => ({
                      shape: "square",
                      colour: rank_colour(rank, n),
                      text: `${AXIS_NAME[axis.axis]} ${rank}`,
                  }));
    legend("machine-keys", [...ramp, ...groups]);
}

function draw_machine(details) {
    const choice = document.getElementById("axis"),
        spread = details.placement.filter(one => one.ranks > 1).map(one => one.axis);
    if (!spread.includes(chosen_axis.name)) chosen_axis.name = spread.includes("cp") ? "cp" : spread[0] || null;
    choice.innerHTML = spread
        .map(name => `<option value="${name}"${name === chosen_axis.name ? " selected" : ""}>${AXIS_NAME[name]}</option>`)
        .join("");
    chosen_axis.details = details;
    const machine = measure(details),
        {grid_sip, sip, shown, links} = machine,
        step = [sip[0] + 16, sip[1] + 16];
    const width = grid_sip.across * step[0] + 16,
        height = grid_sip.down * step[1] + 16;
    let svg = links_svg(grid_sip, shown, [12, 12], step, sip, 2.4);
    for (let i = 0; i < shown; i++) {
        const [c, r] = grid_sip.at(i);
        svg += sip_svg(machine, i, [12 + c * step[0], 12 + r * step[1]]);
    }
    const levels = [
        ["PEs", "pe", machine.pes_per_cube, "cube"],
        ["cubes", "d2d", machine.cubes_per_sip, "SIP"],
        ["SIPs", "c2c", machine.sips, "machine"],
    ];
    document.getElementById("machine-note").textContent =
        levels.map(([what, link, n, of]) => `${n} ${what} per ${of}, ${title(links[link].topology)}`).join(" · ") +
        (shown < machine.sips ? ` · the first ${shown} SIPs are drawn` : "");
    document.getElementById("machine").innerHTML =
        `<svg viewBox="0 0 ${width} ${height}" style="max-width:${1.15 * width}px;min-width:${Math.min(width, 460)}px" ` +
        `role="img" aria-label="machine with ${machine.sips} SIPs">${svg}</svg>`;
    machine_keys(machine);
    mark_groups(chosen_axis.pe);
}

// Outlines of all groups that a PE belongs to: the ranks that differ from it along one axis only.
function mark_groups(pe) {
    const {placement} = chosen_axis.details,
        own = ranks_of(pe, placement) || ranks_of(0, placement);
    for (const square of document.querySelectorAll("#machine [data-pe]")) {
        const ranks = ranks_of(Number(square.dataset.pe), placement),
            apart = ranks ? Object.keys(own).filter(axis => ranks[axis] !== own[axis]) : null;
        const colour = !ranks || apart.length > 1 ? "" : apart.length === 0 ? css("--ink") : AXIS_COLOUR[apart[0]];
        square.style.stroke = colour;
        square.style.strokeWidth = colour ? 2 : "";
    }
}

function machine_events() {
    const place = document.getElementById("machine");
    document.getElementById("axis").addEventListener("change", ({target}) => {
        chosen_axis.name = target.value;
        draw_machine(chosen_axis.details);
    });
    place.addEventListener("pointerover", ({target}) => {
        if (!target.dataset.pe) return;
        const pe = Number(target.dataset.pe),
            {placement, hardware} = chosen_axis.details,
            ranks = ranks_of(pe, placement),
            cube = Math.floor(pe / hardware.pes_per_cube);
        target.innerHTML =
            `<title>PE ${pe % hardware.pes_per_cube} of cube ${cube}, SIP ${Math.floor(cube / hardware.cubes_per_sip)}: ` +
            `${
                ranks
                    ? Object.entries(ranks)
                          .map(([axis, rank]) => `${AXIS_NAME[axis]} ${rank}`)
                          .join(", ") || "the only rank"
                    : "idle"
            }</title>`;
    });
    place.addEventListener("click", ({target}) => {
        if (!target.dataset.pe) return;
        chosen_axis.pe = Number(target.dataset.pe);
        mark_groups(chosen_axis.pe);
    });
}
