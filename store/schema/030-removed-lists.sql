-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Under which of several names the archive of a list is kept: 0 is the List-Id itself, and so for each list that was made
-- before there was this column. One more for a list with the List-Id of one that was removed.
ALTER TABLE list ADD COLUMN archive @integer@ NOT NULL DEFAULT 0;

-- List-Ids of lists that were removed, and the first number that none of them had.
CREATE TABLE removed_list (
    list_id @text@ NOT NULL PRIMARY KEY,
    archive @integer@ NOT NULL
) @clustered@;
