/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "session.h"

/* If @error says that a name of the command line does not exist, adds the nearest name in the ledger to its message. */
void near_names_add (Session *session, GError *error);
