/* SPDX-License-Identifier: Apache-2.0 */
/* The axes of a mesh, names and sizes, as in --axes and --dcn: "data=2,fsdp=16". */
#pragma once

#include <stdbool.h>
#include <glib.h>

typedef struct {
  char **names;
  gint64 *sizes;
  guint n;
} Axes;

void axes_clear (Axes *axes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Axes, axes_clear)

/* Parses the axes; blanks around commas are ignored. Fails with USAGE if @text does not have this form, and with
 * INVALID for a size below 1 or too large for any mesh, and for a repeated or too long name. @option: the name of the
 * option, for messages. */
bool axes_parse (const char *text, const char *option, Axes *axes, GError **error);

/* Finds the index of the axis with this name. Fails with INVALID for an unknown name. @option: the name of
 * the option, for messages. */
bool axes_lookup (const Axes *axes, const char *name, const char *option, guint *index, GError **error);

/* Returns one size for each axis of @axes: the size of the axis of that name in @part, or 1. g_free() them. Fails with
 * INVALID for an unknown name, and for a size that does not divide the size of the axis. @option is the option with
 * @part. */
gint64 *axes_align (const Axes *axes, const Axes *part, const char *option, GError **error);

/* Returns "data=2,fsdp=16", without the axes whose size in @sizes is below @min_size. g_free() it. */
char *axes_format (const Axes *axes, const gint64 *sizes, gint64 min_size);
