-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The first few lines of the last try that are no address (store/people/source.h), each with its number; NULL: there are none.
ALTER TABLE list_source ADD COLUMN bad_lines @text@;

-- A program that does not know of the column can work.
INSERT INTO schema_least (number, least) VALUES (45, 40);
