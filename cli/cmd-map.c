/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet-view.h"
#include "group-view.h"
#include "map.h"
#include "verbs.h"

/* --- which slices --- */

/* Nodes are numbered slice by slice. */
static void
add_slice (GArray *slices, uint32_t slice)
{
  if (slices->len == 0 || g_array_index (slices, uint32_t, slices->len - 1) != slice)
    g_array_append_val (slices, slice);
}

/* Whole slices, or those where its bundles are. */
static bool
add_group (GArray *slices, const QuoitSnapshot *snapshot, const QuoitGroup *group, GError **error)
{
  g_autofree char *label = group_label (group);
  uint64_t id = quoit_group_get_id (group);

  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    for (uint32_t u = 0; u < quoit_snapshot_get_node_n_users (snapshot, node); u++)
      {
        int64_t slice = quoit_snapshot_get_node_slice (snapshot, node);

        if (slice >= 0 && quoit_snapshot_get_node_user_id (snapshot, node, u) == id)
          add_slice (slices, (uint32_t) slice);
      }
  if (slices->len > 0)
    return true;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "group '%s': expected one that has hosts of a slice", label);
  return false;
}

/* By the pool's name, or source/pool. */
static bool
find_pool (const QuoitSnapshot *snapshot, const char *name, int64_t *pool, GError **error)
{
  g_autofree char *first = NULL;

  *pool = -1;
  for (uint32_t i = 0; i < quoit_snapshot_get_n_pools (snapshot); i++)
    {
      g_autofree char *full
          = g_strdup_printf ("%s/%s", source_of_pool (snapshot, i), quoit_snapshot_get_pool_name (snapshot, i));

      if (!g_str_equal (name, full) && !g_str_equal (name, quoit_snapshot_get_pool_name (snapshot, i)))
        continue;
      if (*pool >= 0)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                       "pool name '%s' is ambiguous: use a full name such as '%s' or '%s'", name, first, full);
          return false;
        }
      *pool = i;
      first = g_steal_pointer (&full);
    }
  return true;
}

static void
add_pool (GArray *slices, const QuoitSnapshot *snapshot, int64_t pool)
{
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    if (pool < 0 || quoit_snapshot_get_slice_pool (snapshot, slice) == pool)
      add_slice (slices, slice);
}

static bool
is_not_found (GError **why)
{
  return g_error_matches (*why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND) ? g_clear_error (why), true : false;
}

/* A slice, else a group, else a pool: the first that is called so. */
static bool
choose (GArray *slices, const QuoitSnapshot *snapshot, const char *name, GError **error)
{
  GError *why = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  uint32_t slice;
  int64_t pool;

  if (quoit_snapshot_lookup_slice (snapshot, name, &slice, &why))
    return add_slice (slices, slice), true;
  if (!is_not_found (&why))
    return g_propagate_error (error, why), false;
  /* A group's name has no '/'. */
  if (strchr (name, '/') == NULL)
    {
      group = quoit_snapshot_lookup_group (snapshot, name, &why);
      if (group != NULL)
        return add_group (slices, snapshot, group, error);
      if (!is_not_found (&why))
        return g_propagate_error (error, why), false;
    }
  if (!find_pool (snapshot, name, &pool, error))
    return false;
  if (pool >= 0)
    return add_pool (slices, snapshot, pool), true;

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "'%s': expected the name of a slice, group or pool", name);
  return false;
}

/* --- the answer --- */

/* A file is replaced in one step; what is no file, as a terminal, is written to. */
static bool
write_file (const char *path, const char *text, GError **error)
{
  g_autoptr (GError) why = NULL;
  FILE *file;
  bool is_written;
  int number = 0;

  if (*path == '\0')
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--svg '': expected the name of a file");
      return false;
    }
  if (!g_file_test (path, G_FILE_TEST_EXISTS) || g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK)
          && g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0666, &why))
        return true;
      number = errno;
      if (why != NULL)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_STORE, "--svg '%s': %s", path, g_strerror (number));
          return false;
        }
    }
  file = fopen (path, "w");
  is_written = file != NULL && fputs (text, file) != EOF;
  if (file != NULL && fclose (file) == EOF)
    is_written = false;
  if (!is_written)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_STORE, "--svg '%s': %s", path, g_strerror (errno));
  return is_written;
}

static bool
write_svg (const Map *map, const char *path, const char *name, GError **error)
{
  g_autofree char *title = g_strdup_printf ("Who has which chips of %s", name == NULL ? "all slices" : name);
  g_autofree char *svg = map_format_svg (map, title);

  return write_file (path, svg, error);
}

static bool
print (Session *session, const char *path, GError **error)
{
  const char *name = session->words[0];
  g_autoptr (QuoitSnapshot) snapshot = session_look (session, error);
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  g_autofree char *text = NULL;
  g_autoptr (Map) map = NULL;

  if (snapshot == NULL)
    return false;
  if (name == NULL)
    add_pool (slices, snapshot, -1);
  else if (!choose (slices, snapshot, name, error))
    return false;
  map = map_of (snapshot, slices);
  if (path != NULL && !write_svg (map, path, name, error))
    return false;
  if (session_wants_json (session))
    return session_print (session, map_document (map), error);
  text = map_format_text (map);
  return session_write (session, text, error);
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *svg = NULL;
  const GOptionEntry entries[] = {
    { "svg", 0, 0, G_OPTION_ARG_FILENAME, &svg, "write the picture to this file too", "FILE" },
    G_OPTION_ENTRY_NULL,
  };

  return session_parse (session, entries, error) && session_check (session, usual_outputs, error)
         && print (session, svg, error);
}

const Verb verb_map = {
  "map",
  "[SLICE|GROUP|POOL]",
  "draw who has which chips of the torus",
  "All slices, or that one, those of a group, or those of a pool. A letter is a group, '.' is idle, '~' on a draining\n"
  "host, '#' on a dead one, '+' in use by something that is no group. x goes to the right, y down; each z is a layer.",
  0,
  1,
  run,
};
