# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
#
# Makes the tables of mail/bounce/words.h from the files etc/bounce/*.txt, which their README.md describes.

function fault(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	failed = 1
	exit 1
}

function quoted(text)
{
	gsub(/[\\"]/, "\\\\&", text)
	return "\"" text "\""
}

BEGIN {
	count = split("subject perhaps reply failed waits ended label field other reference origin verdict advice", kinds, " ")
	for (at = 1; at <= count; at++)
		known[kinds[at]] = 1
	reasons = "user-unknown mailbox-full mailbox-disabled host-unknown too-large expired"
	reason_count = split(reasons, reason_names, " ")
	for (at = 1; at <= reason_count; at++)
		is_reason[reason_names[at]] = 1
}

/^#/ || /^$/ { next }

{
	at = index($0, ": ")
	kind = substr($0, 1, at - 1)
	phrase = substr($0, at + 2)
	if (at == 0 || length(phrase) < 1)
		fault("\"" $0 "\" is no kind, a colon, a blank and a phrase")
	if (is_reason[kind]) {
		rows["reason"] = rows["reason"] "    {" quoted(phrase) ", \"" kind "\"},\n"
	} else if (known[kind]) {
		gap = index(phrase, " ... ")
		one = gap ? substr(phrase, 1, gap - 1) : phrase
		two = gap ? quoted(substr(phrase, gap + 5)) : "NULL"
		rows[kind] = rows[kind] "    {" quoted(one) ", " two "},\n"
	} else {
		fault("there is no kind \"" kind "\"")
	}
}

END {
	if (failed)
		exit 1
	print "/* Made by mail/bounce/words.awk from etc/bounce; do not edit. */"
	print "#include \"mail/bounce/words.h\"\n"
	for (at = 1; at <= count; at++)
		print "const Phrase words_" kinds[at] "[] = {\n" rows[kinds[at]] "    {NULL, NULL},\n};\n"
	print "const ReasonPhrase words_reason[] = {\n" rows["reason"] "    {NULL, NULL},\n};"
}
