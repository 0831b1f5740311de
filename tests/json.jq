# What the tests ask of kprotperf's JSON; tests/tap.sh's query includes it.

# Rows of a table that have what WANT has: rows("functions"; {name: "clone"}).
def rows(table; want): [.[table][] | select(. as $row | want | to_entries | all($row[.key] == .value))];
def rows(table): .[table];

# The only one.
def row(table; want): rows(table; want) | if length == 1 then .[0] else error("\(length) rows of \(table)") end;

# A syscall's row, a function's in a context ("*": the sum).
def syscall(name): row("syscalls"; {name: name});
def function(name; context): row("functions"; {name: name, syscall: context});

# What the probes of a mechanism cost.
def mechanism(name): .costs.mechanisms[] | select(.name == name);

def close(a; b; slack): (a - b | fabs) <= slack;
def digits(n): . * pow(10; n) | round / pow(10; n);
def has_all(keys): keys - . == [];

# Comma-separated values with a header line, read with -R and -s, as objects: no line ends within values.
def csv:
	def values: [match("(?:^|,)(\"(?:[^\"]|\"\")*\"|[^,]*)"; "g").captures[0].string |
		if startswith("\"") then .[1:-1] | gsub("\"\""; "\"") else . end];
	[splits("\r?\n") | select(. != "") | values] | .[0] as $keys |
	[.[1:][] | [$keys, .] | transpose | map({key: .[0], value: .[1]}) | from_entries];

# Of a tree as an array with levels: each line's parts add up to it, to SLACK.
def adds_up(slack): . as $lines | all(range(length); . as $i | $lines[$i] as $whole |
	[foreach $lines[$i + 1:][] as $part (true; . and $part.level > $whole.level;
		if . and $part.level == $whole.level + 1 then $part.delta_total else empty end)] |
	length == 0 or close(add; $whole.delta_total; slack));
