/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the slices of a Ray Train job match its MaxText settings. */
#pragma once

#include "models/maxtext/maxtext.h"

/* Adds a finding to @report for each contradiction. */
void quoit_maxtext_look_scaling (QuoitMaxtextReport *report, const QuoitRayScaling *scaling);
