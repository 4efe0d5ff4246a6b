-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- 1: somebody else than who left the row began to store it, and may have been cut short.
ALTER TABLE outbox ADD COLUMN touched @integer@ NOT NULL DEFAULT 1;
