// Numbers as people read them: 4 digits, a prefix, the unit (the twin of report/units.py), and columns from their packing.
"use strict";

let UNITS = {},
    WORDS = {}; // from the data

function title(name) {
    return name
        .split("_")
        .map(word => WORDS[word] || word)
        .join(" ");
}

function scaled(magnitude, units) {
    let [suffix, up, down] = UNITS[units] || [units, "", ""],
        factor = 1,
        prefix = "";
    magnitude = Math.abs(magnitude);
    if (units === "%") return [100, "%"];
    if (!isFinite(magnitude) || (units === "1" && magnitude < 1e6)) return [1, suffix];
    for (const step of up) if (magnitude >= 999.95) [magnitude, factor, prefix] = [magnitude / 1e3, factor / 1e3, step];
    for (const step of down)
        if (magnitude > 0 && magnitude < 0.99995) [magnitude, factor, prefix] = [magnitude * 1e3, factor * 1e3, step];
    return [factor, prefix + suffix];
}

function number(value, digits = 4) {
    const text = Number(value).toPrecision(digits);
    if (/e\+/.test(text)) return Number(value).toFixed(0);
    return /e-/.test(text) ? text.replace(/\.?0+e/, "e") : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function quantity(value, units) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const [factor, unit] = scaled(value, units);
    const text = number(value * factor, units === "1" && Number.isInteger(value) ? 6 : 4);
    return unit === "%" ? text + unit : (text + " " + unit).trim();
}

// `256 → 512 GB/s`: the unit once where both share it.
function change(before, after, units) {
    const texts = [quantity(before, units), quantity(after, units)],
        parts = texts.map(text => text.split(" "));
    const shared = parts[0].length === 2 && parts[1].length === 2 && parts[0][1] === parts[1][1];
    return `${shared ? parts[0][0] : texts[0]} → ${texts[1]}`;
}

function times(ratio) {
    return `${ratio >= 9.995 ? number(ratio, 3) : ratio.toFixed(2)}×`;
}

function count(n) {
    return Number(n).toLocaleString("en-US");
}

function plural(n, what) {
    return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

function per_cent(share) {
    return share >= 0.9995 || share === 0
        ? `${Math.round(share * 100)}%`
        : share < 0.001
          ? "<0.1%"
          : `${number(share * 100, 3)}%`;
}

function escape_html(text) {
    return String(text).replace(/[&<>"]/g, sign => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[sign]);
}

// The text of a value of a column as the file holds it: a word, or a number with its unit.
function cell(column, value) {
    return column.words ? column.words[value] : quantity(value, column.units);
}

const KINDS = {f8: Float64Array, f4: Float32Array, u1: Uint8Array, i4: Int32Array, i8: BigInt64Array};

function bytes_of(text) {
    const raw = atob(text),
        bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

// Every packed column in a value from JSON becomes a typed array, in place.
function unpack(value) {
    if (value === null || typeof value !== "object") return value;
    if (value.kind && typeof value.data === "string") return new KINDS[value.kind](bytes_of(value.data).buffer);
    for (const key of Object.keys(value)) value[key] = unpack(value[key]);
    return value;
}

// The text of one of the page's blobs (gzip in base64), or "" where the page has none of that name.
async function blob_text(name) {
    const element = document.getElementById(name);
    if (!element || !element.textContent) return "";
    const stream = new Blob([bytes_of(element.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const text = await new Response(stream).text();
    element.textContent = "";
    return text;
}
