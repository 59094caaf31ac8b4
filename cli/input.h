/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are given to the command. */
#pragma once

#include <stdbool.h>
#include <glib.h>

/* All of a file, or of stdin for "-". NOT_FOUND, INVALID for a directory or device and for more than 256 MiB, STORE
 * when it cannot be read; the message begins with the path. */
bool input_read (const char *path, char **text, gsize *length, GError **error);
