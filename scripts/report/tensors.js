// How each tensor is cut: a rectangle with its shape, split lines by the ranks that cut it, one PE's share filled, and
// experts or sequences as sheets behind it (MODEL sections 5, 6 and 8).
"use strict";

const MOST_LINES = 16; // split lines drawn along a side; more ways are counted in words
const SHEET = 5; // offset of the sheets behind
let shards_labelled = false;

function ways(side) {
    return Object.values(side.cuts || {}).reduce((product, n) => product * n, 1);
}

function cut_text(side) {
    const cuts = Object.entries(side.cuts || {})
        .map(([by, n]) => `${title(by).replace("kv sharers", "KV sharers")} ${n}`)
        .join(" × ");
    return `${count(side.size)} ${side.of}${cuts ? ` ÷ ${cuts} = ${number(side.share, 6)}` : ""}`;
}

// PE of the i-th shard along a side, where ranks of one axis cut it; null where the placement does not say.
function shard_place(side, i, details) {
    const [by, second] = Object.keys(side.cuts || {}),
        axis = details.placement.find(one => one.axis === by);
    if (!axis || second || side.cuts[by] !== axis.ranks) return null;
    const pe = i * axis.stride,
        per = details.hardware.pes_per_cube;
    return `cube ${Math.floor(pe / per)} PE ${pe % per}`;
}

// Where the first and the last shard of a side are, as [shard, text]; nothing unless it is asked for.
function shard_labels(side, details) {
    const n = ways(side);
    if (!shards_labelled || n < 2) return [];
    return [0, n - 1].map(i => [i, shard_place(side, i, details)]).filter(([, text]) => text);
}

function tensor_svg(tensor, details, side_of) {
    const {rows, columns, stack} = tensor,
        w = side_of(columns.size),
        h = side_of(rows.size),
        sheets = stack ? Math.min(stack.size, 4) - 1 : 0;
    const x = 4,
        y = 4 + SHEET * sheets,
        lines = [],
        step = (n, length) => (n <= MOST_LINES ? length / n : 0);
    const across = ways(columns),
        down = ways(rows),
        dx = step(across, w),
        dy = step(down, h);
    for (let i = 1; dx && i < across; i++) lines.push(`M${x + i * dx} ${y}v${h}`);
    for (let i = 1; dy && i < down; i++) lines.push(`M${x} ${y + i * dy}h${w}`);
    const dense = (n, style) =>
        n > MOST_LINES ? `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="url(#${style})"/>` : "";
    const share = [Math.max(2.5, (w * columns.share) / columns.size), Math.max(2.5, (h * rows.share) / rows.size)];
    const behind = [...Array(sheets).keys()]
        .map(
            i =>
                `<rect x="${x + SHEET * (sheets - i)}" y="${y - SHEET * (sheets - i)}" width="${w}" height="${h}" ` +
                `class="sheet"/>`
        )
        .join("");
    const under = shard_labels(columns, details)
        .map(([, text]) => text)
        .join(ways(columns) > 2 ? " … " : " | ");
    const beside = shard_labels(rows, details).map(
        ([i, text]) =>
            `<text x="${x + w + SHEET * sheets + 4}" y="${y + ((i + 0.5) * h) / down + 3}" class="note tiny">${text}</text>`
    );
    return (
        `<svg viewBox="0 0 ${w + 8 + SHEET * sheets + 84} ${h + y + 18}" style="width:${w + 92 + SHEET * sheets}px" ` +
        `role="img" aria-label="${tensor.tensor}">${behind}` +
        `<rect x="${x}" y="${y}" width="${w}" height="${h}" class="sheet"/>${dense(across, "columns-cut")}` +
        `${dense(down, "rows-cut")}<path d="${lines.join("")}" class="split"/>` +
        `<rect x="${x}" y="${y}" width="${Math.min(w, share[0])}" height="${Math.min(h, share[1])}" class="share"/>` +
        `<text x="${x}" y="${y + h + 12}" class="note tiny">${under}</text>${beside.join("")}</svg>`
    );
}

function copies_text({copies}) {
    const on = ["tp", "cp", "dp"]
        .map((axis, a) => (copies[a] > 1 ? `${number(copies[a], 4)} ${title(axis)}` : ""))
        .filter(Boolean);
    return on.length ? `the same on ${on.join(" × ")} ranks` : "kept once";
}

function tensor_name(name) {
    const [letter, index] = name.split("_");
    return letter === "W" || index === "cache" ? `${letter}<sub>${index}</sub>` : name.replaceAll("_", " ");
}

function tensor_html(tensor, details, side_of) {
    const layer = tensor.layers > 1 ? `${tensor.layers} layers` : "once",
        window = tensor.window ? `, window ${count(tensor.window)}` : "";
    return (
        `<figure class="tensor"><figcaption><b>${tensor_name(tensor.tensor)}</b> <small>${layer}${window}</small>` +
        `</figcaption>${tensor_svg(tensor, details, side_of)}` +
        `<ul>${tensor.stack ? `<li>${cut_text(tensor.stack)}</li>` : ""}<li>${cut_text(tensor.rows)}</li>` +
        `<li>${cut_text(tensor.columns)}</li>` +
        `<li><b>${quantity(tensor.share_bytes, "bytes")}</b> of ${quantity(tensor.bytes, "bytes")}, ` +
        `${copies_text(tensor)}</li></ul></figure>`
    );
}

function draw_tensors(details) {
    const sizes = details.tensors.flatMap(tensor => [tensor.rows.size, tensor.columns.size]),
        top = Math.log(Math.max(...sizes));
    // Lengths grow slowly, or a vocabulary hides all else.
    const side_of = size => 16 + 104 * Math.pow(Math.log(Math.max(size, 1.5)) / top, 2.2);
    document.getElementById("tensors").innerHTML =
        `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>` +
        `<pattern id="columns-cut" width="4" height="4" patternUnits="userSpaceOnUse">` +
        `<path d="M3 0v4" class="split"/></pattern>` +
        `<pattern id="rows-cut" width="4" height="4" patternUnits="userSpaceOnUse"><path d="M0 3h4" class="split"/>` +
        `</pattern></defs></svg>` +
        `<label class="muted"><input type="checkbox" id="label-shards"${shards_labelled ? " checked" : ""}> label shards ` +
        `with cube and PE</label>` +
        `<div class="tensors">${details.tensors.map(tensor => tensor_html(tensor, details, side_of)).join("")}</div>`;
    document.getElementById("label-shards").addEventListener("change", ({target}) => {
        shards_labelled = target.checked;
        draw_tensors(details);
    });
}
