// SPDX-License-Identifier: GPL-2.0-or-later
// The page of --format=html. src/view/page/html.c writes its data into #data. Names are inserted as text only, so that a
// recording cannot add markup.

import { select } from 'd3-selection';
import { flamegraph } from 'd3-flame-graph';
import 'd3-flame-graph/dist/d3-flamegraph.css';
import './page.css';

const data = JSON.parse(document.getElementById('data').textContent);
const page = document.getElementById('page');
const plural = (n, one, many) => (n === 1 ? one : many);
const SIDES = ['baseline', 'hardened'];
const two = data.sides === 2;

// element('td', { class: 'text' }, 'clone', child…)
function element(name, attributes = {}, ...content) {
	const e = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			e.addEventListener(key, value);
		else if (value !== undefined)
			e.setAttribute(key, value);
	}
	e.append(...content);
	return e;
}

function shape(name, attributes, text) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);

	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

const sections = [];
function section(id, title, ...content) {
	const heading = element('h2', { id: `${id}-title` }, title);
	const s = element('section', { id, 'aria-labelledby': heading.id }, heading, ...content);

	sections.push({ id, title: title.replace(/[,;:].*/, '') });
	page.append(s);
	return s;
}

// ---- the answer ----

function writeHead() {
	const blocks = data.head.trim().split(/\n\n+/).map((block) => block.split('\n'));
	const command = data.schema.replace(/-/, ' ').replace(/\/.*/, '');
	const [answer = [], ...rest] = blocks;

	document.title = `${answer[0] || 'A recording'} · ${command}`;
	page.append(element('h1', {}, command));
	// The text has causes indented.
	for (const line of answer)
		page.append(element('p', { class: line.startsWith(' ') ? 'answer cause' : 'answer' }, line.trim()));
	for (const line of rest.flat()) {
		const warning = line.startsWith('warning: ');

		page.append(element('p', { class: warning ? 'warning' : 'facts' }, line));
	}
	page.append(element('nav', { 'aria-label': 'Sections' }));
}

function writeNavigation() {
	const nav = page.querySelector('nav');

	for (const { id, title } of sections)
		nav.append(element('a', { href: `#${id}` }, title));
}

// ---- tables ----

const valueOf = (cell) => (Array.isArray(cell) ? cell[0] : cell);
const textOf = (cell) => (cell === null ? '–' : Array.isArray(cell) ? cell[1] : cell);
const levelOf = (row) => (typeof row[0] === 'string' ? row[0].search(/\S|$/) / 2 : 0);

// Return the columns with values; of those marked "varies", only columns with different values.
function columnsOf(table) {
	return table.columns.map((column, i) => ({ ...column, i })).filter(({ i, varies }) => {
		const values = new Set(table.rows.map((row) => valueOf(row[i])));

		values.delete(null);
		return values.size > (varies && table.rows.length > 1 ? 1 : 0);
	});
}

function compare(a, b) {
	if (a === null || b === null)
		return (a === null) - (b === null);
	return typeof a === 'number' ? b - a : a < b ? -1 : +(a > b);
}

class Table {
	constructor(table) {
		this.table = table;
		this.columns = columnsOf(table);
		this.first = Math.max(table.first, 12);
		this.isTree = table.rows.some((row) => levelOf(row) > 0);
		this.folded = new Set();
		this.rows = table.rows;
		this.filter = '';
		this.all = this.isTree;
		this.by = null;
		this.body = element('tbody');
		this.more = element('button', { type: 'button', click: () => this.show(!this.all) });
		this.status = element('span', { class: 'note', role: 'status' });
	}

	show(all) {
		this.all = all;
		this.draw();
	}

	sort(column) {
		const down = this.by === column.i && !this.down;

		this.by = column.i;
		this.down = down;
		this.rows = [...this.table.rows].sort((a, b) =>
			(down ? -1 : 1) * compare(valueOf(a[column.i]), valueOf(b[column.i])));
		this.heads.forEach(({ th, i }) => {
			if (i === column.i)
				th.setAttribute('aria-sort', (column.text !== down) ? 'ascending' : 'descending');
			else
				th.removeAttribute('aria-sort');
		});
		this.draw();
	}

	// Return the rows to show. A tree in its own order lacks those below a folded row.
	visible() {
		let hidden = Infinity;
		let rows = this.rows;

		if (this.filter)
			rows = rows.filter((row) => row.some((cell) => String(textOf(cell)).toLowerCase().includes(this.filter)));
		if (!this.isTree || this.by !== null || this.filter)
			return rows;
		return rows.filter((row) => {
			const level = levelOf(row);

			if (level > hidden)
				return false;
			hidden = this.folded.has(row) ? level : Infinity;
			return true;
		});
	}

	hasBelow(row) {
		const i = this.rows.indexOf(row);

		return i + 1 < this.rows.length && levelOf(this.rows[i + 1]) > levelOf(row);
	}

	foldButton(row) {
		const folded = this.folded.has(row);

		return element('button', {
			type: 'button', class: 'fold', 'aria-expanded': String(!folded), 'aria-label': `Parts of ${row[0].trim()}`,
			click: () => {
				this.folded[folded ? 'delete' : 'add'](row);
				this.draw();
				[...this.body.querySelectorAll('button.fold')].find((b) =>
					b.getAttribute('aria-label') === `Parts of ${row[0].trim()}`)?.focus();
			},
		}, folded ? '▸' : '▾');
	}

	cell(row, column, first) {
		const cell = row[column.i];
		const td = element('td', { class: column.text ? 'text' : column.share ? 'share' : undefined });

		if (column.share && cell !== null)
			td.style.setProperty('--part', `${Math.min(100, Math.abs(cell[0]) * 100)}%`);
		if (first && this.isTree && this.by === null && !this.filter) {
			td.append(cell.slice(0, 2 * levelOf(row)), this.hasBelow(row) ? this.foldButton(row) : '   ', cell.trimStart());
		} else if (first && distributions.has(cell)) {
			td.append(element('button', { type: 'button', class: 'name', click: () => distributions.show(cell, row) }, cell));
		} else {
			td.append(textOf(cell));
		}
		return td;
	}

	draw() {
		const rows = this.visible();
		const shown = this.all ? rows : rows.slice(0, this.first);

		this.body.replaceChildren(...shown.map((row) =>
			element('tr', {}, ...this.columns.map((column, i) => this.cell(row, column, i === 0)))));
		this.more.hidden = rows.length <= this.first || this.isTree;
		this.more.textContent = this.all ? 'Show fewer' : `Show all ${rows.length}`;
		this.status.textContent = this.filter ? `${rows.length} of ${this.rows.length} rows` : '';
	}

	// Make two rows of headers if columns belong to sides.
	head() {
		const groups = element('tr');
		const names = element('tr');

		this.heads = this.columns.map((column) => {
			const { i, text, header } = column;
			const th = element('th', { class: text ? 'text' : undefined, scope: 'col' },
				element('button', { type: 'button', click: () => this.sort(column) }, header));

			names.append(th);
			return { i, th };
		});
		if (!this.columns.some((column) => column.group))
			return element('thead', {}, names);
		for (let i = 0, n; i < this.columns.length; i += n) {
			const { group } = this.columns[i];

			for (n = 1; this.columns[i + n]?.group === group && i + n < this.columns.length; n++)
				;
			groups.append(element(group ? 'th' : 'td', { class: 'side', colspan: n, scope: group ? 'colgroup' : undefined },
				group ? group.toUpperCase() : ''));
		}
		return element('thead', {}, groups, names);
	}

	element() {
		const { table } = this;
		const tools = element('div', { class: 'tools' });
		const input = element('input', {
			type: 'search', placeholder: 'Filter', 'aria-label': `Filter ${table.title || table.name}`,
			input: () => {
				this.filter = input.value.toLowerCase();
				this.draw();
			},
		});

		if (table.rows.length > this.first)
			tools.append(input, this.status);
		const result = element('div', {}, tools,
			element('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': table.title || table.name },
				element('table', {}, this.head(), this.body)), this.more);

		if (table.all > table.rows.length)
			result.append(element('p', { class: 'note' },
				`${table.all - table.rows.length} more ${plural(table.all - table.rows.length, 'row is', 'rows are')} in --format=csv --section=${table.name}`));
		this.draw();
		return result;
	}
}

function writeTable(table) {
	const title = table.title || table.name[0].toUpperCase() + table.name.slice(1);
	const content = [];

	if (table.all)
		content.push(new Table(table).element());
	if (table.legend)
		content.push(element('p', { class: 'note' }, `${table.legend}.`));
	if (table.text)
		content.push(table.all ? element('p', { class: 'note' }, table.text.trim()) :
			element('pre', { tabindex: 0 }, table.text.trimEnd()));
	if (table.closed) {
		const details = element('details', {}, element('summary', {}, title), ...content);

		return section(table.name, title.replace(/[,;(].*/, ''), details);
	}
	return section(table.name, title, ...content);
}

// ---- distributions ----

const distributions = {
	byName: new Map(),

	init() {
		for (const d of data.distributions || []) {
			const rows = this.byName.get(d.name) || [];

			rows.push(d);
			this.byName.set(d.name, rows);
		}
	},

	has(name) {
		return this.byName.has(name);
	},

	// Sum up the distributions of a side. Return a list of [low, high, part of all calls].
	sum(name, context, side) {
		const buckets = new Map();
		let calls = 0;

		for (const d of this.byName.get(name)) {
			if (d.side !== side || (context !== '*' && d.context !== context))
				continue;
			for (const [low, high, count] of d.buckets) {
				buckets.set(low, [low, high, (buckets.get(low)?.[2] || 0) + count]);
				calls += count;
			}
		}
		return [...buckets.values()].sort((a, b) => a[0] - b[0]).map(([low, high, count]) => [low, high, count / calls]);
	},

	contexts(name) {
		const all = [...new Set(this.byName.get(name).map((d) => d.context))];

		return all.length > 1 ? ['*', ...all] : all;
	},

	write() {
		if (!this.byName.size)
			return;
		this.name = element('select', { 'aria-label': 'Syscall or function', change: () => this.choose(this.name.value) });
		this.context = element('select', { 'aria-label': 'Syscall that it is called in', change: () => this.draw() });
		for (const name of this.byName.keys())
			this.name.append(element('option', { value: name }, name));
		this.plot = element('div');
		const key = element('span', { class: 'key note' });

		for (let i = 0; i < data.sides; i++)
			key.append(element('span', { style: `--color: var(--${SIDES[two ? i : 0]})` }, two ? SIDES[i] : 'calls'));
		section('distributions', 'Distribution of the time of a call',
			element('div', { class: 'tools' }, this.name, this.context, key), this.plot,
			element('p', { class: 'note' }, 'Share of the calls, by on-CPU time less probe cost.'));
		this.choose(this.name.value);
	},

	choose(name, context) {
		const contexts = this.contexts(name);

		this.name.value = name;
		this.context.replaceChildren(...contexts.map((c) =>
			element('option', { value: c ?? '' }, c === '*' ? 'in all syscalls' : c ? `in ${c}` : '')));
		this.context.hidden = contexts[0] === null;
		if (context && contexts.includes(context))
			this.context.value = context;
		this.draw();
	},

	show(name, row) {
		this.choose(name, row.find((cell) => typeof cell === 'string' && this.contexts(name).includes(cell)));
		document.getElementById('distributions').scrollIntoView();
		this.name.focus();
	},

	draw() {
		const context = this.contexts(this.name.value)[0] === null ? null : this.context.value;
		const sides = SIDES.slice(0, data.sides).map((_, side) => this.sum(this.name.value, context, side));

		this.plot.replaceChildren(histogram(sides, `Calls of ${this.name.value}`));
	},
};

const format = new Intl.NumberFormat('en');
// JavaScript's integers are exact up to 2^53. From 10^15 on, show four digits, as tables do.
const number = (v) => (Math.abs(v) < 1e15 ? format.format(v) : v.toExponential(3));
const time = (v) => (data.unit === 'ns' ? (v < 1e3 ? `${v} ns` : v < 1e6 ? `${v / 1e3} us` : v < 1e9 ? `${v / 1e6} ms` : `${number(v / 1e9)} s`) :
	number(v));

// Return about MOST multiples, between LOW and HIGH, of 1, 2 or 5 times a power of ten.
function steps(low, high, most) {
	const ten = 10 ** Math.floor(Math.log10((high - low) / most || 1));
	const step = [1, 2, 5, 10].map((s) => s * ten).find((s) => (high - low) / s <= most) || 1;
	const first = Math.ceil(low / step);

	return Array.from({ length: Math.min(most, Math.floor(high / step) - first) + 1 }, (_, i) => (first + i) * step);
}

// Return ticks of a logarithmic scale: powers of ten if there are at least three, else steps.
function ticks(low, high, most) {
	const powers = steps(Math.log10(low), Math.log10(high), most).filter(Number.isInteger);

	return powers.length < 3 ? steps(low, high, most) : powers.map((power) => 10 ** power);
}

// Draw both sides in one plot, with times on a logarithmic scale.
function histogram(sides, label) {
	const width = 900, height = 260, left = 50, bottom = 30;
	const all = sides.flat();
	const svg = shape('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });

	if (!all.length)
		return svg;
	const low = Math.log(Math.max(1, Math.min(...all.map((b) => b[0]))) * 0.9);
	const high = Math.log(Math.max(...all.map((b) => b[1])) * 1.1);
	const top = Math.max(...all.map((b) => b[2]));
	const x = (v) => left + (Math.log(Math.max(1, v)) - low) / (high - low) * (width - left - 10);
	const y = (v) => height - bottom - v / top * (height - bottom - 12);
	const line = (x1, y1, x2, y2) => svg.append(shape('line', { class: 'axis', x1, y1, x2, y2 }));

	line(left, y(0), width - 10, y(0));
	line(left, y(0), left, y(top));
	svg.append(shape('text', { x: left - 6, y: y(top) + 8, 'text-anchor': 'end', 'font-size': 12 }, `${(top * 100).toFixed(0)} %`));
	for (const v of ticks(Math.exp(low), Math.exp(high), 6)) {
		line(x(v), y(0), x(v), y(0) + 4);
		svg.append(shape('text', { x: x(v), y: height - 8, 'text-anchor': 'middle', 'font-size': 12 }, time(v)));
	}
	sides.forEach((buckets, side) => {
		let d = '', end = null;

		for (const [from, to, part] of buckets) {
			if (end !== null && end !== from)
				d += `V${y(0)}H${x(from)}`;
			d += (d ? 'V' : `M${x(from)} ${y(0)}V`) + `${y(part)}H${x(to)}`;
			end = to;
		}
		svg.append(shape('path', { d: d && `${d}V${y(0)}`, stroke: `var(--${SIDES[side]})`, 'stroke-dasharray': two && !side ? '6 3' : 'none' }));
	});
	return svg;
}

// ---- flame graph ----

function treeOf({ frames, nodes, all }) {
	const [rootChange, ...rootSides] = all;
	const root = { name: 'all', change: rootChange, sides: rootSides, children: [] };
	const made = [];

	for (const [parent, frame, width, change, ...sides] of nodes) {
		const node = { name: frames[frame], value: width, change, sides, children: [] };
		const above = parent < 0 ? root : made[parent];

		above.children.push(node);
		made.push(node);
	}
	root.value = root.children.reduce((sum, child) => sum + child.value, 0);
	return root;
}

// Return orange if the hardened side has more, blue if it has less; the smaller the relative change, the more grey.
function colorOf(node) {
	const GREY = [216, 216, 216], MORE = [240, 140, 50], LESS = [90, 155, 225];

	if (!two)
		return node.name.endsWith('(inlined)') ? '#f2c07a' : node.name.startsWith('[') ? '#c9cfd6' : '#f0a35e';
	return `rgb(${(node.change > 0 ? MORE : LESS).map((c, i) => Math.round(GREY[i] + (c - GREY[i]) * Math.abs(node.change)))})`;
}

function describe(node, root) {
	const share = (i) => (100 * node.sides[i] / (root.sides[i] || 1)).toFixed(2);
	const count = (v) => number(Math.round(v));
	const unit = plural(Math.round(node.sides[two ? 1 : 0]), data.stacks.unit.slice(0, -1), data.stacks.unit);

	if (!two)
		return `${node.name}: ${count(node.sides[0])} ${unit} per run, ${share(0)} %`;
	return `${node.name}: ${count(node.sides[0])} → ${count(node.sides[1])} ${unit} per run ` +
		`(${share(0)} % → ${share(1)} %)`;
}

function writeFlame() {
	if (!data.stacks)
		return;
	const root = treeOf(data.stacks);
	const line = element('p', { class: 'note', role: 'status' }, describe(root, root));
	const into = element('div', { id: 'flame' });
	const search = element('input', {
		type: 'search', placeholder: 'Search functions', 'aria-label': 'Search functions',
		input: () => (search.value ? chart.search(search.value) : chart.clear()),
	});
	const reset = element('button', { type: 'button', click: () => chart.resetZoom() }, 'Reset zoom');

	section('flame-graph', two ? 'Differential flame graph' : 'Flame graph',
		element('div', { class: 'tools' }, search, reset), into, line);
	if (data.stacks.left_out)
		into.after(element('p', { class: 'note' }, `${number(data.stacks.left_out)} narrower frames are left out.`));
	if (two)
		into.after(element('p', { class: 'note' }, 'Orange: more on the hardened side; blue: less; ' +
			(data.stacks.exact ? '' : 'grey: no difference, or one within two standard errors of the samples; ') +
			'widths are those of the side that has more'));
	const chart = flamegraph()
		.width(into.clientWidth || 1100)
		.cellHeight(19)
		.minFrameSize(1)
		.inverted(false)
		.sort(true)
		.selfValue(false)
		.transitionDuration(0)
		.setLabelHandler((d) => describe(d.data, root))
		.setDetailsElement(line)
		.setColorMapper((d, original) => (d.highlight ? original : colorOf(d.data)))
		.onClick(() => makeReachable(into, root));

	select(into).datum(root).call(chart);
	makeReachable(into, root);
	window.addEventListener('resize', () => {
		chart.width(into.clientWidth).update();
		makeReachable(into, root);
	});
}

// Make frames that are wide enough to read reachable and zoomable by keyboard, and describe them for screen readers.
function makeReachable(into, root) {
	into.querySelector('svg').setAttribute('aria-label', 'Flame graph: a frame is as wide as its share');
	into.querySelector('svg').setAttribute('role', 'group');
	for (const g of into.querySelectorAll('g.frame')) {
		const node = g.__data__?.data;

		if (!node || parseFloat(g.getAttribute('width')) < 60)
			continue;
		g.setAttribute('tabindex', 0);
		g.setAttribute('role', 'button');
		g.setAttribute('aria-label', describe(node, root));
		g.onkeydown = (event) => {
			if (event.key === 'Enter')
				g.dispatchEvent(new MouseEvent('click', { bubbles: true }));
		};
	}
}

// ---- all of it ----

writeHead();
distributions.init();
data.tables.filter((table) => table.answer).forEach(writeTable);
writeFlame();
distributions.write();
data.tables.filter((table) => !table.answer && !table.closed).forEach(writeTable);
data.tables.filter((table) => table.closed).forEach(writeTable);
writeNavigation();
