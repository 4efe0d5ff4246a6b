-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- What an import from another list system has finished (store/moving/bring.h), so that the same import changes nothing when it
-- is run again. name is the system, the site of it, and the part; list is the one that the part belongs to, NULL: none.
CREATE TABLE moved (
    name @text@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    moved_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX moved_list ON moved (list);
