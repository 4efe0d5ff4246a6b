-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Members who come and go fill the log of a list; rows of one kind among them are found without reading all.
CREATE INDEX list_log_kind ON list_log (list, kind, key);

-- A program that does not know of the index can work.
INSERT INTO schema_least (number, least) VALUES (40, 39);
