-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A notice to a moderator may be about requests as well: those with numbers from first_request to last_request; 0: none.
ALTER TABLE ticket ADD COLUMN first_request @integer@ NOT NULL DEFAULT 0;
ALTER TABLE ticket ADD COLUMN last_request @integer@ NOT NULL DEFAULT 0;
