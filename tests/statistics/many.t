#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Merging 100 files of 50 runs and comparing takes less than 2 s and 200 MB: of CPU time, since others
# use the machine too.

build=$(realpath "${BUILD:-build}")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
"$build/tests/many" . 100 50 || exit 1

python3 - "$build/kprotperf" <<'PYTHON'
import json, resource, subprocess, sys

kprotperf = sys.argv[1]
sanitized = b"__asan_init" in open(kprotperf, "rb").read()
files = ["%d.data" % i for i in range(100)]
subprocess.run([kprotperf, "merge", "-o", "a.data"] + files[:50], check=True)
subprocess.run([kprotperf, "merge", "-o", "b.data"] + files[50:], check=True)
out = subprocess.run([kprotperf, "diff", "--format=json", "a.data", "b.data"], check=True,
                     capture_output=True).stdout
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
diff = json.loads(out)

print("# %.2f s of CPU time, at most %.0f MB" % (seconds, megabytes))
tests = [
    (seconds < 2, "100 files of 50 runs are merged and compared in less than 2 s"),
    (megabytes < 200, "and 200 MB"),
    (diff["statistics"]["unit"] == "boot" and diff["statistics"]["baseline"] == 50,
     "each file is a repetition"),
    (all(r["ci_bootstrap"] and r["p_mann_whitney"] is not None and r["verdict"]
         for r in diff["syscalls"] + diff["functions"]), "each row has all there is to say of 50"),
    # File I makes each syscall I ticks longer: 50 more on the later half.
    (all(r["ci"][0] < 50 < r["ci"][1] and r["ci_bootstrap"][0] < 50 < r["ci_bootstrap"][1]
         for r in diff["syscalls"]), "intervals hold the difference that was put in"),
]
for n, (ok, what) in enumerate(tests, 1):
    # What sanitizers take in time and memory is theirs.
    skip = sanitized and n <= 2
    print("%sok %d - %s%s" % ("" if ok or skip else "not ", n, what, " # SKIP with sanitizers" if skip else ""))
print("1..%d" % len(tests))
PYTHON
