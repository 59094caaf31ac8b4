/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"

#define DEFAULT_CONFIDENCE "0.95"
#define DEFAULT_ACCELERATOR "tpu7x" /* it has all shapes of cubes of the others, up to its pod */

/* The values of the options; NULL: not given. */
typedef struct {
  char *cubes, *held, *accelerator, *of, *host_availability, *availability, *confidence;
  char **shapes;
} PromiseOptions;

static void
options_clear (PromiseOptions *options)
{
  g_free (options->cubes);
  g_free (options->held);
  g_free (options->accelerator);
  g_free (options->of);
  g_free (options->host_availability);
  g_free (options->availability);
  g_free (options->confidence);
  g_strfreev (options->shapes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PromiseOptions, options_clear)

/* The probabilities that the options give. One of the first two is -1: not given. */
typedef struct {
  double host_availability, availability, confidence;
} Probabilities;

static bool
parse_probabilities (const PromiseOptions *options, Probabilities *probabilities, GError **error)
{
  *probabilities = (Probabilities) { -1, -1, -1 };
  if ((options->host_availability == NULL) == (options->availability == NULL))
    return text_refuse_usage (error, "expected either --host-availability P or --availability P");
  if (options->host_availability != NULL
      && !text_parse_probability (options->host_availability, "--host-availability", &probabilities->host_availability,
                                  error))
    return false;
  if (options->availability != NULL
      && !text_parse_probability (options->availability, "--availability", &probabilities->availability, error))
    return false;
  return text_parse_probability (options->confidence == NULL ? DEFAULT_CONFIDENCE : options->confidence, "--confidence",
                                 &probabilities->confidence, error);
}

/* Finds the availability of a cube or slice with @n_hosts hosts. */
static bool
find_availability (const Probabilities *probabilities, gint64 n_hosts, double *availability, GError **error)
{
  *availability = probabilities->availability;
  return probabilities->host_availability < 0
         || quoit_promise_availability (probabilities->host_availability, (uint32_t) n_hosts, availability, error);
}

/* Adds a result. */
static void
add_probability (Table *table, double probability)
{
  table_take_text (table, text_format_probability (probability, 9));
}

/* Adds the value of an option. -1: not given. */
static void
add_option (Table *table, double probability)
{
  table_take_text (table, probability < 0 ? NULL : text_format_probability (probability, 15));
}

/* Adds the cells of the two statistics: count, its probability, and goodput. */
static bool
add_statistics (Table *table, uint32_t n_cubes, double availability, uint32_t cubes_each, uint32_t n_held,
                double confidence, GError **error)
{
  uint32_t count;
  double probability, goodput;

  if (!quoit_promise_count (n_cubes, availability, cubes_each, n_held, confidence, &count, error)
      || !quoit_promise_probability (n_cubes, availability, n_held + count * cubes_each, &probability, error)
      || !quoit_promise_goodput (n_cubes, availability, cubes_each, &goodput, error))
    return false;
  table_add_number (table, count);
  add_probability (table, probability);
  add_probability (table, goodput);
  return true;
}

/* --- slices of cubes --- */

static const Column cube_columns[] = {
  { "cubes", "cubes", CELL_NUMBER },
  { "held", "held", CELL_NUMBER },
  { "accelerator", "accelerator", CELL_TEXT },
  { "hosts_per_cube", "hosts/cube", CELL_NUMBER },
  { "host_availability", "host availability", CELL_AMOUNT },
  { "cube_availability", "cube availability", CELL_AMOUNT },
  { "confidence", "confidence", CELL_AMOUNT },
};

static const Column shape_columns[] = {
  { "shape", "SHAPE", CELL_TEXT },       { "cubes", "CUBES", CELL_NUMBER },
  { "count", "COUNT", CELL_NUMBER },     { "probability", "PROBABILITY", CELL_AMOUNT },
  { "goodput", "GOODPUT", CELL_AMOUNT }, { "static_goodput", "STATIC GOODPUT", CELL_AMOUNT },
};

typedef struct {
  const QuoitCatalogueGeneration *generation;
  gint64 n_hosts; /* of each */
  uint32_t n_cubes, n_held;
  double availability, confidence;
} Cubes;

static bool
add_shape (Table *shapes, const Cubes *cubes, const char *shape, GError **error)
{
  const uint32_t each = quoit_catalogue_lookup_cubes (cubes->generation, shape, error);
  double goodput;

  if (each == 0)
    return false;
  if (each > cubes->n_cubes)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                   "--shape '%s': it has %u cubes, expected at most the %u of "
                   "--cubes",
                   shape, each, cubes->n_cubes);
      return false;
    }
  table_add_text (shapes, shape);
  table_add_number (shapes, each);
  if (!add_statistics (shapes, cubes->n_cubes, cubes->availability, each, cubes->n_held, cubes->confidence, error)
      || !quoit_promise_static_goodput (cubes->n_cubes, cubes->availability, each, &goodput, error))
    return false;
  add_probability (shapes, goodput);
  return true;
}

static Table *
cube_facts (const Cubes *cubes, const Probabilities *probabilities)
{
  Table *facts = table_new (cube_columns, G_N_ELEMENTS (cube_columns));

  table_add_number (facts, cubes->n_cubes);
  table_add_number (facts, cubes->n_held);
  table_take_text (facts, quoit_catalogue_generation_dup_text (cubes->generation, QUOIT_GENERATION_TEXT_ID, 0));
  table_add_number (facts, cubes->n_hosts);
  add_option (facts, probabilities->host_availability);
  add_probability (facts, cubes->availability);
  add_option (facts, cubes->confidence);
  return facts;
}

static bool
parse_cubes (const PromiseOptions *options, const Probabilities *probabilities, Cubes *cubes, GError **error)
{
  static const NumberRule cubes_rule = { "--cubes", "1 to 1000000 cubes", 1, 1000000 };
  NumberRule held_rule = { "--held", NULL, 0, 0 };
  g_autofree char *expected = NULL;
  gint64 n_cubes, n_held = 0;

  if (options->of != NULL)
    return text_refuse_usage (error, "--of counts the slices of the ledger: expected no --cubes");
  if (options->shapes == NULL)
    return text_refuse_usage (error, "--cubes requires --shape SHAPE");
  if (!text_parse_number (options->cubes, &cubes_rule, &n_cubes, error))
    return false;
  held_rule.max = n_cubes;
  held_rule.expected = expected = g_strdup_printf ("0 to %" G_GINT64_FORMAT ", the number of cubes", n_cubes);
  if (options->held != NULL && !text_parse_number (options->held, &held_rule, &n_held, error))
    return false;
  cubes->generation = quoit_catalogue_lookup_generation (
      options->accelerator == NULL ? DEFAULT_ACCELERATOR : options->accelerator, error);
  if (cubes->generation == NULL)
    return false;
  cubes->n_cubes = (uint32_t) n_cubes;
  cubes->n_held = (uint32_t) n_held;
  cubes->confidence = probabilities->confidence;
  cubes->n_hosts = quoit_catalogue_generation_get_number (cubes->generation, QUOIT_GENERATION_NUMBER_OCS_CUBE_HOSTS);
  /* Without cubes, the lookup of the first shape explains it. */
  return find_availability (probabilities, MAX (cubes->n_hosts, 1), &cubes->availability, error);
}

static bool
run_cubes (Session *session, const PromiseOptions *options, const Probabilities *probabilities, GError **error)
{
  g_autoptr (Table) shapes = table_new (shape_columns, G_N_ELEMENTS (shape_columns));
  Cubes cubes = { 0 };
  Document *document;

  if (session->at != NULL)
    return text_refuse_usage (error, "--at is a state of the ledger: expected no --cubes");
  if (!parse_cubes (options, probabilities, &cubes, error))
    return false;
  for (char **shape = options->shapes; *shape != NULL; shape++)
    if (!add_shape (shapes, &cubes, *shape, error))
      return false;

  document = document_new ();
  document_take_facts (document, cube_facts (&cubes, probabilities));
  document_take_csv_table (document, "shapes", "slices that can be promised", g_steal_pointer (&shapes));
  return session_print (session, document, error);
}

/* --- whole slices of the ledger --- */

static const Column slice_columns[] = {
  { "of", "of", CELL_TEXT },
  { "host_availability", "host availability", CELL_AMOUNT },
  { "confidence", "confidence", CELL_AMOUNT },
};

static const Column class_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", RANKED (3, CELL_NUMBER) },
  { "n_hosts", "HOSTS", RANKED (4, CELL_NUMBER) },
  { "slices", "SLICES", CELL_NUMBER },
  { "in_use", "IN USE", RANKED (2, CELL_NUMBER) },
  { "availability", "AVAILABILITY", RANKED (1, CELL_AMOUNT) },
  { "count", "COUNT", CELL_NUMBER },
  { "probability", "PROBABILITY", CELL_AMOUNT },
  { "goodput", "GOODPUT", CELL_AMOUNT },
};

/* The slices of the ledger that count: those that have all of the flags. */
static const char *const slice_sets[] = { "all", "intact", "free" };
static const QuoitSliceFlags slice_set_flags[] = { (QuoitSliceFlags) 0, QUOIT_SLICE_INTACT, QUOIT_SLICE_FREE };

typedef struct {
  uint32_t n_slices, n_in_use;
} ClassCount;

/* Returns the number of slices of each class that count, and of those in use; g_free() it. */
static ClassCount *
count_classes (const QuoitSnapshot *snapshot, QuoitSliceFlags wanted)
{
  ClassCount *counts = g_new0 (ClassCount, quoit_snapshot_get_n_classes (snapshot) + 1);

  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    {
      const int64_t class = quoit_snapshot_get_slice_class (snapshot, slice);
      const uint32_t flags = quoit_snapshot_get_slice_flags (snapshot, slice);

      if (class < 0 || (flags & wanted) != wanted)
        continue;
      counts[class].n_slices++;
      counts[class].n_in_use += (flags & QUOIT_SLICE_IDLE) == 0;
    }
  return counts;
}

static bool
class_is_selected (const QuoitSnapshot *snapshot, uint32_t class, const QuoitCatalogueGeneration *generation,
                   char **shapes)
{
  g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);

  return (generation == NULL
          || quoit_catalogue_lookup_generation (quoit_snapshot_get_class_accelerator (snapshot, class), NULL)
                 == generation)
         && (shapes == NULL || g_strv_contains ((const char *const *) shapes, topology));
}

static bool
add_class (Table *table, const QuoitSnapshot *snapshot, uint32_t class, const ClassCount *count,
           const Probabilities *probabilities, GError **error)
{
  const uint32_t n_hosts = quoit_snapshot_get_class_n_hosts (snapshot, class);
  double availability;

  if (!find_availability (probabilities, n_hosts, &availability, error))
    return false;
  table_add_text (table, quoit_snapshot_get_class_accelerator (snapshot, class));
  table_take_text (table, quoit_snapshot_dup_class_topology (snapshot, class));
  table_add_number (table, quoit_snapshot_get_class_chips_per_host (snapshot, class));
  table_add_number (table, n_hosts);
  table_add_number (table, count->n_slices);
  table_add_number (table, count->n_in_use);
  add_probability (table, availability);
  if (count->n_slices > 0)
    return add_statistics (table, count->n_slices, availability, 1, count->n_in_use, probabilities->confidence, error);
  table_add_number (table, 0);
  table_skip (table);
  table_skip (table);
  return true;
}

/* Fails if a shape is not that of any class in the table. */
static bool
check_shapes (const QuoitSnapshot *snapshot, const QuoitCatalogueGeneration *generation, char **shapes, GError **error)
{
  for (char **shape = shapes; shape != NULL && *shape != NULL; shape++)
    {
      char *only[] = { *shape, NULL };
      bool is_found = false;

      for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot) && !is_found; class ++)
        is_found = class_is_selected (snapshot, class, generation, only);
      if (!is_found)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
                       "--shape '%s': the fleet has no slices of that topology%s (slices of cubes need --cubes)",
                       *shape, generation == NULL ? "" : " and accelerator");
          return false;
        }
    }
  return true;
}

static Table *
slice_facts (const char *slice_set, const Probabilities *probabilities)
{
  Table *facts = table_new (slice_columns, G_N_ELEMENTS (slice_columns));

  table_add_text (facts, slice_set);
  add_option (facts, probabilities->host_availability);
  add_option (facts, probabilities->confidence);
  return facts;
}

static bool
run_slices (Session *session, const PromiseOptions *options, const Probabilities *probabilities, GError **error)
{
  const QuoitCatalogueGeneration *generation = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (Table) classes = table_new (class_columns, G_N_ELEMENTS (class_columns));
  g_autofree ClassCount *counts = NULL;
  Document *document;
  guint set = 0;

  if (options->of != NULL && !text_parse_word (options->of, "--of", slice_sets, G_N_ELEMENTS (slice_sets), &set, error))
    return false;
  if (options->held != NULL)
    return text_refuse_usage (error, "--held requires --cubes: the ledger has the slices in use");
  if (options->accelerator != NULL)
    {
      generation = quoit_catalogue_lookup_generation (options->accelerator, error);
      if (generation == NULL)
        return false;
    }
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL || !check_shapes (snapshot, generation, options->shapes, error))
    return false;
  counts = count_classes (snapshot, slice_set_flags[set]);
  for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot); class ++)
    if (class_is_selected (snapshot, class, generation, options->shapes)
        && !add_class (classes, snapshot, class, &counts[class], probabilities, error))
      return false;

  document = document_new ();
  document_take_facts (document, slice_facts (slice_sets[set], probabilities));
  document_take_csv_table (document, "classes", "slices that can be promised besides those in use",
                           g_steal_pointer (&classes));
  return session_print (session, document, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (PromiseOptions) options = { 0 };
  const GOptionEntry entries[] = {
    { "cubes", 0, 0, G_OPTION_ARG_FILENAME, &options.cubes,
      "the number of cubes; without it, the whole slices of the ledger count", "N" },
    { "shape", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.shapes,
      "the topology of the slices, such as 4x8x8; repeat the option for several", "SHAPE" },
    { "host-availability", 0, 0, G_OPTION_ARG_FILENAME, &options.host_availability,
      "the probability that a host works, such as 0.999", "P" },
    { "availability", 0, 0, G_OPTION_ARG_FILENAME, &options.availability,
      "instead: the probability that a cube works, or without --cubes a slice", "P" },
    { "confidence", 0, 0, G_OPTION_ARG_FILENAME, &options.confidence,
      "the probability of keeping the promise (" DEFAULT_CONFIDENCE ")", "P" },
    { "held", 0, 0, G_OPTION_ARG_FILENAME, &options.held, "with --cubes: the number of cubes that others have (0)",
      "N" },
    { "of", 0, 0, G_OPTION_ARG_FILENAME, &options.of,
      "without --cubes: the slices that count, all, intact or free (all)", "SLICES" },
    { "accelerator", 0, 0, G_OPTION_ARG_FILENAME, &options.accelerator,
      "TPU generation, in any system's spelling (with --cubes " DEFAULT_ACCELERATOR ", otherwise all)", "GEN" },
    G_OPTION_ENTRY_NULL,
  };
  Probabilities probabilities;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !parse_probabilities (&options, &probabilities, error))
    return false;
  return options.cubes != NULL ? run_cubes (session, &options, &probabilities, error)
                               : run_slices (session, &options, &probabilities, error);
}

const Verb verb_promise = {
  "promise",
  "",
  "compute how many slices can be promised at a confidence",
  "Hosts are assumed to fail independently of each other. COUNT is the number of slices that work together with at\n"
  "least this probability, GOODPUT the mean share of the cubes that are in slices, if all cubes that work form slices.",
  0,
  0,
  run,
};
