// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph: an SVG that needs no other file. What its script does FlameGraph's does too: a click shows a frame as wide as
 * the page, Ctrl-F finds names by a regular expression, and what is too narrow to be seen is left out.
 */
#include <string.h>

#include "output/export/export.h"

/* Pixels. */
enum {
	WIDTH = 1200,
	MARGIN = 10,
	ROW = 16,
	HEAD = 40,
	FOOT = 30
};
#define INNER     (WIDTH - 2 * MARGIN)
#define CHARACTER 7.25 /* of a 12 pixel monospace font */
#define NARROWEST 0.1

/* Colors by kind, for red-green blindness too: the lightest, less a part of it by the name. */
static const uint8_t colors[][3] = {
	[ANALYZE_FRAME_OTHER] = { 170, 200, 235 },
	[ANALYZE_FRAME_KERNEL] = { 255, 170, 80 },
	[ANALYZE_FRAME_INLINED] = { 255, 230, 110 },
	[ANALYZE_FRAME_USER] = { 150, 215, 150 },
};

/* Each frame's place is in its attributes: begin and width in the recording's unit. */
static const char script[] =
	"const one = id => document.getElementById(id), frames = [...one('frames').children];\n"
	"const all = +frames[0].dataset.w;\n"
	"let found = null;\n"
	"const fit = (name, px) => { const n = Math.floor((px - 6) / character);\n"
	"  return n >= name.length ? name : n < 3 ? '' : name.slice(0, n - 2) + '..'; };\n"
	"function zoom(begin, width) {\n"
	"  for (const g of frames) {\n"
	"    const x = (g.dataset.x - begin) / width * inner, w = g.dataset.w / width * inner;\n"
	"    const left = Math.max(x, 0), right = Math.min(x + w, inner);\n"
	"    const [rect, text] = [g.children[1], g.children[2]];\n"
	"    g.style.display = right - left < 0.1 ? 'none' : '';\n"
	"    g.style.opacity = w > inner * 1.000001 ? 0.6 : 1;\n"
	"    rect.setAttribute('x', margin + left);\n"
	"    rect.setAttribute('width', Math.max(right - left, 0));\n"
	"    text.setAttribute('x', margin + left + 3);\n"
	"    text.textContent = fit(g.dataset.n, right - left);\n"
	"  }\n"
	"  one('reset').style.display = width < all ? '' : 'none';\n"
	"}\n"
	"function search(words) {\n"
	"  let sum = 0, end = -1;\n"
	"  try { found = words ? new RegExp(words) : null; } catch (e) { alert(e.message); return; }\n"
	"  const hits = frames.filter(g => found && found.test(g.dataset.n)), set = new Set(hits);\n"
	"  for (const g of frames) g.classList.toggle('hit', set.has(g));\n"
	"  /* What is above another hit is a part of it. */\n"
	"  for (const g of hits.sort((a, b) => a.dataset.x - b.dataset.x || b.dataset.w - a.dataset.w))\n"
	"    if (+g.dataset.x >= end) { sum += +g.dataset.w; end = +g.dataset.x + +g.dataset.w; }\n"
	"  one('matched').textContent = found ? 'Matched: ' + (100 * sum / all).toFixed(1) + ' %' : '';\n"
	"  one('search').textContent = found ? 'Clear search' : 'Search';\n"
	"}\n"
	"const ask = () => search(found ? '' : prompt('Regular expression to search for:'));\n"
	"const frame = e => e.target.closest('#frames > g');\n"
	"one('frames').onclick = e => { const g = frame(e); if (g) zoom(+g.dataset.x, +g.dataset.w); };\n"
	"one('frames').onmouseover = e => { const g = frame(e);\n"
	"  one('details').textContent = g ? g.children[0].textContent : ''; };\n"
	"one('frames').onmouseout = () => { one('details').textContent = ''; };\n"
	"one('reset').onclick = () => zoom(0, all);\n"
	"one('search').onclick = ask;\n"
	"document.onkeydown = e => {\n"
	"  if (e.key == 'Escape') zoom(0, all);\n"
	"  if (e.key == 'F3' || (e.ctrlKey && e.key == 'f')) { e.preventDefault(); ask(); }\n"
	"};\n";

static void write_escaped(FILE *out, const char *text, size_t n)
{
	for (; n-- && *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void write_text(FILE *out, const char *id, const char *anchor, double x, double y,
		       const char *text)
{
	fprintf(out, "<text id=\"%s\" text-anchor=\"%s\" x=\"%.0f\" y=\"%.0f\">", id, anchor, x, y);
	write_escaped(out, text, SIZE_MAX);
	fputs("</text>\n", out);
}

static void write_head(FILE *out, const struct export *e, double height)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
		"<style>text { font: 12px monospace; } #title { font-size: 16px; } "
		"#frames > g, #search, #reset { cursor: pointer; }\n"
		"#frames rect { stroke: #fff; stroke-width: 0.5; } #frames > g:hover rect { stroke: #000; } "
		"#frames .hit rect { fill: #d060d0; }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	write_text(out, "title", "middle", WIDTH / 2, HEAD / 2, e->title);
	write_text(out, "reset", "start", MARGIN, HEAD / 2, "");
	write_text(out, "search", "end", WIDTH - MARGIN, HEAD / 2, "");
	write_text(out, "details", "start", MARGIN, height - FOOT / 3, "");
	write_text(out, "matched", "end", WIDTH - MARGIN, height - FOOT / 3, "");
	fputs("<g id=\"frames\">\n", out);
}

struct bar {
	const char *label;
	enum analyze_frame_kind kind;
	double begin, width, all; /* in the recording's unit */
	double y;
};

static void write_bar(FILE *out, const struct export *e, const struct bar *bar)
{
	double x = MARGIN + bar->begin / bar->all * INNER, width = bar->width / bar->all * INNER;
	size_t n = strlen(bar->label), room = width > 6 ? (size_t)((width - 6) / CHARACTER) : 0;
	uint32_t part = 0;

	if (!(width >= NARROWEST))
		return;
	for (const char *c = bar->label; *c; c++)
		part = 31 * part + (uint8_t)*c;
	part = 100 - part % 5 * 4;
	fputs("<g data-n=\"", out);
	write_escaped(out, bar->label, SIZE_MAX);
	fprintf(out, "\" data-x=\"%.12g\" data-w=\"%.12g\"><title>", bar->begin, bar->width);
	write_escaped(out, bar->label, SIZE_MAX);
	fprintf(out, " (%.0f %s, %.2f %%)</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" ",
		bar->width, e->unit, 100 * bar->width / bar->all, x, bar->y, width);
	fprintf(out, "height=\"%d\" fill=\"#%02x%02x%02x\"/><text x=\"%.2f\" y=\"%.0f\">", ROW - 1,
		colors[bar->kind][0] * part / 100, colors[bar->kind][1] * part / 100,
		colors[bar->kind][2] * part / 100, x + 3, bar->y + 12);
	if (n <= room)
		write_escaped(out, bar->label, n);
	else if (room >= 3) {
		write_escaped(out, bar->label, room - 2);
		fputs("..", out);
	}
	fputs("</text></g>\n", out);
}

/* The depth of the deepest node that is wide enough to be seen. */
static uint32_t deepest_of(const struct export *e, const double *counts)
{
	double all = counts[2 * e->n_nodes];
	uint32_t deepest = 0;

	for (uint32_t i = 0; i < e->n_nodes; i++)
		if (e->nodes[i].depth > deepest && counts[2 * i] / all * INNER >= NARROWEST)
			deepest = e->nodes[i].depth;
	return deepest;
}

void export_write_svg(FILE *out, const struct export *e)
{
	scoped_free double *counts = export_counts(e);
	double all = counts[2 * e->n_nodes], begin = 0;
	double height = HEAD + FOOT + (deepest_of(e, counts) + 2.0) * ROW;
	double base = height - FOOT - ROW;
	uint32_t leaf = 0;

	write_head(out, e, height);
	write_bar(out, e, &(struct bar){ "all", ANALYZE_FRAME_OTHER, 0, all, all, base });
	for (uint32_t i = 0; i < e->n_nodes; i++) {
		const struct export_frame *frame = &e->frames[e->nodes[i].frame];

		write_bar(out, e,
			  &(struct bar){ frame->label, frame->kind, begin, counts[2 * i], all,
					 base - (e->nodes[i].depth + 1.0) * ROW });
		if (leaf < e->n_leaves && e->leaves[leaf].node == i)
			begin += e->leaves[leaf++].counts[0];
	}
	fprintf(out,
		"</g>\n<script><![CDATA[\nconst margin = %d, inner = %d, character = %g;\n%s"
		"one('reset').textContent = 'Reset zoom';\nsearch('');\nzoom(0, all);\n]]></script>\n</svg>\n",
		MARGIN, INNER, CHARACTER, script);
}
