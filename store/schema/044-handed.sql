-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Entries that a host accepted from another one, so that it is known what is lost with a spool (store/hosts/lost_spool.h).
-- entry is the name under which the effect is recorded, queue the one that it is for.
CREATE TABLE handed (
    entry @text@ NOT NULL PRIMARY KEY,
    spool @text@ NOT NULL,
    queue @text@ NOT NULL,
    list @text@ NOT NULL,
    message_id @text@ NOT NULL,
    handed_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX handed_spool ON handed (spool, handed_at);
CREATE INDEX handed_at ON handed (handed_at);

-- A program that does not know of the table can work; what it accepts is not told when its spool is lost.
INSERT INTO schema_least (number, least) VALUES (44, 40);
