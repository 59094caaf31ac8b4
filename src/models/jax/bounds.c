/* SPDX-License-Identifier: Apache-2.0 */
/* How JAX assigns the chips of a host to its processes. The table is part of the catalogue (gke-kuberay-jax 5.2). */
#include <quoit/models/jax.h>
#include <string.h>

#include "catalogue/catalogue.h"

/* More than any host has. Other unknown numbers are refused by the lookup. */
enum { MOST_CHIPS = 1024 };

static const QuoitProcessBounds *
find_bounds (const char *version, int64_t host_chips, int64_t chips_per_process)
{
  if (host_chips < 0 || host_chips > MOST_CHIPS || chips_per_process < 0 || chips_per_process > MOST_CHIPS)
    return NULL;

  return quoit_process_bounds_find (version, (unsigned) host_chips, (unsigned) chips_per_process);
}

/* Every generation that JAX knows has hosts of 1 chip. The table separates its words by blanks. */
static gboolean
is_jax_version (const char *word)
{
  return strchr (word, ' ') == NULL && find_bounds (word, 1, 1) != NULL;
}

/* Returns JAX's own name of the generation; @name may be any name of the catalogue. NULL on failure. */
static const char *
jax_version (const char *name, GError **error)
{
  g_autofree char *quoted = NULL;
  QuoitGeneration generation;
  const char *id;

  if (is_jax_version (name))
    return name;
  if (!quoit_generation_parse (name, &generation, error))
    return NULL;
  id = quoit_generation_facts (generation)->id;
  if (is_jax_version (id))
    return id;

  quoted = quoit_quote (name);
  return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                          "generation %s: expected one whose chips JAX divides between processes", quoted);
}

/* Returns the numbers in the table for @version, such as "1, 2, 4": chips of hosts, or, if @host_chips is not 0,
 * chips per process on such hosts. Free it with g_free(). */
static char *
list_known_numbers (const char *version, unsigned host_chips)
{
  GString *text = g_string_new (NULL);

  for (unsigned number = 1; number <= MOST_CHIPS; number *= 2)
    if (host_chips == 0 ? quoit_process_bounds_find (version, number, 1) != NULL
                        : quoit_process_bounds_find (version, host_chips, number) != NULL)
      g_string_append_printf (text, "%s%u", text->len > 0 ? ", " : "", number);
  return g_string_free (text, FALSE);
}

static gboolean
fail_with_known (const char *version, int64_t host_chips, int64_t chips_per_process, GError **error)
{
  gboolean is_host = find_bounds (version, host_chips, 1) != NULL;
  g_autofree char *known = list_known_numbers (version, is_host ? (unsigned) host_chips : 0);

  if (!is_host)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "chips of a host '%" G_GINT64_FORMAT "': expected one of %s for %s, or 0 for no bounds",
                       host_chips, known, version);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "chips of a process '%" G_GINT64_FORMAT "': expected one of %s on a host of %" G_GINT64_FORMAT
                     " chips of %s, or 0 for no bounds",
                     chips_per_process, known, host_chips, version);
}

bool
quoit_jax_process_bounds (const char *generation, int64_t host_chips, int64_t chips_per_process,
                          const char **process_bounds, const char **chips_per_process_bounds, GError **error)
{
  static const QuoitProcessBounds none = { .process_bounds = "", .chips_per_process_bounds = "" };
  gboolean has_no_bounds = host_chips == 0 || chips_per_process == 0;
  const QuoitProcessBounds *found;
  const char *version;

  g_return_val_if_fail (generation != NULL && process_bounds != NULL && chips_per_process_bounds != NULL, 0);

  version = jax_version (generation, error);
  if (version == NULL)
    return 0;
  found = has_no_bounds ? &none : find_bounds (version, host_chips, chips_per_process);
  if (found == NULL)
    return fail_with_known (version, host_chips, chips_per_process, error);

  *process_bounds = found->process_bounds;
  *chips_per_process_bounds = found->chips_per_process_bounds;
  return 1;
}
