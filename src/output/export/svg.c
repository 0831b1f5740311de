// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph in one self-contained SVG. Its script works as FlameGraph's: a click zooms into a frame, and Ctrl-F searches names
 * by a regular expression. Frames that are too narrow to be seen are left out.
 */
#include <math.h>
#include <string.h>

#include "output/export/export.h"
#include "output/text.h"

/* Sizes in pixels. The graph is WIDTH wide until its script adapts it to the window. */
enum {
	WIDTH = 1200,
	MARGIN = 10,
	ROW = 16,
	HEAD = 76,
	FOOT = 30
};
#define INNER     (WIDTH - 2 * MARGIN)
#define CHARACTER 7.25 /* width of a character in a 12 pixel monospace font */

struct color {
	const char *of;
	uint8_t rgb[3];
};

/* Lightest color of each kind of frame. The name selects one of 5 shades. The kinds differ for red-green blind people, too. */
static const struct color kinds[] = {
	[ANALYZE_FRAME_OTHER] = { "syscall or other context", { 170, 200, 235 } },
	[ANALYZE_FRAME_KERNEL] = { "kernel (_[k] in folded stacks)", { 255, 170, 80 } },
	[ANALYZE_FRAME_INLINED] = { "inlined (_[i])", { 255, 230, 110 } },
};

/* Change of a frame between two recordings. */
enum {
	SAME,
	MORE,
	LESS
};
static const struct color changes[] = {
	[SAME] = { "no significant change", { 216, 216, 216 } },
	[MORE] = { "more on the hardened side", { 240, 140, 50 } },
	[LESS] = { "less", { 90, 155, 225 } },
};

/* Script of the SVG. A frame's attributes data-x and data-w are its begin and width, in the recording's unit. */
static const char script[] =
	"const one = id => document.getElementById(id), frames = [...one('frames').children];\n"
	"const all = +frames[0].dataset.w, svg = document.documentElement;\n"
	"let found = null, inner, begin = 0, width = all;\n"
	"const fit = (name, px) => { const n = Math.floor((px - 6) / character);\n"
	"  return n >= name.length ? name : n < 3 ? '' : name.slice(0, n - 2) + '..'; };\n"
	"function zoom(from, by) {\n"
	"  [begin, width] = [from, by];\n"
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
	"/* As wide as the window. */\n"
	"function fill() {\n"
	"  svg.setAttribute('width', '100%');\n"
	"  const wide = Math.max(svg.getBoundingClientRect().width, 20 * margin);\n"
	"  svg.setAttribute('viewBox', `0 0 ${wide} ${svg.getAttribute('height')}`);\n"
	"  inner = wide - 2 * margin;\n"
	"  zoom(begin, width);\n"
	"}\n"
	"function search(words) {\n"
	"  let sum = 0, end = -1;\n"
	"  try { found = words ? new RegExp(words) : null; } catch (e) { alert(e.message); return; }\n"
	"  const hits = frames.filter(g => found && found.test(g.dataset.n)), set = new Set(hits);\n"
	"  for (const g of frames) g.classList.toggle('hit', set.has(g));\n"
	"  /* A frame above another one is a part of it. */\n"
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
	"window.onresize = fill;\n"
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

/* Write a text element. X is a position in SVG: pixels, or "50%". */
static void write_text(FILE *out, const char *id, const char *anchor, const char *x, double y,
		       const char *text)
{
	fprintf(out, "<text id=\"%s\" text-anchor=\"%s\" x=\"%s\" y=\"%.0f\">", id, anchor, x, y);
	write_escaped(out, text, SIZE_MAX);
	fputs("</text>\n", out);
}

static void write_legend(FILE *out, const struct color *colors, size_t n, uint32_t left_out)
{
	double x = MARGIN;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *rgb = colors[i].rgb;

		fprintf(out,
			"<rect x=\"%.0f\" y=\"%d\" width=\"12\" height=\"12\" fill=\"#%02x%02x%02x\"/>"
			"<text x=\"%.0f\" y=\"%d\">%s</text>\n",
			x, HEAD - 24, rgb[0], rgb[1], rgb[2], x + 18, HEAD - 14, colors[i].of);
		x += 36 + CHARACTER * (double)strlen(colors[i].of);
	}
	if (left_out)
		fprintf(out, "<text x=\"%.0f\" y=\"%d\">%u narrower frames are left out</text>\n",
			x, HEAD - 14, left_out);
}

/* Return the subtitle: the kernels' releases, and the meaning of a frame's width; for free(). */
static char *subtitle_of(const struct export *e, double all)
{
	const struct profile *const sides[] = { e->other ?: e->p, e->p };
	char *kernels[2], *subtitle;

	for (int i = 0; i < 2; i++)
		kernels[i] = output_text_escape(profile_env_get(sides[i], PROFILE_ENV_RELEASE) ?:
							"(unknown)");
	subtitle =
		e->other ?
			alloc_printf(
				"Linux %s against %s; width: %s per run, of the side with more",
				kernels[0], kernels[1], e->unit) :
			alloc_printf("Linux %s; width: %s (%.0f in all)", kernels[0], e->unit, all);
	free(kernels[0]);
	free(kernels[1]);
	return subtitle;
}

static void write_head(FILE *out, const struct export *e, const struct export_graph *g,
		       double height)
{
	scoped_free char *subtitle = subtitle_of(e, g->counts[2 * e->n_nodes]), *title = NULL;
	int room = (INNER - 200) / 10; /* number of characters in the title's font */

	title = alloc_printf("%.*s%s", room, e->title, strlen(e->title) > (size_t)room ? ".." : "");
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
		"<style>text { font: 12px monospace; } #title { font-size: 16px; } "
		"#frames > g, #search, #reset { cursor: pointer; }\n"
		"#frames rect { stroke: #fff; stroke-width: 0.5; } #frames > g:hover rect { stroke: #000; } "
		"#frames .hit rect { fill: #d060d0; } #search, #matched { transform: translate(-%dpx); }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height, MARGIN);
	write_text(out, "title", "middle", "50%", 20, title);
	write_text(out, "subtitle", "middle", "50%", 40, subtitle);
	if (e->other)
		write_legend(out, changes, ARRAY_SIZE(changes), g->left_out);
	else
		write_legend(out, kinds, ARRAY_SIZE(kinds), g->left_out);
	write_text(out, "reset", "start", "10", 20, "");
	write_text(out, "search", "end", "100%", 20, "");
	write_text(out, "details", "start", "10", height - FOOT / 3, "");
	write_text(out, "matched", "end", "100%", height - FOOT / 3, "");
	fputs("<g id=\"frames\">\n", out);
}

struct bar {
	const char *label;
	enum analyze_frame_kind kind;
	const double *counts; /* indexed by recording */
	double begin, width; /* in the unit of the counts */
	double y;
};

/* Write the text that is shown when the pointer is on BAR. */
static void write_details(FILE *out, const struct export *e, const struct bar *bar,
			  const double *all)
{
	const double *counts = bar->counts;

	write_escaped(out, bar->label, SIZE_MAX);
	if (e->other)
		fprintf(out, " (%.0f to %.0f %s per run, %.2f to %.2f %%)", counts[0], counts[1],
			e->unit, 100 * counts[0] / fmax(all[0], 1),
			100 * counts[1] / fmax(all[1], 1));
	else
		fprintf(out, " (%.0f %s, %.2f %%)", counts[0], e->unit, 100 * counts[0] / all[0]);
}

/* Set RGB to BAR's color. For one recording, it is a shade of its kind's color; for two, a mix of grey and one of `changes`. */
static void color_of(const struct export *e, const struct bar *bar, double rgb[3])
{
	double change = e->other ? export_change(e, bar->counts) : 0;
	const uint8_t *full =
		e->other ? changes[change > 0 ? MORE : LESS].rgb : kinds[bar->kind].rgb;
	uint32_t part = 0;

	for (const char *c = bar->label; *c; c++)
		part = 31 * part + (uint8_t)*c;
	for (int i = 0; i < 3; i++)
		rgb[i] = e->other ? changes[SAME].rgb[i] +
					    (full[i] - changes[SAME].rgb[i]) * fabs(change) :
				    full[i] * (100 - part % 5 * 4) / 100;
}

static void write_bar(FILE *out, const struct export *e, const struct export_graph *g,
		      const struct bar *bar)
{
	double scale = INNER / g->widths[e->n_nodes];
	double x = MARGIN + bar->begin * scale, width = bar->width * scale, rgb[3];
	size_t n = strlen(bar->label), room = width > 6 ? (size_t)((width - 6) / CHARACTER) : 0;

	color_of(e, bar, rgb);
	fputs("<g data-n=\"", out);
	write_escaped(out, bar->label, SIZE_MAX);
	fprintf(out, "\" data-x=\"%.12g\" data-w=\"%.12g\"><title>", bar->begin, bar->width);
	write_details(out, e, bar, g->counts + 2 * e->n_nodes);
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" ", x, bar->y, width);
	fprintf(out, "height=\"%d\" fill=\"#%02x%02x%02x\"/><text x=\"%.2f\" y=\"%.0f\">", ROW - 1,
		(int)rgb[0], (int)rgb[1], (int)rgb[2], x + 3, bar->y + 12);
	if (n <= room)
		write_escaped(out, bar->label, n);
	else if (room >= 3) {
		write_escaped(out, bar->label, room - 2);
		fputs("..", out);
	}
	fputs("</text></g>\n", out);
}

void export_write_svg(FILE *out, const struct export *e)
{
	scoped(export_graph_deinit) struct export_graph g = { 0 };
	/* An element per node: the position where its next child begins. The last element is for the next root. */
	scoped_free double *ends = alloc_array(e->n_nodes + 1, sizeof(*ends));
	uint32_t deepest = 0, n = e->n_nodes;
	double height, base;

	export_graph_init(&g, e);
	for (uint32_t i = 0; i < n; i++)
		if (g.is_drawn[i] && e->nodes[i].depth > deepest)
			deepest = e->nodes[i].depth;
	height = HEAD + FOOT + (deepest + 2.0) * ROW;
	base = height - FOOT - ROW;
	write_head(out, e, &g, height);
	write_bar(out, e, &g,
		  &(struct bar){ "all", ANALYZE_FRAME_OTHER, g.counts + 2 * n, 0, g.widths[n],
				 base });
	for (uint32_t i = 0; i < n; i++) {
		const struct export_node *node = &e->nodes[i];
		const struct export_frame *frame = &e->frames[node->frame];
		double *next = &ends[node->parent == EXPORT_NO_NODE ? n : node->parent];

		if (g.is_drawn[i])
			write_bar(out, e, &g,
				  &(struct bar){ frame->label, frame->kind, g.counts + 2 * i, *next,
						 g.widths[i], base - (node->depth + 1.0) * ROW });
		ends[i] = *next;
		*next += g.widths[i];
	}
	fprintf(out,
		"</g>\n<script><![CDATA[\nconst margin = %d, character = %g;\n%s"
		"one('reset').textContent = 'Reset zoom';\nsearch('');\nfill();\n]]></script>\n</svg>\n",
		MARGIN, CHARACTER, script);
}
