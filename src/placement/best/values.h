/* SPDX-License-Identifier: Apache-2.0 */
/* The topology label: the bundles are divided evenly, in order, into shares, and each share is placed on nodes of a
 * different value. */
#pragma once

#include "placement/best/case.h"

/* Solves a case by its strategy. @soft_target is a node of the view. */
void quoit_best_solve (const QuoitBestCase *it, const QuoitStanding *standing, QuoitBestAnswer *answer);

/* Writes the nodes of the case's bundles, which begin with bundle @first. Equal bundles get nodes in ascending
 * order. */
void quoit_best_write (const QuoitBestCase *it, const guint32 *places, const guint32 *case_nodes, guint32 first,
                       guint32 *nodes);

QuoitBestResult quoit_best_place_by_value (QuoitBestQuestion *question, const QuoitStanding *standing, guint64 *budget,
                                           gboolean *proven, guint32 *nodes);
