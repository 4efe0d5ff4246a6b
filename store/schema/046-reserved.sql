-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A program that does not know of this step can work: it changes nothing.
INSERT INTO schema_least (number, least) VALUES (46, 40);
