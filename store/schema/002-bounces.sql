-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- What addresses and links are signed with (store/secret.h). The newest signs.
CREATE TABLE secret (
    key @integer@ NOT NULL PRIMARY KEY,
    octets @blob@ NOT NULL,
    replaced_at @integer@ NOT NULL
) @table@;

-- One row a member and day (counted from 1970): however many bounces come,
-- the table grows no faster. weight is in hundredths of a point and that of the
-- gravest of the day, which class, status, reason and text are of, too.
CREATE TABLE bounce (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    day @integer@ NOT NULL,
    email @text@ NOT NULL,
    bounces @integer@ NOT NULL,
    weight @integer@ NOT NULL,
    class @text@ NOT NULL,
    status @text@ NOT NULL,
    reason @text@ NOT NULL,
    source @text@ NOT NULL,
    text @text@ NOT NULL,
    last_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded, day)
) @clustered@;
CREATE INDEX bounce_day ON bounce (day);

-- Where a member stands: only those who bounced have a row. score is in
-- hundredths; next_at is when something is due (warning, removal, the score
-- turning stale), so that nobody else is looked at.
CREATE TABLE bounce_score (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    score @integer@ NOT NULL,
    last_bounce_at @integer@ NOT NULL,
    probe_at @integer@ NOT NULL,
    disabled_at @integer@ NOT NULL,
    warnings @integer@ NOT NULL,
    next_at @integer@ NOT NULL
) @table@;
CREATE INDEX bounce_score_next_at ON bounce_score (next_at);

-- What is bounded by list and day: mails to the owners, mails that nobody signed.
CREATE TABLE bounce_count (
    day @integer@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    what @text@ NOT NULL,
    number @integer@ NOT NULL,
    PRIMARY KEY (day, list, what)
) @clustered@;
