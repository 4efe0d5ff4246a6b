-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The log of each list (store/lists/list_log.h): who changed what, when and by which door. name is in lower case where it is
-- an address. before and after are NULL where there was, or is, nothing.
CREATE TABLE list_log (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    made_at @integer@ NOT NULL,
    door @text@ NOT NULL,
    made_by @text@ NOT NULL,
    kind @text@ NOT NULL,
    name @text@ NOT NULL,
    before @text@,
    after @text@
) @table@;
CREATE INDEX list_log_list ON list_log (list, key);
CREATE INDEX list_log_name ON list_log (name, list);
CREATE INDEX list_log_made_at ON list_log (made_at);
