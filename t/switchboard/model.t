#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
# The model of the hop (switchboard/hop.pml), and its broken variants, which
# must be caught.

top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
cc=${CC:-cc}
if ! command -v spin >/dev/null || ! command -v "${cc%% *}" >/dev/null; then
    echo "1..0 # SKIP spin or a compiler is missing"
    exit 0
fi
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
count=0

# verify FLAGS SEARCH OPTIONS...: leaves pan's report in the file report.
verify() {
    flags=$1 search=$2
    shift 2
    # shellcheck disable=SC2086 # several words each
    spin -a "$@" "$top/switchboard/hop.pml" >spin.log 2>&1 &&
        $cc -O2 -w $flags -DCOLLAPSE -o pan pan.c >cc.log 2>&1 || { cat spin.log cc.log >report; return 1; }
    ./pan -m10000 $search >report 2>&1
}

result() {
    count=$((count + 1))
    echo "$1 $count - $2"
    [ "$1" = ok ] || sed 's/^/# /' report
}

# holds WHAT FLAGS SEARCH OPTIONS...
holds() {
    what=$1
    shift
    if verify "$@" && grep -q "errors: 0" report && ! grep -q -e "max search depth" -e "not completed" report; then
        result ok "$what: no error in $(awk '/states, stored/ { print $1 }' report) states"
    else
        result "not ok" "$what"
    fi
}

holds "two parents, a crash, a rescale" -DSAFETY "" -DPARENTS=2 -DCRASHES=1
holds "a parent, three crashes" -DSAFETY "" -DPARENTS=1 -DCRASHES=3
# Two minutes of one core: only at full size (./bootstrap check --thorough).
[ -z "${LISTRUNNER_THOROUGH-}" ] ||
    holds "two parents, two crashes, each run with the same children" "-DSAFETY -DMEMLIM=4000" -w26 \
        -DPARENTS=2 -DCRASHES=2 -DCOARSE=2
holds "recovery and work end" -DNP -l -DPARENTS=1 -DCRASHES=2
# Most are caught within a second, so optimising them would take longer than it saves. The last one needs three
# crashes: in the hop, in the recovery, and after the next hop has decided. Trying transitions from the last one back
# finds it soonest.
for broken in 1 2 3 4 5 6 7 8; do
    crashes=2 flags="-DSAFETY -O0"
    [ $broken = 8 ] && crashes=3 flags="-DSAFETY -DT_REVERSE"
    if verify "$flags" "" -DBROKEN=$broken -DPARENTS=1 -DCRASHES=$crashes && grep -q "errors: 1" report; then
        result ok "broken variant $broken is caught: $(sed -n 's/^pan:1: //p' report)"
    else
        result "not ok" "broken variant $broken is not caught"
    fi
done
echo "1..$count"
