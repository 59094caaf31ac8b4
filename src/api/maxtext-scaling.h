/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a Ray Train job has the slices that its MaxText settings are for. */
#pragma once

#include "models/maxtext/maxtext.h"

/* Reports what contradicts. */
void quoit_maxtext_look_scaling (QuoitMaxtextReport *report, const QuoitRayScaling *scaling);
