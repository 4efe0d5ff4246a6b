-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A list that goes takes its counts with it.
CREATE INDEX bounce_count_list ON bounce_count (list);
