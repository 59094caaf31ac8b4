/* SPDX-License-Identifier: Apache-2.0 */
/* A file descriptor that becomes readable after each commit. */
#pragma once

#include "store/store.h"

typedef struct _QuoitWatch QuoitWatch;

/* The descriptor is readable at first. @store must outlive the watch. Fails with STORE. */
QuoitWatch *quoit_watch_new (QuoitStore *store, GError **error);
/* Does nothing in a child of fork(2), where the descriptors are closed already. */
void quoit_watch_free (QuoitWatch *watch);
int quoit_watch_fd (const QuoitWatch *watch);
/* Makes the descriptor unreadable until the next commit. Commits from now on make it readable again. */
void quoit_watch_clear (QuoitWatch *watch);
/* Makes the descriptor readable. */
void quoit_watch_wake (QuoitWatch *watch);
