/* SPDX-License-Identifier: Apache-2.0 */
/* What resize, repair and the release of a slice answer: the group, and what the change means for its processes. */
#pragma once

#include "session.h"

/* Takes @change. @snapshot: the fleet with it. */
bool print_group_change (Session *session, const QuoitSnapshot *snapshot, QuoitGroupChange *change,
                         const char *sentence, GError **error);
