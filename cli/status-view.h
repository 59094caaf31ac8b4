/* SPDX-License-Identifier: Apache-2.0 */
/* What `quoit status` prints: sources, resources, slices, groups and problems. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* @now_ms: the time of @snapshot. document_free() it. */
Document *status_document (QuoitSnapshot *snapshot, gint64 now_ms);
