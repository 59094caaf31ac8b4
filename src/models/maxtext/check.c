/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the settings of a job as MaxText 0.2.5 does: first the slices, then the mesh and the batch. */
#include <string.h>

#include "models/maxtext/maxtext.h"

/* --- slices --- */

/* Returns the accelerator that the setting compile_topology names, or NULL. */
static const QuoitMaxtextAccelerator *
compile_accelerator (QuoitMaxtextCheck *check)
{
  const char *name = quoit_maxtext_settings_find (check->settings, "compile_topology");
  const QuoitMaxtextAccelerator *accelerator;

  if (name == NULL || *name == '\0')
    return NULL;

  accelerator = quoit_maxtext_lookup_accelerator (name, NULL);
  if (accelerator == NULL)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology", name,
                              "one that MaxText lists, such as '%s'", quoit_maxtext_nearest_accelerator (name));
  return accelerator;
}

/* Uses the slices of compile_topology if the job states no slices. */
static gboolean
use_compiled_slices (QuoitMaxtextCheck *check, const QuoitMaxtextAccelerator *accelerator, GError **error)
{
  const char *name = quoit_maxtext_settings_find (check->settings, "compile_topology");
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

  check->n_slices = quoit_maxtext_settings_integer (check->settings, "compile_topology_num_slices", 1);
  if (check->n_slices < 1 || check->n_slices > QUOIT_MAXTEXT_MOST_SLICES)
    check->n_slices = 1;
  return quoit_slice_facts (generation, shape, 0, &check->slice, error);
}

static void
check_compiled (QuoitMaxtextCheck *check, const QuoitMaxtextAccelerator *accelerator)
{
  const QuoitMaxtextAccelerator *listed = quoit_maxtext_find_accelerator (check->slice.generation, check->slice.shape);
  g_autofree char *pod_type = quoit_pod_type_format (check->slice.generation, check->slice.shape);
  int64_t n_slices = quoit_maxtext_settings_integer (check->settings, "compile_topology_num_slices", -1);

  if (accelerator == NULL)
    return;

  if (listed == NULL)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology",
                              quoit_maxtext_accelerator_get_name (accelerator),
                              "none, because the slices are %s, which MaxText does not list", pod_type);
  else if (accelerator != listed)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology",
                              quoit_maxtext_accelerator_get_name (accelerator), "'%s', because the slices are %s",
                              quoit_maxtext_accelerator_get_name (listed), pod_type);
  if (n_slices < 1)
    {
      const char *given = quoit_maxtext_settings_find (check->settings, "compile_topology_num_slices");

      quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY, "compile_topology_num_slices",
                                given == NULL ? "-1" : given,
                                "the number of slices of compile_topology, %" G_GINT64_FORMAT, check->n_slices);
    }
}

static void
check_hardware (QuoitMaxtextCheck *check)
{
  const char *hardware = quoit_maxtext_settings_find (check->settings, "hardware");

  if (hardware != NULL && strcmp (hardware, "tpu") != 0)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_HARDWARE, "hardware", hardware,
                              "tpu, because the slices are TPUs");
}

static void
check_multislice (QuoitMaxtextCheck *check)
{
  const char *name = quoit_generation_name (check->slice.generation);
  g_autofree char *n_slices = g_strdup_printf ("%" G_GINT64_FORMAT, check->n_slices);

  if (check->n_slices == 1)
    return;
  if ((quoit_generation_facts (check->slice.generation)->traits & QUOIT_GENERATION_MULTISLICE_ON_GKE) == 0)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_MULTISLICE, "slices", n_slices,
                              "1: GKE does not connect slices of %s", name);
  else if (check->slice.hosts == 1)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_MULTISLICE, "slices", n_slices,
                              "1, or slices of several hosts: GKE does not connect single-host slices");
}

int64_t
quoit_maxtext_check_slices (QuoitMaxtextCheck *check)
{
  static const char *const keys[] = { "num_slices", "compile_topology_num_slices" };
  int64_t configured = quoit_maxtext_settings_integer (check->settings, keys[0], -1);
  int64_t compiled = quoit_maxtext_settings_integer (check->settings, keys[1], -1);
  int64_t n_slices = configured != -1 ? configured : compiled > 0 ? compiled : check->n_slices;
  const char *key = configured != -1 ? keys[0] : keys[1];

  if (n_slices != check->n_slices)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_NUM_SLICES, key,
                              quoit_maxtext_settings_find (check->settings, key),
                              "%" G_GINT64_FORMAT ", the number of slices", check->n_slices);
  return check->n_slices;
}

/* --- number of devices --- */

/* Parses the sides of a box, such as "2,2,1", into @shape. Each side is limited to that of the slice, which @shape has
 * before the call. FALSE if the text is malformed; @shape may then be changed. */
static gboolean
parse_box (const char *text, QuoitShape *shape)
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

/* Returns the shape of the chips in use: all of a slice, or the box "subslice_shape" of a single controller with one
 * slice. The box begins at the smallest coordinates. */
static QuoitShape
find_box (QuoitMaxtextCheck *check)
{
  const char *box = quoit_maxtext_settings_find (check->settings, "subslice_shape");
  QuoitShape shape = check->slice.shape;

  if (box != NULL && *box != '\0' && check->n_slices == 1
      && quoit_maxtext_settings_flag (check->settings, "enable_single_controller", FALSE) && !parse_box (box, &shape))
    {
      quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_VALUE, "subslice_shape", box,
                                "up to three numbers of chips separated by commas, such as 2,2,1");
      shape = check->slice.shape;
    }
  return shape;
}

/* --- report --- */

static void
set_numbers (QuoitMaxtextCheck *check)
{
  int64_t *numbers = check->report->numbers;

  numbers[QUOIT_MAXTEXT_NUMBER_SLICES] = check->n_slices;
  numbers[QUOIT_MAXTEXT_NUMBER_HOSTS] = check->n_slices * check->slice.hosts;
  numbers[QUOIT_MAXTEXT_NUMBER_CHIPS] = check->n_slices * quoit_shape_chips (check->slice.shape);
  numbers[QUOIT_MAXTEXT_NUMBER_DEVICES] = check->n_slices * check->n_devices;
  numbers[QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE] = check->n_devices;
}

QuoitMaxtextReport *
quoit_maxtext_check_job (const QuoitMaxtextJob *job, GError **error)
{
  g_autoptr (QuoitMaxtextReport) report = quoit_maxtext_report_new ();
  g_autoptr (QuoitMaxtextSettings) settings = quoit_maxtext_settings_new (job->file_settings, job->words, report);
  QuoitMaxtextCheck check = { .settings = settings, .report = report, .slice = job->slice, .n_slices = job->n_slices };
  const QuoitMaxtextAccelerator *compiled = compile_accelerator (&check);
  gboolean is_filled;

  if (check.slice.generation == QUOIT_GENERATION_NONE && !use_compiled_slices (&check, compiled, error))
    return NULL;

  report->slice = check.slice;
  check.box = find_box (&check);
  check.n_devices = quoit_shape_devices (check.slice.generation, check.box);
  set_numbers (&check);
  check_hardware (&check);
  check_multislice (&check);
  check_compiled (&check, compiled);
  is_filled = quoit_maxtext_check_axes (&check, quoit_maxtext_check_slices (&check));
  quoit_maxtext_check_batch (&check, is_filled);
  if (is_filled)
    quoit_maxtext_check_memory (&check);
  return g_steal_pointer (&report);
}
