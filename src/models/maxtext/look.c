/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a job's settings as MaxText 0.2.5 would, on its slices: their type and number. */
#include <string.h>

#include "models/maxtext/maxtext.h"

/* --- slices --- */

static const QuoitMaxtextAccelerator *
compile_accelerator (QuoitMaxtextLook *look)
{
  const char *name = quoit_maxtext_settings_find (look->settings, "compile_topology");
  const QuoitMaxtextAccelerator *accelerator;
  g_autoptr (GError) why = NULL;

  if (name == NULL || *name == '\0')
    return NULL;

  accelerator = quoit_maxtext_lookup_accelerator (name, &why);
  if (accelerator == NULL)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology", name, "%s",
                              strstr (why->message, "one that"));
  return accelerator;
}

/* Uses the slices of compile_topology if the job states no slices. */
static gboolean
take_compiled (QuoitMaxtextLook *look, const QuoitMaxtextAccelerator *accelerator, GError **error)
{
  const char *name = quoit_maxtext_settings_find (look->settings, "compile_topology");
  QuoitGeneration generation;
  QuoitShape shape;

  if (accelerator == NULL && name != NULL && *name != '\0')
    {
      quoit_maxtext_lookup_accelerator (name, error);
      g_prefix_error (error, "compile_topology: ");
      return FALSE;
    }
  if (accelerator == NULL || !quoit_maxtext_accelerator_shape (accelerator, &generation, &shape))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slices: expected accelerator and topology, or a compile_topology of TPUs that MaxText lists");

  look->n_slices = quoit_maxtext_settings_integer (look->settings, "compile_topology_num_slices", 1);
  if (look->n_slices < 1 || look->n_slices > QUOIT_MAXTEXT_MOST_SLICES)
    look->n_slices = 1;
  return quoit_slice_facts (generation, shape, 0, &look->slice, error);
}

static void
check_compiled (QuoitMaxtextLook *look, const QuoitMaxtextAccelerator *accelerator)
{
  const QuoitMaxtextAccelerator *ours = quoit_maxtext_accelerator_of (look->slice.generation, look->slice.shape);
  g_autofree char *pod_type = quoit_pod_type_format (look->slice.generation, look->slice.shape);
  int64_t n_slices = quoit_maxtext_settings_integer (look->settings, "compile_topology_num_slices", -1);

  if (accelerator == NULL)
    return;

  if (accelerator != ours)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology",
                              quoit_maxtext_accelerator_get_name (accelerator), "%s%s%s, which the slices are",
                              ours == NULL ? "none, as MaxText does not list " : "'",
                              ours == NULL ? pod_type : quoit_maxtext_accelerator_get_name (ours),
                              ours == NULL ? "" : "'");
  if (n_slices < 1)
    {
      const char *given = quoit_maxtext_settings_find (look->settings, "compile_topology_num_slices");

      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology_num_slices",
                                given == NULL ? "-1" : given,
                                "the number of slices beside compile_topology, %" G_GINT64_FORMAT, look->n_slices);
    }
}

static void
check_hardware (QuoitMaxtextLook *look)
{
  const char *hardware = quoit_maxtext_settings_find (look->settings, "hardware");

  if (hardware != NULL && strcmp (hardware, "tpu") != 0)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_HARDWARE, "hardware", hardware,
                              "tpu, which the slices are");
}

static void
check_multislice (QuoitMaxtextLook *look)
{
  const char *name = quoit_generation_name (look->slice.generation);
  g_autofree char *n_slices = g_strdup_printf ("%" G_GINT64_FORMAT, look->n_slices);

  if (look->n_slices == 1)
    return;
  if ((quoit_generation_facts (look->slice.generation)->traits & QUOIT_GENERATION_MULTISLICE_ON_GKE) == 0)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_MULTISLICE, "slices", n_slices,
                              "1: GKE joins no slices of %s", name);
  else if (look->slice.hosts == 1)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_MULTISLICE, "slices", n_slices,
                              "1, or slices of several hosts: GKE joins no others");
}

int64_t
quoit_maxtext_look_slices (QuoitMaxtextLook *look)
{
  static const char *const keys[] = { "num_slices", "compile_topology_num_slices" };
  int64_t configured = quoit_maxtext_settings_integer (look->settings, keys[0], -1);
  int64_t compiled = quoit_maxtext_settings_integer (look->settings, keys[1], -1);
  int64_t n_slices = configured != -1 ? configured : compiled > 0 ? compiled : look->n_slices;
  const char *key = configured != -1 ? keys[0] : keys[1];

  if (n_slices != look->n_slices)
    quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_NUM_SLICES, key,
                              quoit_maxtext_settings_find (look->settings, key),
                              "%" G_GINT64_FORMAT ", the slices that there are", look->n_slices);
  return look->n_slices;
}

/* --- number of devices --- */

/* Reads "2,2,1": a single controller of one slice uses only this box, which begins at the smallest coordinates. Each
 * side is limited to that of the slice. FALSE if the text is malformed. */
static gboolean
cut_box (const char *text, QuoitShape *shape)
{
  g_auto (GStrv) sides = g_strsplit (text, ",", -1);
  guint64 side;

  for (unsigned axis = 0; sides[axis] != NULL; axis++)
    {
      g_strstrip (sides[axis]);
      if (axis >= 3 || !g_ascii_string_to_unsigned (sides[axis], 10, 1, G_MAXINT64, &side, NULL))
        return FALSE;
      shape->dims[axis] = (guint16) MIN (side, shape->dims[axis]);
    }
  return TRUE;
}

static QuoitShape
box_of (QuoitMaxtextLook *look)
{
  const char *box = quoit_maxtext_settings_find (look->settings, "subslice_shape");
  QuoitShape shape = look->slice.shape;

  if (box != NULL && *box != '\0' && look->n_slices == 1
      && quoit_maxtext_settings_flag (look->settings, "enable_single_controller", FALSE) && !cut_box (box, &shape))
    {
      quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_VALUE, "subslice_shape", box,
                                "up to three numbers of chips with commas between them, as 2,2,1");
      shape = look->slice.shape;
    }
  return shape;
}

/* --- report --- */

static void
count (QuoitMaxtextLook *look)
{
  int64_t *numbers = look->report->numbers;

  numbers[QUOIT_MAXTEXT_NUMBER_SLICES] = look->n_slices;
  numbers[QUOIT_MAXTEXT_NUMBER_HOSTS] = look->n_slices * look->slice.hosts;
  numbers[QUOIT_MAXTEXT_NUMBER_CHIPS] = look->n_slices * quoit_shape_chips (look->slice.shape);
  numbers[QUOIT_MAXTEXT_NUMBER_DEVICES] = look->n_slices * look->n_devices;
  numbers[QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE] = look->n_devices;
}

QuoitMaxtextReport *
quoit_maxtext_look (const QuoitMaxtextJob *job, GError **error)
{
  g_autoptr (QuoitMaxtextReport) report = quoit_maxtext_report_new ();
  g_autoptr (QuoitMaxtextSettings) settings = quoit_maxtext_settings_new (job->entries, job->words, report);
  QuoitMaxtextLook look = { .settings = settings, .report = report, .slice = job->slice, .n_slices = job->n_slices };
  const QuoitMaxtextAccelerator *compiled = compile_accelerator (&look);
  int64_t n_slices;

  if (look.slice.generation == QUOIT_GENERATION_NONE && !take_compiled (&look, compiled, error))
    return NULL;

  report->slice = look.slice;
  look.box = box_of (&look);
  look.n_devices = quoit_shape_devices (look.slice.generation, look.box);
  count (&look);
  check_hardware (&look);
  check_multislice (&look);
  check_compiled (&look, compiled);
  n_slices = quoit_maxtext_look_slices (&look);
  quoit_maxtext_look_batch (&look, quoit_maxtext_look_axes (&look, n_slices));
  return g_steal_pointer (&report);
}
