-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Who may neither join nor post: on one list, or on all (list is NULL). folded is that of an address ("example.com jo"),
-- or a pattern as it was written, which begins with ^.
CREATE TABLE ban (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    email @text@ NOT NULL,
    made_at @integer@ NOT NULL
) @table@;
CREATE UNIQUE INDEX ban_once ON ban (COALESCE(list, 0), folded);

-- Header fields that decide about a post, in the order of position (from 0): of one list, or of all (list is NULL).
-- target is NULL (as the site says), an action, or a chain of the site's own.
CREATE TABLE header_match (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    position @integer@ NOT NULL,
    header @text@ NOT NULL,
    pattern @text@ NOT NULL,
    target @text@,
    tag @text@
) @table@;
CREATE INDEX header_match_order ON header_match (COALESCE(list, 0), position);
CREATE INDEX header_match_text ON header_match (COALESCE(list, 0), header, pattern);

-- For the removal of a list.
CREATE INDEX ban_list ON ban (list);
CREATE INDEX header_match_list ON header_match (list);
