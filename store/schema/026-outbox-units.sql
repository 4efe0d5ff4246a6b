-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Units of work that left entries (lists/README.md). A row says what was decided about the entries that were prepared
-- under its tag in these queues (names with blanks between): they are to be published or, with given_up, to be removed.
-- asked counts the questions of those who settle what a crash left.
CREATE TABLE outbox_unit (
    tag @text@ NOT NULL PRIMARY KEY,
    queues @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    given_up @integer@ NOT NULL,
    asked @integer@ NOT NULL
) @clustered@;

-- Rows of the table outbox without an entry were left by programs that kept the entries in the database. Nobody adds
-- such rows any more; those that are there become entries (lists/outbox_old.h).
ALTER TABLE outbox DROP COLUMN touched;
