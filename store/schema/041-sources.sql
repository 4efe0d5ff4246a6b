-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Where members of a list come from beside those who joined themselves (store/people/source.h). kind is a SourceKind.
-- refresh_interval is in microseconds, 0: that of the site. Times are 0 where it was not done yet. fault is that of the
-- last try, '': it went well. turn grows with each refresh that begins, so that an older one sees that it is over.
CREATE TABLE list_source (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    name @text@ NOT NULL,
    kind @integer@ NOT NULL,
    place @text@ NOT NULL,
    query @text@,
    bind_dn @text@,
    password_file @text@,
    refresh_interval @integer@ NOT NULL,
    welcome @integer@ NOT NULL,
    made_at @integer@ NOT NULL,
    tried_at @integer@ NOT NULL,
    read_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    given @integer@ NOT NULL,
    kept_out @integer@ NOT NULL,
    bad @integer@ NOT NULL,
    fault @text@ NOT NULL,
    turn @integer@ NOT NULL
) @table@;
CREATE UNIQUE INDEX list_source_name ON list_source (list, name);
CREATE INDEX list_source_due ON list_source (due_at);

-- Which source gave which member. member is the key of the membership; made is 1 where a source made that, and 0 where
-- the person was a member already.
CREATE TABLE member_source (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    source @integer@ NOT NULL REFERENCES list_source (key) ON DELETE CASCADE,
    address @text@ NOT NULL,
    member @integer@ NOT NULL,
    made @integer@ NOT NULL,
    given_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded, source)
) @clustered@;
CREATE INDEX member_source_source ON member_source (source, folded);
CREATE INDEX member_source_member ON member_source (member);

-- Who left a list that has sources, or was removed, and is not brought back by them. way is the word of
-- leave_way_text(), '': removed, or nobody knows.
CREATE TABLE source_left (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    way @text@ NOT NULL,
    left_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded)
) @clustered@;

-- A program that does not know of the tables can work.
INSERT INTO schema_least (number, least) VALUES (41, 40);
