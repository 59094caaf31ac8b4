/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up rows of the tables, and generations by the names that other systems give them. */
#include "catalogue/table.h"

#include <string.h>

const QuoitGenerationFacts *
quoit_generation_row (unsigned index)
{
  return index < quoit_table_n_generations ? &quoit_table_generations[index] : NULL;
}

const QuoitMachineType *
quoit_machine_type_row (unsigned index)
{
  return index < quoit_table_n_machines ? &quoit_table_machines[index] : NULL;
}

const QuoitGkeLabel *
quoit_gke_label_row (unsigned index)
{
  return index < quoit_table_n_labels ? &quoit_table_labels[index] : NULL;
}

const QuoitProcessBounds *
quoit_process_bounds_row (unsigned index)
{
  return index < quoit_table_n_bounds ? &quoit_table_bounds[index] : NULL;
}

const QuoitProcessBounds *
quoit_process_bounds_find (const char *jax_version, unsigned host_chips, unsigned chips_per_process)
{
  g_autofree char *word = g_strdup_printf (" %s ", jax_version);

  for (unsigned i = 0; i < quoit_table_n_bounds; i++)
    if (quoit_table_bounds[i].host_chips == host_chips && quoit_table_bounds[i].chips_per_process == chips_per_process
        && strstr (quoit_table_bounds[i].versions, word) != NULL)
      return &quoit_table_bounds[i];

  return NULL;
}

const QuoitGenerationFacts *
quoit_generation_facts (QuoitGeneration generation)
{
  if (generation <= QUOIT_GENERATION_NONE || generation >= QUOIT_N_GENERATIONS)
    return NULL;

  return &quoit_table_generations[generation - 1];
}

const char *
quoit_generation_name (QuoitGeneration generation)
{
  return quoit_generation_facts (generation)->id;
}

const char *
quoit_generation_pod_name (QuoitGeneration generation)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (generation);

  return facts->ray_version != NULL ? facts->ray_version : facts->id;
}

static gboolean
is_name (const char *name, const char *text, gsize length)
{
  return name != NULL && strlen (name) == length && g_ascii_strncasecmp (name, text, length) == 0;
}

static gboolean
has_name (const QuoitGenerationFacts *facts, const char *text, gsize length)
{
  const char *const names[] = { facts->id, facts->ray_version, facts->ray_resource, facts->gke_prefix };

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    if (is_name (names[i], text, length))
      return TRUE;
  for (unsigned i = 0; i < G_N_ELEMENTS (facts->aliases); i++)
    if (is_name (facts->aliases[i], text, length) || is_name (facts->jax_kinds[i], text, length))
      return TRUE;

  return FALSE;
}

/* Returns the catalogue's id of the generation named @text, including those that no fleet can have. NULL: unknown. */
static const char *
find_id (const char *text, gsize length)
{
  for (unsigned i = 0; i < quoit_table_n_generations; i++)
    if (has_name (&quoit_table_generations[i], text, length))
      return quoit_table_generations[i].id;
  for (unsigned i = 0; i < quoit_table_n_labels; i++)
    if (is_name (quoit_table_labels[i].label, text, length)
        || is_name (quoit_table_labels[i].generation_id, text, length))
      return quoit_table_labels[i].generation_id;

  return NULL;
}

static QuoitGeneration
generation_with_id (const char *id)
{
  for (unsigned i = 0; i < quoit_table_n_generations; i++)
    if (strcmp (quoit_table_generations[i].id, id) == 0)
      return quoit_table_generations[i].generation;

  return QUOIT_GENERATION_NONE;
}

/* Returns the length of the generation name in a pod type; 0 if @text is not a pod type. */
static gsize
pod_type_generation (const char *text)
{
  const char *dash = strrchr (text, '-');

  if (dash == NULL || dash[1] == '\0' || strspn (dash + 1, "0123456789") != strlen (dash + 1))
    return 0;

  return (gsize) (dash - text);
}

/* Fails for a text that names no generation that fleets can have. @id: the generation that it names; NULL: none. */
static gboolean
fail_generation (const char *text, const char *id, GError **error)
{
  gsize length = pod_type_generation (text);
  g_autofree char *quoted = quoit_quote (text), *expected = NULL;
  g_autoptr (GString) known = NULL;

  if (id != NULL)
    {
      expected = g_strdup_printf ("one with published topologies; %s is a name only", id);
      return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "generation %s", quoted);
    }
  if (length > 0 && find_id (text, length) != NULL)
    {
      expected = g_strdup_printf ("a generation without a number of cores, such as '%.*s'", (int) length, text);
      return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "generation %s", quoted);
    }

  known = g_string_new (NULL);
  for (unsigned i = 0; i < QUOIT_N_GENERATIONS - 1; i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", quoit_table_generations[i].id);
  expected = g_strdup_printf ("one of %s, or another system's name for it", known->str);
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "generation %s", quoted);
}

gboolean
quoit_generation_parse (const char *text, QuoitGeneration *generation, GError **error)
{
  QuoitGeneration found = generation_with_id (text); /* most requests state the catalogue's id */
  const char *id = found != QUOIT_GENERATION_NONE ? text : find_id (text, strlen (text));

  if (found == QUOIT_GENERATION_NONE && id != NULL)
    found = generation_with_id (id);
  if (found == QUOIT_GENERATION_NONE)
    return fail_generation (text, id, error);
  *generation = found;
  return TRUE;
}
