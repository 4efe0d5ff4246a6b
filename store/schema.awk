# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
#
# Turns schema/NNN-name.sql, given in order, into the table migrations[].

function finish()
{
    if (open_entry)
        print "    },"
    open_entry = 0
}

BEGIN {
    print "/* Made by schema.awk from schema/. */"
    print "#include \"store/schema/migrate.h\"\n"
    print "const Migration migrations[] = {"
}

FNR == 1 {
    finish()
    count = split(FILENAME, path, "/")
    number = substr(path[count], 1, 3) + 0
    if (number != ++expected) {
        print "schema: " FILENAME " is not number " expected > "/dev/stderr"
        failed = 1
        exit 1
    }
    name = substr(path[count], 5)
    sub(/\.sql$/, "", name)
    printf "    {%d, \"%s\",\n", number, name
    open_entry = 1
}

{
    sub(/--.*/, "")
    if ($0 ~ /^[ \t]*$/)
        next
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "     \"%s\\n\"\n", $0
}

END {
    if (failed)
        exit 1
    finish()
    print "    {0, NULL, NULL}};"
}
