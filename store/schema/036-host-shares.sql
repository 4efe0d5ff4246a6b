-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The part of the limits toward other sites' servers that a host may use: one of so many equal ones, 0 for none; and
-- until when no other host takes it (store/hosts/host.h).
ALTER TABLE host ADD COLUMN parts @integer@ NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN share_until @integer@ NOT NULL DEFAULT 0;
