/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "verbs.h"

/* The library returns -1 for a number that is not published. */
static void
add_published (Table *table, int64_t number)
{
  if (number < 0)
    table_skip (table);
  else
    table_add_number (table, number);
}

/* --- generations --- */

static const Column generation_columns[] = {
  { "generation", "GENERATION", CELL_TEXT },
  { "pod_type_name", "IN POD TYPES", RANKED (3, CELL_TEXT) },
  { "dims", "DIMS", CELL_NUMBER },
  { "cores_per_chip", "CORES/CHIP", CELL_NUMBER },
  { "hbm_gb", "HBM GB", CELL_NUMBER },
  { "bf16_gflops", "BF16 GFLOPS", RANKED (2, CELL_NUMBER) },
  { "pod_chips", "POD CHIPS", CELL_NUMBER },
  { "max_slice_chips", "SLICE CHIPS", CELL_NUMBER },
  { "aliases", "ALSO", RANKED (4, CELL_LIST) },
};

static GPtrArray *
all_texts (const QuoitCatalogueGeneration *generation, QuoitGenerationText which)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (unsigned i = 0;; i++)
    {
      char *text = quoit_catalogue_generation_dup_text (generation, which, i);

      if (text == NULL)
        return texts;
      g_ptr_array_add (texts, text);
    }
}

static void
add_generation (Table *table, const QuoitCatalogueGeneration *generation)
{
  static const QuoitGenerationNumber numbers[] = {
    QUOIT_GENERATION_NUMBER_DIMS,      QUOIT_GENERATION_NUMBER_CORES_PER_CHIP,
    QUOIT_GENERATION_NUMBER_HBM_GB,    QUOIT_GENERATION_NUMBER_BF16_GFLOPS,
    QUOIT_GENERATION_NUMBER_POD_CHIPS, QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS,
  };

  table_take_text (table, quoit_catalogue_generation_dup_text (generation, QUOIT_GENERATION_TEXT_ID, 0));
  table_take_text (table, quoit_catalogue_generation_dup_text (generation, QUOIT_GENERATION_TEXT_NAME, 0));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    add_published (table, quoit_catalogue_generation_get_number (generation, numbers[i]));
  table_take_list (table, all_texts (generation, QUOIT_GENERATION_TEXT_ALIAS));
}

static void
describe_generations (Document *document)
{
  Table *table = table_new (generation_columns, G_N_ELEMENTS (generation_columns));
  const QuoitCatalogueGeneration *generation;

  for (unsigned i = 0; (generation = quoit_catalogue_get_generation (i)) != NULL; i++)
    add_generation (table, generation);
  document_take_table (document, "generations", NULL, table);
}

/* --- topologies --- */

static const Column topology_columns[] = {
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "pod_type", "POD TYPE", RANKED (3, CELL_TEXT) },
  { "gke_accelerator_type", "IN GKE", CELL_TEXT },
  { "machine_type", "MACHINE TYPE", RANKED (4, CELL_TEXT) },
  { "chips", "CHIPS", CELL_NUMBER },
  { "hosts", "HOSTS", CELL_NUMBER },
  { "chips_per_host", "CHIPS/HOST", CELL_NUMBER },
  { "cores", "CORES", RANKED (6, CELL_NUMBER) },
  { "jax_devices", "JAX DEVICES", RANKED (5, CELL_NUMBER) },
  { "host_block", "HOST BLOCK", RANKED (7, CELL_TEXT) },
  { "host_grid", "HOST GRID", RANKED (7, CELL_TEXT) },
  { "wrap", "WRAP", RANKED (3, CELL_TEXT) },
  { "accepted_by", NULL, CELL_LIST },
  { NULL, "ACCEPTED BY", RANKED (2, CELL_TEXT) },
};

/* The systems that accept a topology, and the letters that the library uses for them. */
static const struct {
  char letter;
  const char *word;
} accepters[] = {
  { 'K', "kubectl-ray" }, { 'R', "ray" }, { 'X', "xpk" }, { 'M', "maxtext" }, { 'T', "toolkit" },
};

static GPtrArray *
accepter_words (const char *letters)
{
  GPtrArray *words = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (accepters); i++)
    if (strchr (letters, accepters[i].letter) != NULL)
      g_ptr_array_add (words, (char *) accepters[i].word);
  return words;
}

static char *
legend (void)
{
  GString *text = g_string_new ("accepted by:");

  for (guint i = 0; i < G_N_ELEMENTS (accepters); i++)
    g_string_append_printf (text, " %c %s,", accepters[i].letter, accepters[i].word);
  g_string_append (text, " - documentation");
  return g_string_free (text, FALSE);
}

static void
add_topology (Table *table, const QuoitCatalogueTopology *topology)
{
  static const QuoitTopologyText first[]
      = { QUOIT_TOPOLOGY_TEXT_SHAPE, QUOIT_TOPOLOGY_TEXT_POD_TYPE, QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE,
          QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE };
  static const QuoitTopologyNumber numbers[]
      = { QUOIT_TOPOLOGY_NUMBER_CHIPS, QUOIT_TOPOLOGY_NUMBER_HOSTS, QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST,
          QUOIT_TOPOLOGY_NUMBER_CORES, QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES };
  static const QuoitTopologyText last[]
      = { QUOIT_TOPOLOGY_TEXT_HOST_BLOCK, QUOIT_TOPOLOGY_TEXT_HOST_GRID, QUOIT_TOPOLOGY_TEXT_WRAP };
  char *accepted_by = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY);

  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    table_take_text (table, quoit_catalogue_topology_dup_text (topology, first[i]));
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    add_published (table, quoit_catalogue_topology_get_number (topology, numbers[i]));
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    table_take_text (table, quoit_catalogue_topology_dup_text (topology, last[i]));
  table_take_list (table, accepter_words (accepted_by));
  table_take_text (table, accepted_by);
}

/* Lists every way to build @shape, or all topologies of the generation if @shape is NULL. */
static bool
describe_topologies (Document *document, const QuoitCatalogueGeneration *generation, const char *shape, GError **error)
{
  g_autoptr (Table) table = table_new (topology_columns, G_N_ELEMENTS (topology_columns));
  const QuoitCatalogueTopology *topology;

  for (unsigned i = 0; (topology = quoit_catalogue_get_topology (generation, i)) != NULL; i++)
    {
      g_autofree char *text = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_SHAPE);

      if (shape == NULL || g_str_equal (shape, text))
        add_topology (table, topology);
    }
  /* Without a match, the lookup fails with a message that lists similar topologies. */
  if (table_get_n_rows (table) == 0 && shape != NULL
      && quoit_catalogue_lookup_topology (generation, shape, 0, error) == NULL)
    return false;
  document_take_table (document, "topologies", NULL, g_steal_pointer (&table));
  document_take_sentence (document, legend ());
  return true;
}

static bool
describe (Document *document, char **words, GError **error)
{
  const QuoitCatalogueGeneration *generation;

  if (words[0] == NULL)
    {
      describe_generations (document);
      return true;
    }
  generation = quoit_catalogue_lookup_generation (words[0], error);
  return generation != NULL && describe_topologies (document, generation, words[1], error);
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (Document) document = document_new ();

  if (!session_begin (session, error) || !describe (document, session->words, error))
    return false;
  return session_print (session, g_steal_pointer (&document), error);
}

const Verb verb_catalogue = {
  "catalogue",
  "[GEN [TOPOLOGY]]",
  "list the TPU generations, or the topologies of a generation",
  "The verb needs no database. The last column has a letter for each system that accepts the topology: K\n"
  "kubectl-ray, R ray, X xpk, M maxtext, T toolkit. Without a letter, only the documentation lists the topology.",
  0,
  2,
  run,
};
