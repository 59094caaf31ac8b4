/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind the public pointers. */
#pragma once

#include <quoit/quoit.h>

#include "model/totals.h"
#include "store/store.h"

struct _Quoit {
  gatomicrefcount refs;
  QuoitStore *store;
};

struct _QuoitSnapshot {
  gatomicrefcount refs;
  QuoitFleet *fleet;
  GMutex lock;    /* guards what is made when it is first asked for */
  GArray *totals; /* of QuoitTotal */
  GArray *slots;  /* of groups, by id */
};

struct _QuoitFork {
  QuoitFleet *fleet;
};

struct _QuoitGroup {
  gatomicrefcount refs;
  QuoitGroupData *data;
  QuoitLayout *layout;
  QuoitGroupState state;
};

QuoitSnapshot *quoit_snapshot_of (QuoitFleet *fleet); /* takes it */
/* Takes @data and @layout. */
QuoitGroup *quoit_group_of (QuoitGroupData *data, QuoitLayout *layout, QuoitGroupState state);
QuoitGroup *quoit_group_in (const QuoitFleet *fleet, const QuoitGroupData *data);
