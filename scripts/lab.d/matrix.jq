# What lab matrix prints. All figures are those of kprotperf diff and why.

# A cell, of $diff and $why, each an array of one. pages: the folder of its pages, from the table's.
def cell:
	$diff[0] as $d | $why[0] as $w |
	($d.workload[] | select(.name == "[command cpu]" and .probed == false)) as $command |
	([$w.contexts[]? | select(.name == $w.of)][0]) as $context |
	{protection: $protection, workload: $workload, reason: null, unit: $d.unit,
	 baseline: $command.baseline.mean, hardened: $command.hardened.mean, delta: $command.delta, delta_pct: $command.delta_pct,
	 ci: $command.ci, ci_low_pct: $command.ci_pct[0]?, ci_high_pct: $command.ci_pct[1]?, verdict: $command.verdict, p: $command.p,
	 context: ($context | {name, delta_total, delta_total_low, delta_total_high, delta_pct, significant, cause, protection}),
	 answer: $w.answer, warnings: $d.warnings, pages: $pages};

# Of the cells of four rows of one workload, P without Q, Q without P, Q with P, both: whether the costs add up. What Q costs with P less
# what it costs without is the difference of two independent ones, so by Zou and Donner's method its interval follows from theirs.
def together:
	. as [$p, $q, $q_with_p, $both] | ($q_with_p.delta - $q.delta) as $difference |
	def side($near; $far): if $q.ci == null or $q_with_p.ci == null then null else
		[$q_with_p.delta - $q_with_p.ci[$near], $q.delta - $q.ci[$far]] | if any(. == null) then null else map(. * .) | add | sqrt end end;
	{protections: $both.protection, workload: $both.workload, unit: $both.unit, baseline: $both.baseline,
	 alone: [$p.delta, $q.delta], sum: ($p.delta + $q.delta), both: $both.delta, difference: $difference,
	 ci: [side(0; 1), side(1; 0)] | (if any(. == null) then null else [$difference - .[0], $difference + .[1]] end)} |
	.verdict = if .ci == null then null elif .ci[0] > 0 then "more" elif .ci[1] < 0 then "less" else "unclear" end;

# The document, of cells, $reasons, $rows, $workloads and $together.
def matrix:
	def lines: split("\n") | map(select(. != ""));
	([inputs] + ($reasons | lines | map(split("\t") | {protection: .[0], workload: .[1], reason: .[2]}))) as $cells |
	def at($r; $w): first($cells[] | select(.protection == $r and .workload == $w));
	{schema: "kprotperf-matrix/1", boots: $boots, protections: ($rows | lines), workloads: ($workloads | lines),
	 cells: [($rows | lines)[] as $r | ($workloads | lines)[] as $w | at($r; $w)],
	 together: [($together | lines)[] as $four | ($workloads | lines)[] as $w | [($four / "\t")[] as $r | at($r; $w)] |
		select(all(.reason == null)) | together]};

def figure: if . == null then "-" else (if . >= 0 then "+" else "-" end) as $sign |
	(fabs * 100 | round | tostring | ("00" + .)[-([length + 2, 3] | max - 2):]) as $digits |
	$sign + ($digits | if length < 3 then ("000" + .)[-3:] else . end | .[:-2] + "." + .[-2:]) end;

# Warnings, each once, with the cells that have it.
def cautions:
	[.cells[] | . as $cell | (.warnings // [])[] | {warning: ., cell: "\($cell.protection), \($cell.workload)"}] |
	group_by(.warning)[] | {warning: .[0].warning, cells: map(.cell) | join("; ")};

# "*": has some.
def doubt: if .warnings // [] | length > 0 then "*" else "" end;

def shown:
	if .reason then "failed" elif .ci_low_pct == null then "\(.delta_pct | figure)\(doubt) not known" else
	"\(.delta_pct | figure)\(doubt) [\(.ci_low_pct | figure), \(.ci_high_pct | figure)] \(.verdict)" end;

def where:
	.context | "\(.name) \(.delta_pct | figure) %, \(.cause // "in many functions")" +
		(if .protection then " (\(.protection))" else "" end);

# Whether costs add up, in percent of what both cost nothing of.
def sums:
	.baseline as $baseline | def pct: if . == null then "-" else . / $baseline * 100 | figure end;
	"\(.protections), \(.workload): \(.alone | map(pct) | join(" and ")), sum \(.sum | pct); both \(.both | pct); " +
		"\(.difference | pct) " + (if .ci == null then "not known" else "[\(.ci | map(pct) | join(", "))] \(.verdict)" end);

def rows: .protections[] as $r | [$r, [.cells[] | select(.protection == $r)]];

def pad($n): . + " " * ([$n - length, 0] | max);

def txt:
	. as $m |
	([rows | [.[0]] + (.[1] | map(shown))]) as $body |
	([["PROTECTION"] + .workloads] + $body) as $table |
	([range(0; $table[0] | length) as $i | [$table[][$i] | length] | max]) as $widths |
	($table[] | [to_entries[] | .key as $i | .value | pad($widths[$i])] | join("  ") | sub(" +$"; "")),
	"",
	"Change of the command's CPU time in %, its 95 % interval, and the verdict. Boots per side: \(.boots).",
	"A+A compares one kernel with itself: a change no larger than that is not significant.",
	([.cells[] | select(.reason == null and .context.significant and .context.delta_total_low != null)] | if length > 0 then
		"", "Where the change is, if it is significant:",
		(.[] | "  \(.protection), \(.workload): \(where)") else empty end),
	(.together | if length > 0 then
		"", "Two together, in % of the command with both off: each alone, their sum; both; both less the sum, with its 95 % interval:",
		(.[] | "  \(sums)") else empty end),
	([cautions] | if length > 0 then
		"", "* To be read with care:",
		(.[] | "  \(.cells): \(.warning)") else empty end),
	([.cells[] | select(.reason)] | if length > 0 then
		"", "Not measured:",
		(group_by([.protection, .reason])[] | "  \(.[0].protection), \(map(.workload) | join(", ")): \(.[0].reason)") else empty end);

def csv:
	["protection", "workload", "unit", "baseline", "hardened", "delta", "delta_pct", "ci_low_pct", "ci_high_pct", "verdict", "p",
	 "context", "context_delta_pct", "context_significant", "cause", "cause_protection", "reason"],
	(.cells[] | [.protection, .workload, .unit, .baseline, .hardened, .delta, .delta_pct, .ci_low_pct, .ci_high_pct, .verdict, .p,
		.context.name?, .context.delta_pct?, .context.significant?, .context.cause?, .context.protection?, .reason]) | @csv;

def html:
	def cell_html: if .reason then "<td class=failed title=\(.reason | @html "\"\(.)\"")>failed"
		else @html "<td class=\(.verdict) title=\"\(.answer // "")\">" + (@html "<b>\(.delta_pct | figure) %\(doubt)</b><br>\(.ci_low_pct | figure) to \(.ci_high_pct | figure)<br>\(.verdict)") +
			(if .pages != "" then .answer as $why | (.pages | @uri "cells/\(. / "/" | .[0])/\(. / "/" | .[1])" |
				"<br>" + (if $why then @html "<a href=\"\(.)/why.html\">why</a> " else "" end) + @html "<a href=\"\(.)/diff.html\">diff</a>") else "" end) end + "</td>";
	"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>kprotperf: protections and workloads</title><style>",
	"body{font:14px sans-serif}table{border-collapse:collapse}td,th{border:1px solid #999;padding:4px 8px}",
	".slower{background:#fbb}.faster{background:#bfb}.same{background:#eee}.failed{color:#999}</style>",
	"<p>Change of the command's CPU time, its 95 % interval, and the verdict. Boots per side: \(.boots). A+A compares one kernel with itself.</p>",
	"<table><tr><th></th>" + (.workloads | map(@html "<th>\(.)</th>") | join("")) + "</tr>",
	(rows | (.[0] | @html "<tr><th>\(.)</th>") + (.[1] | map(cell_html) | join("")) + "</tr>"),
	"</table>", (.together | if length > 0 then "<p>Two together, in % of the command with both off: each alone, their sum; both; both less the sum, with its 95 % interval:" else empty end,
		(.[] | @html "<br>\(sums)")),
	(cautions | @html "<p>* \(.cells): \(.warning)</p>"), "</html>";
