// SPDX-License-Identifier: GPL-2.0-or-later
// node page.mjs NPM FILE…: use pages of --format=html in a browser as a reader does, and print the findings for page.t as lines
// "FILE KEY: VALUE".

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [npm, ...files] = process.argv.slice(2);
const require = createRequire(join(npm, 'package.json'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
// page.t limits the whole time. By default puppeteer aborts a step after 180 s, but a busy host may need longer.
const browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'],
	protocolTimeout: 0 });

const say = (file, key, value) => console.log(`${file} ${key}: ${value}`);

// Print the faults that axe finds in both color schemes. First remove all frames of a flame graph but 200: the page makes all
// frames alike, and axe took 16 s for 10,000 frames on an idle host, over 180 s on a busy host.
async function accessibility(page, file) {
	await page.$$eval('#flame g.frame', (all) => all.slice(200).forEach((g) => g.remove()));
	for (const scheme of ['light', 'dark']) {
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
		// Run axe as a script of the page itself, because the page loads no script from elsewhere.
		await page.evaluate(axe);
		const { violations } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));

		say(file, `axe ${scheme}`, violations.map((v) => `${v.id} (${v.nodes[0].html.slice(0, 120)})`).join(', ') || 'nothing');
	}
}

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.textContent.trim()).join(' | '));
const widest = (page) => page.$$eval('#flame g.frame', (all) => {
	const most = Math.max(...all.map((g) => parseFloat(g.getAttribute('width'))));

	return all.filter((g) => parseFloat(g.getAttribute('width')) > most - 1).map((g) => g.__data__.data.name).join(' ');
});
const frame = (page, name) => page.evaluateHandle((wanted) =>
	[...document.querySelectorAll('#flame g.frame')].find((g) => g.__data__.data.name === wanted), name);

async function look(file) {
	const page = await browser.newPage();
	const wrong = [];

	page.on('pageerror', (e) => wrong.push(e.message));
	page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
	page.on('request', (r) => r.url().startsWith('file:') || r.url().startsWith('data:') || wrong.push(r.url()));
	await page.setViewport({ width: 1280, height: 900 });
	await page.goto(`file://${process.cwd()}/${file}`);
	say(file, 'title', await page.title());
	say(file, 'answer', await texts(page, '.answer'));
	say(file, 'sections', await texts(page, 'nav a'));
	await accessibility(page, file);
	if (await page.$('#flame'))
		await flame(page, file);
	if (await page.$('#functions'))
		await functions(page, file);
	if (await page.$('#attribution'))
		await tree(page, file);
	say(file, 'missing', await page.$eval('#data', (e) => JSON.parse(e.textContent).tables.map((t) => t.name)
		.filter((name) => !document.getElementById(name)).join()) || 'nothing');
	say(file, 'wrong', wrong.join('; ') || 'nothing');
	await page.close();
}

async function flame(page, file) {
	say(file, 'widest', await widest(page));
	const wanted = await frame(page, 'allocate_slab');

	if (!await wanted.evaluate((g) => !!g))
		return;
	await wanted.click();
	say(file, 'widest after a click', await widest(page));
	await page.click('#flame-graph button');
	await (await frame(page, 'allocate_slab')).evaluate((g) => g.focus());
	await page.keyboard.press('Enter');
	say(file, 'widest after Enter', await widest(page));
	await page.click('#flame-graph button');
	say(file, 'widest after Reset zoom', await widest(page));
	await page.type('#flame-graph input', 'extract_entropy');
	say(file, 'found', await page.$$eval('#flame rect', (all) => all.filter((r) => r.getAttribute('fill') === '#E600E6').length));
}

// Sort the table of functions by a click on its header, filter it, and open a function's distribution.
async function functions(page, file) {
	const first = '#functions tbody tr:first-child td:first-child';

	say(file, 'first function', await texts(page, first));
	const header = await page.$('#functions thead tr:last-child th:first-child button');

	await header.focus();
	await page.keyboard.press('Enter');
	say(file, 'first function by name', await texts(page, first));
	say(file, 'sorted', await page.$$eval('#functions th', (all) => all.map((th) => th.getAttribute('aria-sort')).filter(Boolean).join()));
	if (await page.$('#functions input')) {
		await page.type('#functions input', 'extract');
		say(file, 'filtered', await texts(page, '#functions tbody td:first-child'));
	}
	if (!await page.$('#functions tbody button.name'))
		return;
	await page.click('#functions tbody button.name');
	say(file, 'distribution of', await page.$eval('#distributions select', (s) => s.value));
	say(file, 'curves', await page.$$eval('#distributions path', (all) => all.length));
	say(file, 'an empty curve', await page.$$eval('#distributions path', (all) => all.some((p) => !p.getAttribute('d'))));
}

async function tree(page, file) {
	const rows = '#attribution tbody tr';
	const before = (await page.$$(rows)).length;

	await page.focus('#attribution button.fold');
	await page.keyboard.press('Space');
	say(file, 'rows of the tree, and folded', `${before > 3} ${(await page.$$(rows)).length}`);
	await page.keyboard.press('Space');
	say(file, 'unfolded as before', (await page.$$(rows)).length === before);
}

for (const file of files)
	await look(file);
await browser.close();
