/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

/* The value of an index, in any array of the library, that means "none". */
#define QUOIT_NO_INDEX G_MAXUINT32
