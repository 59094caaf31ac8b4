/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the processes of a group that `env` shows. */
#include "env.h"

#include "fleet-view.h"
#include "jax-view.h"
#include "text.h"

/* --- the slices of the processes --- */

void
env_view_clear (EnvView *view)
{
  quoit_topology_free (view->topology);
  g_free (view->slices);
}

static gint64
lookup_slice (const EnvView *view, uint32_t process)
{
  g_autofree char *name = quoit_topology_dup_slice_full_name (view->topology, process);
  uint32_t slice;

  return *name != '\0' && quoit_snapshot_lookup_slice (view->snapshot, name, &slice, NULL) ? (gint64) slice : -1;
}

/* Whether the process is in the same slice as the process before it. The processes of a slice have consecutive ids. */
static bool
shares_slice_with_previous (const EnvView *view, uint32_t process)
{
  return process > 0 && !env_lacks_chips (view, process)
         && quoit_topology_get_group_slice (view->topology, process)
                == quoit_topology_get_group_slice (view->topology, process - 1);
}

void
env_view_find_slices (EnvView *view)
{
  uint32_t n = quoit_topology_get_n_processes (view->topology);

  view->slices = g_new (gint64, n + 1);
  for (uint32_t p = 0; p < n; p++)
    view->slices[p] = shares_slice_with_previous (view, p) ? view->slices[p - 1] : lookup_slice (view, p);
}

bool
env_lacks_chips (const EnvView *view, uint32_t process)
{
  return process_lacks_chips (view->topology, process);
}

char *
env_slice_name (const EnvView *view, uint32_t process)
{
  return view->slices[process] < 0 ? g_strdup (quoit_topology_get_slice_name (view->topology, process))
                                   : slice_display_name (view->snapshot, (uint32_t) view->slices[process]);
}

/* --- selection --- */

static const EnvChoice unfiltered = { -1, -1, -1, -1, -1 };

void
env_choice_options_clear (EnvChoiceOptions *options)
{
  g_free (options->slice);
  g_free (options->slice_id);
  g_free (options->worker);
  g_free (options->process);
  g_free (options->bundle);
}

bool
env_choice_parse (const EnvChoiceOptions *options, EnvChoice *choice, GError **error)
{
  static const NumberRule slice_id = { "--slice-id", "a slice id from 0", 0, G_MAXUINT32 };
  static const NumberRule worker = { "--worker", "a worker id from 0", 0, G_MAXUINT32 };
  static const NumberRule process = { "--process", "a process id from 0", 0, G_MAXUINT32 };
  static const NumberRule bundle = { "--bundle", "the index of a bundle, from 0", 0, G_MAXUINT32 };

  *choice = unfiltered;
  if (options->slice != NULL && options->slice_id != NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected one of --slice and --slice-id, got both");
      return false;
    }
  return (options->slice_id == NULL || text_parse_number (options->slice_id, &slice_id, &choice->slice_id, error))
         && (options->worker == NULL || text_parse_number (options->worker, &worker, &choice->worker_id, error))
         && (options->process == NULL || text_parse_number (options->process, &process, &choice->process, error))
         && (options->bundle == NULL || text_parse_number (options->bundle, &bundle, &choice->bundle, error));
}

static bool
is_chosen (const EnvView *view, const EnvChoice *choice, uint32_t process)
{
  const QuoitTopology *topology = view->topology;
  bool selects_workers = choice->slice >= 0 || choice->slice_id >= 0 || choice->worker_id >= 0;

  if (selects_workers && env_lacks_chips (view, process))
    return false;
  return (choice->slice < 0 || choice->slice == view->slices[process])
         && (choice->process < 0 || choice->process == process)
         && (choice->bundle < 0 || choice->bundle == quoit_topology_get_bundle (topology, process))
         && (choice->slice_id < 0 || choice->slice_id == quoit_topology_get_slice_id (topology, process))
         && (choice->worker_id < 0 || choice->worker_id == quoit_topology_get_worker_id (topology, process));
}

enum { MAX_LISTED = 8 };

/* The distinct values of the chosen processes: "0, 1, 2". */
static char *
list_values (const EnvView *view, const EnvChoice *choice, char *(*format) (const EnvView *, uint32_t))
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t p = 0; p < quoit_topology_get_n_processes (view->topology) && names->len <= MAX_LISTED; p++)
    if (is_chosen (view, choice, p))
      {
        g_autofree char *name = format (view, p);

        if (!g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
          g_ptr_array_add (names, names->len == MAX_LISTED ? g_strdup ("...") : g_steal_pointer (&name));
      }
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static char *
format_slice_id (const EnvView *view, uint32_t process)
{
  return g_strdup_printf ("%u", quoit_topology_get_slice_id (view->topology, process));
}

static char *
format_worker_id (const EnvView *view, uint32_t process)
{
  return g_strdup_printf ("%u", quoit_topology_get_worker_id (view->topology, process));
}

/* Finds the slice with the name of --slice among the slices of the group. */
static bool
find_slice (const EnvView *view, const char *given, gint64 *slice, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autofree char *known = NULL;
  uint32_t found;

  if (quoit_snapshot_lookup_slice (view->snapshot, given, &found, &why))
    for (uint32_t p = 0; p < quoit_topology_get_n_processes (view->topology); p++)
      if (view->slices[p] == found && !env_lacks_chips (view, p))
        {
          *slice = found;
          return true;
        }
  if (why != NULL && !g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&why), "--slice: ");
      return false;
    }

  known = list_values (view, &unfiltered, env_slice_name);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "--slice '%s': expected a slice of the group: %s", given,
               known);
  return false;
}

/* No process fulfils all conditions. Reports the option that is wrong. */
static void
refuse_choice (const EnvView *view, const EnvChoice *choice, GError **error)
{
  EnvChoice others = { choice->slice, choice->slice_id, -1, -1, -1 };
  g_autofree char *workers = list_values (view, &others, format_worker_id);
  g_autofree char *slices = NULL;

  if (choice->bundle >= 0)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "--bundle '%" G_GINT64_FORMAT "': %s", choice->bundle,
                   quoit_topology_get_bundle (view->topology, 0) < 0
                       ? "the group has whole hosts and no bundles"
                       : "expected the index of a bundle of the group that matches the other options");
      return;
    }
  if (choice->process >= 0)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
                   "--process '%" G_GINT64_FORMAT
                   "': expected a process id from 0 to %u that matches the other options",
                   choice->process, quoit_topology_get_n_processes (view->topology) - 1);
      return;
    }
  if (workers[0] != '\0')
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
                   "--worker '%" G_GINT64_FORMAT "': expected a worker id of the slice: %s", choice->worker_id,
                   workers);
      return;
    }
  others.slice_id = -1;
  slices = list_values (view, &others, format_slice_id);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
               "--slice-id '%" G_GINT64_FORMAT "': expected a slice id of the group: %s", choice->slice_id, slices);
}

GArray *
env_choose (const EnvView *view, const EnvChoiceOptions *options, EnvChoice *choice, GError **error)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  if (options->slice != NULL && !find_slice (view, options->slice, &choice->slice, error))
    return NULL;
  for (uint32_t p = 0; p < quoit_topology_get_n_processes (view->topology); p++)
    if (is_chosen (view, choice, p))
      g_array_append_val (chosen, p);
  if (chosen->len > 0)
    return g_steal_pointer (&chosen);

  refuse_choice (view, choice, error);
  return NULL;
}

/* Whether @format returns different texts for the processes. */
static bool
have_different_values (const EnvView *view, const GArray *chosen, char *(*format) (const EnvView *, uint32_t))
{
  g_autofree char *first = format (view, g_array_index (chosen, uint32_t, 0));

  for (guint i = 1; i < chosen->len; i++)
    {
      g_autofree char *other = format (view, g_array_index (chosen, uint32_t, i));

      if (!g_str_equal (first, other))
        return true;
    }
  return false;
}

char *
env_differing_options (const EnvView *view, const GArray *chosen)
{
  const char *slice = have_different_values (view, chosen, format_slice_id)  ? "--slice-id (or --slice)"
                      : have_different_values (view, chosen, env_slice_name) ? "--slice"
                                                                             : NULL;
  const char *worker = have_different_values (view, chosen, format_worker_id) ? "--worker" : NULL;

  if (slice == NULL && worker == NULL)
    return g_strdup ("");
  return g_strconcat (slice != NULL ? slice : worker, slice != NULL && worker != NULL ? " and --worker" : "",
                      ", or with ", NULL);
}
