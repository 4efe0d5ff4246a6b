-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The spool that a post came into, so that it is known what is lost with one (store/hosts/lost_spool.h). Empty in rows from
-- before, and in those of a program that does not know of it.
ALTER TABLE message_id ADD COLUMN spool @text@ NOT NULL DEFAULT '';
ALTER TABLE held ADD COLUMN spool @text@ NOT NULL DEFAULT '';

-- When the spool of a host was seen without an entry in its queues, those that wait for a person aside; 0: never. And
-- how many connections to the database a host may open; 0: it did not say.
ALTER TABLE host ADD COLUMN empty_at @integer@ NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN connections @integer@ NOT NULL DEFAULT 0;

-- Which step a program has to know to work on a database that has this later one (README.md, Two versions). A step that
-- is not here wants to be known.
CREATE TABLE schema_least (
    number @integer@ NOT NULL PRIMARY KEY,
    least @integer@ NOT NULL
) @clustered@;
