/* SPDX-License-Identifier: Apache-2.0 */
/* Named sizes, as --axes and --dcn have them: "data=2,fsdp=16". */
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

/* Blanks around the commas are none of the names'. USAGE for what is no such text, INVALID for a size below 1 or beyond
 * any mesh, and for a name that is there twice or is no word. @option is what the text was given for. */
bool axes_parse (const char *text, const char *option, Axes *axes, GError **error);

/* The index of the axis named @name. INVALID for an unknown name. @option is the option that has @name. */
bool axes_lookup (const Axes *axes, const char *name, const char *option, guint *at, GError **error);

/* The sizes that @part gives to the axes of @axes, 1 for the others; g_free() them. INVALID for an unknown name, and
 * for a size that does not divide the size of the axis. @option is the option that has @part. */
gint64 *axes_align (const Axes *axes, const Axes *part, const char *option, GError **error);

/* "data=2,fsdp=16", of the axes whose size in @sizes is @least or more: g_free() it. */
char *axes_format (const Axes *axes, const gint64 *sizes, gint64 least);
