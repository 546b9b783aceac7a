// Looks at the pages that report.sh wrote, in Debian's Chromium: node report.mjs FOLDER
import assert from "node:assert/strict";
import {readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";

const folder = process.argv[2],
    read = name => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const {chromium} = createRequire(`${process.env.NODE_PATH}/`)("playwright-core");
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
const show = read("show.json"),
    explain = read("explain.json"),
    compare = read("compare.json"),
    file = read("file.json");
const said = []; // by the console, by errors, and requests that leave the file

// A page that is there once its chosen row is drawn; `ready` is what to wait for.
async function open(name, {width = 1280, scheme = "light", hash = "", ready = "body[data-row]"} = {}) {
    const page = await browser.newPage({viewport: {width, height: 900}, colorScheme: scheme});
    page.on("console", message => said.push(`${name}: ${message.text()}`));
    page.on("pageerror", error => said.push(`${name}: ${error.stack}`));
    page.on(
        "request",
        request => /^(file|data|blob):/.test(request.url()) || said.push(`${name}: asks for ${request.url()}`)
    );
    await page.goto(`file://${folder}/${name}/index.html${hash}`);
    await page.waitForSelector(ready, {timeout: 20000});
    return page;
}

const text = (page, selector) => page.locator(selector).first().innerText();
const row = page => page.evaluate(() => document.body.dataset.row);
const becomes = (page, wanted) => page.waitForFunction(value => document.body.dataset.row === value, wanted);
const column = (page, index) =>
    page.$$eval("#pareto tbody tr", (lines, i) => lines.map(line => line.children[i].innerText), index);
// What a chart was given to draw, once it is in view.
async function series(page, id, name) {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    await page.waitForFunction(place => Boolean(echarts.getInstanceByDom(document.getElementById(place))), id);
    return page.evaluate(
        ([place, wanted]) =>
            echarts
                .getInstanceByDom(document.getElementById(place))
                .getOption()
                .series.find(one => one.name === wanted)
                .data.map(one => one.value ?? one),
        [id, name]
    );
}
const near = (a, b, tolerance = 1e-12) => assert.ok(Math.abs(a - b) <= tolerance * Math.abs(b), `${a} is not ${b}`);

const tests = {
    async "cards equal show"(page) {
        const {candidates, feasible, rows} = show.scenarios[0];
        assert.equal(await text(page, "#card-candidates"), candidates.toLocaleString("en-US"));
        assert.equal(await text(page, "#card-feasible"), feasible.toLocaleString("en-US"));
        assert.equal(await text(page, "#card-rows"), String(rows.length));
        assert.equal(await text(page, "#card-latency"), `${Number((rows[0].latency * 1e3).toPrecision(4))} ms`);
        assert.equal(await text(page, "#warnings"), "");
    },
    async "the front's points equal show"(page) {
        const points = await series(page, "chart-cost", "rows");
        show.scenarios[0].rows.forEach((one, i) => {
            near(points[i][0], one.latency * 1e3);
            near(points[i][1], one.cost);
        });
    },
    async "doubling, elasticities, curves and main effects equal the file"(page) {
        for (const [name, values] of [
            ["plan kept", file.kept],
            ["plan chosen again", file.chosen],
        ]) {
            const wanted = Object.values(values)
                    .map(value => value - 1)
                    .sort((a, b) => a - b),
                drawn = await series(page, "chart-doubling", name);
            [...drawn].sort((a, b) => a - b).forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-12));
        }
        await series(page, "chart-elasticity", "memory");
        const shares = await page.evaluate(() =>
            echarts
                .getInstanceByDom(document.getElementById("chart-elasticity"))
                .getOption()
                .series.map(one => one.data[0])
        );
        assert.deepEqual(shares, file.elasticity);
        near(
            shares.reduce((sum, share) => sum + share, 0),
            1,
            1e-9
        );
        const curve = await series(page, "chart-curve-tp", "fits");
        assert.deepEqual(
            curve.map(([tp]) => tp),
            file.tp.map(([tp]) => tp)
        );
        // Curves are kept as 32-bit floats.
        curve.forEach(([, latency], i) => near(latency / curve[0][1], file.tp[i][1] / file.tp[0][1], 1e-6));
        const drawn = await series(page, "chart-effects", "variance explained"),
            wanted = Object.values(file.effects).sort((a, b) => a - b);
        drawn.forEach((value, i) => near(value, wanted[i + wanted.length - drawn.length]));
    },
    async "a scenario and a row by address; stages, memory and totals equal explain"() {
        const page = await open("same", {hash: "#prefill-4k/2"});
        assert.equal(await row(page), "2");
        const shown = await page.$$eval("#stages tbody tr", lines => lines.map(line => line.children[2].innerText));
        const wanted = await page.evaluate(stages => stages.map(stage => quantity(stage.time_s, "s")), explain.stages);
        assert.deepEqual(shown, wanted);
        assert.equal(
            await text(page, "[data-total=latency]"),
            await page.evaluate(value => quantity(value, "s"), explain.latency_s)
        );
        assert.match(
            await text(page, "#memory"),
            new RegExp(`weights\\s${await page.evaluate(value => quantity(value, "bytes"), explain.memory.weights_bytes)}`)
        );
        await page.locator("[data-formulas]").nth(1).click();
        await page.waitForSelector("tr.detail code");
        assert.match(await text(page, "tr.detail"), /2\*up\(N,tm\)/);
        await page.locator("#copy-study").click();
        writeFileSync(`${folder}/copied.yaml`, await page.locator("#copy pre").innerText());
        await page.keyboard.press("Escape");
        await page.close();
    },
    async "rows sort both ways"(page) {
        const heads = await page.$$eval("#pareto thead th", all => all.map(one => one.innerText)),
            cost = heads.findIndex(head => head.startsWith("cost"));
        for (const sign of [1, -1]) {
            await page.locator('[data-sort="cost"]').click();
            const values = (await column(page, cost)).map(Number);
            assert.deepEqual(
                values,
                [...values].sort((a, b) => sign * (a - b))
            );
            assert.equal(values.length, show.scenarios[0].rows.length);
        }
        await page.locator('[data-sort=""]').click();
    },
    async "rows filter with units and words"(page) {
        const wanted = show.scenarios[0].rows
            .filter(one => one.latency < 5e-3 && one.hbm_bandwidth === 512e9)
            .map(one => String(one.row));
        await page.fill("#filter", "latency<5ms hbm_bandwidth=512GB/s");
        assert.deepEqual((await column(page, 1)).sort(), wanted.sort());
        await page.fill("#filter", "nonsense>1");
        assert.match(await text(page, "#table-count"), /not understood: nonsense>1/);
        await page.fill("#filter", "");
    },
    async "a click moves every panel"(page) {
        const panels = ["#baseline", "#say-doubling", "#stages tbody", "#machine-note", "#say-curve-tp"],
            before = [];
        const bars = await series(page, "chart-doubling", "plan kept");
        for (const panel of panels) before.push(await text(page, panel));
        const last = show.scenarios[0].rows.length - 1;
        await page.locator(`#pareto tr[data-row="${last}"] td`).nth(2).click();
        await becomes(page, String(last));
        for (const [i, panel] of panels.entries()) assert.notEqual(await text(page, panel), before[i], panel);
        assert.notDeepEqual(await series(page, "chart-doubling", "plan kept"), bars);
    },
    async "arrow keys walk the table"(page) {
        const last = Number(await row(page));
        await page.locator(`#pareto tr[data-row="${last}"]`).focus();
        await page.keyboard.press("ArrowUp");
        await becomes(page, String(last - 1));
        await page.keyboard.press("Home");
        await becomes(page, "0");
    },
    async "expert parallelism is refused with its reason"(page) {
        assert.match(await text(page, "#say-curve-ep"), /EP without experts/);
    },
    async "pinned rows stand side by side, the best marked"(page) {
        await page.locator('[data-pin="1"]').check();
        await page.locator('[data-pin="2"]').check();
        assert.equal(await page.locator("#compare thead th").count(), 4);
        const latency = await page.$$eval("#compare tbody tr:nth-child(2) td", cells => cells.map(cell => cell.className));
        assert.deepEqual(latency, ["best", "", ""]);
        await page.locator("#unpin").click();
        assert.ok(await page.locator("#section-compare").isHidden());
    },
    async "the command line names file, scenario and row"(page) {
        await page.locator("#copy-command").click();
        assert.equal(await text(page, "#copy pre"), "cosweep explain small.h5 --scenario decode-8k --row 0");
        await page.locator("#copy .close").click();
    },
    async "the machine and the tensors are drawn"(page) {
        assert.equal(await page.locator("#machine [data-pe]").count(), show.scenarios[0].rows[0].pes);
        assert.ok((await page.locator("#tensors figure").count()) >= 10);
    },
    async "a changed study is warned of; what changed equals compare"() {
        const page = await open("changed");
        assert.match(await text(page, "#warnings"), /changed\.yaml has changed/);
        const {gained, lost} = compare.scenarios[0];
        assert.equal(await text(page, "#card-change"), `+${gained} −${lost}`);
        await page.close();
    },
    async "narrow and wide, light and dark: nothing sticks out"() {
        const colours = new Set();
        for (const width of [400, 1280, 2560])
            for (const scheme of ["light", "dark"]) {
                const page = await open("same", {width, scheme});
                assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} px`);
                colours.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
                await page.close();
            }
        assert.equal(colours.size, 2);
    },
    async "it prints"(page) {
        assert.ok((await page.pdf({format: "A4"})).length > 50000);
    },
    async "nothing feasible: the refusals say why"() {
        const page = await open("none", {ready: "body[data-ready]"});
        assert.equal(await text(page, "#card-rows"), "0");
        assert.ok(await page.locator("#chart-refusals").isVisible());
        assert.ok(await page.locator("#section-table").isHidden());
        await page.close();
    },
    async "1,000 rows and 20,000 points are there; how soon is printed"() {
        const times = [];
        for (let i = 0; i < 3; i++) {
            // the best of three: the machine may do something else
            const page = await open("large");
            times.push(await page.evaluate(() => performance.now()));
            assert.match(await text(page, "#table-count"), /^1,000 of 1,000 rows; [12],\d\d\d rows in the file/);
            assert.match(await text(page, "#front-keys"), /20,000 of/);
            await page.close();
        }
        console.log(`a page of 1,000 rows: ${times.map(Math.round).join(", ")} ms`);
    },
};

let failed = 0;
const page = await open("same");
for (const [name, test] of Object.entries(tests)) {
    try {
        await test(page);
    } catch (error) {
        failed++;
        console.error(`report.mjs: ${name}: ${error.stack}`);
    }
}
await browser.close();
for (const line of said) console.error(`report.mjs: ${line}`);
console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed`);
process.exit(failed || said.length ? 1 : 0);
