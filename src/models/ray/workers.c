/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the workers of a slice and their resources, the slices that a number of workers needs, and the environment
 * variables by which slices find each other. */
#include "models/ray/ray.h"

#include <math.h>
#include <string.h>

#include "base/python.h"

typedef struct {
  char *name;
  double amount;
} Resource;

struct _QuoitRayResources {
  GArray *list;
};

static void
clear_resource (gpointer data)
{
  g_free (((Resource *) data)->name);
}

QuoitRayResources *
quoit_ray_resources_new (void)
{
  QuoitRayResources *resources = g_new (QuoitRayResources, 1);

  resources->list = g_array_new (FALSE, FALSE, sizeof (Resource));
  g_array_set_clear_func (resources->list, clear_resource);
  return resources;
}

void
quoit_ray_resources_free (QuoitRayResources *resources)
{
  if (resources == NULL)
    return;

  g_array_unref (resources->list);
  g_free (resources);
}

static Resource *
find (const QuoitRayResources *resources, const char *name)
{
  for (unsigned i = 0; i < resources->list->len; i++)
    {
      Resource *resource = &g_array_index (resources->list, Resource, i);

      if (strcmp (resource->name, name) == 0)
        return resource;
    }
  return NULL;
}

void
quoit_ray_resources_set (QuoitRayResources *resources, const char *name, double amount)
{
  Resource *existing = find (resources, name);
  Resource added = { NULL, amount };

  if (existing != NULL)
    {
      existing->amount = amount;
      return;
    }
  added.name = g_strdup (name);
  g_array_append_val (resources->list, added);
}

const char *
quoit_ray_resources_get_name (const QuoitRayResources *resources, uint32_t index)
{
  return index < resources->list->len ? g_array_index (resources->list, Resource, index).name : NULL;
}

double
quoit_ray_resources_get_amount (const QuoitRayResources *resources, uint32_t index)
{
  return index < resources->list->len ? g_array_index (resources->list, Resource, index).amount : 0;
}

const double *
quoit_ray_resources_find (const QuoitRayResources *resources, const char *name)
{
  const Resource *existing = resources != NULL ? find (resources, name) : NULL;

  return existing != NULL ? &existing->amount : NULL;
}

QuoitRayResources *
quoit_ray_resources_copy (const QuoitRayResources *resources)
{
  QuoitRayResources *copy = quoit_ray_resources_new ();

  for (unsigned i = 0; resources != NULL && i < resources->list->len; i++)
    quoit_ray_resources_set (copy, quoit_ray_resources_get_name (resources, i),
                             quoit_ray_resources_get_amount (resources, i));
  return copy;
}

bool
quoit_ray_resource_per_chip (const char *text, int64_t *factor, GError **error)
{
  g_autoptr (QuoitBig) big = NULL;
  g_autofree char *quoted = NULL;
  int64_t value;

  if (text == NULL)
    return *factor = 1, TRUE;

  if (quoit_python_is_decimal (text))
    big = quoit_python_int (text, "RAY_TPU_RESOURCE_PER_CHIP", NULL);
  if (big != NULL && quoit_big_to_int (big, &value) && value >= 1)
    return *factor = value, TRUE;

  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "RAY_TPU_RESOURCE_PER_CHIP %s: expected decimal digits, 1 or more",
                     quoted);
}

/* The amount of TPU of one worker. Like Python, this file divides whole amounts as integers and others as floats. */
typedef struct {
  double amount;
  int64_t whole; /* 0: not a whole number, or beyond 64 bits */
} WorkerAmount;

static WorkerAmount
to_worker_amount (double amount)
{
  return (WorkerAmount) { amount, amount > 0 && amount < 0x1p63 && amount == floor (amount) ? (int64_t) amount : 0 };
}

/* Returns whether @worker_amount divides @total without a remainder. Sets *@quotient, or to NULL if it exceeds 64
 * bits. */
static gboolean
divides (const QuoitBig *total, WorkerAmount worker_amount, QuoitBig **quotient)
{
  double float_quotient, rest;
  int64_t exact_rest;

  *quotient = NULL;
  if (worker_amount.whole > 0)
    {
      *quotient = quoit_big_divide (total, worker_amount.whole, &exact_rest);
      return exact_rest == 0;
    }

  float_quotient = quoit_python_divide (quoit_big_to_double (total), worker_amount.amount, &rest);
  if (rest != 0 || isnan (rest))
    return FALSE;
  if (float_quotient >= -0x1p63 && float_quotient < 0x1p63)
    *quotient = quoit_big_from_int ((int64_t) float_quotient);
  return TRUE;
}

static gboolean
check_positive (const char *what, const int64_t *value, GError **error)
{
  if (value == NULL || *value > 0)
    return TRUE;

  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s '%" G_GINT64_FORMAT "': expected 1 or more", what,
                     (gint64) *value);
}

/* Sets *@chips to the given number of chips of a host, or to Ray's default. */
static gboolean
resolve_chips_per_vm (const char *topology, const char *accelerator_type, const int64_t *given, int64_t *chips,
                      GError **error)
{
  g_autofree char *version = quoit_ray_version_from_type (accelerator_type, error);

  if (version == NULL || !check_positive ("chips per VM", given, error))
    return FALSE;
  if (given != NULL)
    return *chips = *given, TRUE;

  return quoit_ray_chips_per_host (topology, version, chips, error);
}

static QuoitBig *
multiply (const QuoitBig *big, int64_t factor)
{
  g_autoptr (QuoitBig) other = quoit_big_from_int (factor);

  return quoit_big_multiply (big, other);
}

static gboolean
count_workers (const QuoitBig *slice_tpu, int64_t n_slices, WorkerAmount tpu, int64_t *n_workers, GError **error)
{
  g_autoptr (QuoitBig) total_tpu = multiply (slice_tpu, n_slices), total_workers = NULL, slice_workers = NULL;

  if (!(tpu.amount > 0))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU of a worker '%.17g': expected more than 0", tpu.amount);
  if (!divides (total_tpu, tpu, &total_workers) || !divides (slice_tpu, tpu, &slice_workers))
    {
      g_autofree char *total = quoit_big_format (slice_tpu);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "TPU of a worker '%.17g': expected a number that divides the %.40s TPU of a slice", tpu.amount,
                         total);
    }
  if (total_workers == NULL || !quoit_big_to_int (total_workers, n_workers))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology: expected a number of workers that fits in 64 bits");

  return TRUE;
}

/* Computes the number of workers, and in @tpu_of_vm the amount of TPU of a host, in units of the resource. */
static gboolean
plan_workers (const char *topology, const char *accelerator_type, const QuoitRayResources *per_worker, int64_t n_slices,
              const int64_t *chips_per_vm, const int64_t *resource_per_chip, double *tpu_of_vm, int64_t *n_workers,
              GError **error)
{
  g_autoptr (QuoitBig) chips = NULL, slice_tpu = NULL;
  const Resource *requested_tpu = per_worker != NULL ? find (per_worker, "TPU") : NULL;
  int64_t factor = resource_per_chip != NULL ? *resource_per_chip : 1, chips_of_vm;

  if (!check_positive ("TPU per chip", resource_per_chip, error)
      || !resolve_chips_per_vm (topology, accelerator_type, chips_per_vm, &chips_of_vm, error))
    return FALSE;

  chips = quoit_ray_topology_chips (topology, error);
  if (chips == NULL)
    return FALSE;

  *tpu_of_vm = (double) ((__int128) chips_of_vm * factor);
  /* For whole hosts, both numbers would be multiplied by the factor, which does not change the quotient. Without the
   * factor they fit in 64 bits. */
  if (requested_tpu == NULL)
    return count_workers (chips, n_slices, (WorkerAmount) { (double) chips_of_vm, chips_of_vm }, n_workers, error);

  slice_tpu = multiply (chips, factor);
  return count_workers (slice_tpu, n_slices, to_worker_amount (requested_tpu->amount), n_workers, error);
}

QuoitRayResources *
quoit_ray_worker_resources (const char *topology, const char *accelerator_type, const QuoitRayResources *per_worker,
                            int64_t n_slices, const int64_t *chips_per_vm, const int64_t *resource_per_chip,
                            int64_t *n_workers, GError **error)
{
  QuoitRayResources *worker;
  double tpu_of_vm;

  if (!plan_workers (topology, accelerator_type, per_worker, n_slices, chips_per_vm, resource_per_chip, &tpu_of_vm,
                     n_workers, error))
    return NULL;

  worker = quoit_ray_resources_copy (per_worker);
  if (find (worker, "CPU") == NULL)
    quoit_ray_resources_set (worker, "CPU", 1);
  if (find (worker, "TPU") == NULL)
    quoit_ray_resources_set (worker, "TPU", tpu_of_vm);
  return worker;
}

int64_t
quoit_ray_slices_for_workers (const char *topology, const char *accelerator_type, int64_t n_workers,
                              const QuoitRayResources *per_worker, const int64_t *resource_per_chip)
{
  int64_t slice_tpu = 0;
  double tpu_of_vm, slices;

  if (topology == NULL || *topology == '\0' || accelerator_type == NULL || *accelerator_type == '\0')
    return 1;

  /* If the workers of a slice exceed 64 bits, one slice is enough for any number of workers. Ray returns 1 for all
   * other failures too. */
  if (!plan_workers (topology, accelerator_type, per_worker, 1, NULL, resource_per_chip, &tpu_of_vm, &slice_tpu, NULL)
      || slice_tpu == 0)
    return 1;

  slices = ceil ((double) ((long double) n_workers / (long double) slice_tpu));
  return slices >= 0x1p63 ? INT64_MAX : MAX (1, (int64_t) slices);
}

char **
quoit_ray_coordinator_env (const char *address, int64_t n_slices, int64_t slice_id, const char *port)
{
  g_autoptr (GStrvBuilder) env = g_strv_builder_new ();
  g_autofree char *address_variable = g_strconcat ("MEGASCALE_COORDINATOR_ADDRESS=", address, NULL);
  g_autofree char *port_variable = g_strconcat ("MEGASCALE_PORT=", port != NULL ? port : "8081", NULL);
  g_autofree char *count_variable = g_strdup_printf ("MEGASCALE_NUM_SLICES=%" G_GINT64_FORMAT, (gint64) n_slices);
  g_autofree char *id_variable = g_strdup_printf ("MEGASCALE_SLICE_ID=%" G_GINT64_FORMAT, (gint64) slice_id);

  g_strv_builder_add_many (env, address_variable, port_variable, count_variable, id_variable, NULL);
  return g_strv_builder_end (env);
}
