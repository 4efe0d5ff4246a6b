-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Counts the changes of what processes keep in memory (lists, settings, domains, secrets). One row.
CREATE TABLE store_version (value @integer@ NOT NULL) @table@;
INSERT INTO store_version (value) VALUES (1);
