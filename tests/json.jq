# Functions for tests that read kprotperf's JSON. query of tests/tap.sh includes this file.

# Return the rows of a table that have all keys and values of WANT: rows("functions"; {name: "clone"}).
def rows(table; want): [.[table][] | select(. as $row | want | to_entries | all($row[.key] == .value))];
def rows(table): .[table];

# Return the one row that matches. It is an error if there are none or several.
def row(table; want): rows(table; want) | if length == 1 then .[0] else error("\(length) rows of \(table)") end;

# Return the row of a syscall, or of a function in a context ("*": in all contexts together).
def syscall(name): row("syscalls"; {name: name});
def function(name; context): row("functions"; {name: name, syscall: context});

# Return the costs of the probes of a mechanism.
def mechanism(name): .costs.mechanisms[] | select(.name == name);

def close(a; b; slack): (a - b | fabs) <= slack;
def digits(n): . * pow(10; n) | round / pow(10; n);
def has_all(keys): keys - . == [];

# Turn comma-separated values with a header line into objects. jq must read them with -R and -s. Values must have no line ends.
def csv:
	def values: [match("(?:^|,)(\"(?:[^\"]|\"\")*\"|[^,]*)"; "g").captures[0].string |
		if startswith("\"") then .[1:-1] | gsub("\"\""; "\"") else . end];
	[splits("\r?\n") | select(. != "") | values] | .[0] as $keys |
	[.[1:][] | [$keys, .] | transpose | map({key: .[0], value: .[1]}) | from_entries];

# Return whether the parts of each line of a tree add up to the line, within SLACK. The tree is an array of lines with levels.
def adds_up(slack): . as $lines | all(range(length); . as $i | $lines[$i] as $whole |
	[foreach $lines[$i + 1:][] as $part (true; . and $part.level > $whole.level;
		if . and $part.level == $whole.level + 1 then $part.delta_total else empty end)] |
	length == 0 or close(add; $whole.delta_total; slack));
