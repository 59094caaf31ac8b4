/* SPDX-License-Identifier: Apache-2.0 */
/* The chips that a process may use: the ids that Ray assigns, and the environment variables by which libtpu learns
 * them. */
#include "models/ray/ray.h"

#include <quoit/models/ray-host.h>
#include <string.h>

#include "base/python.h"

/* Maximum number of ids. Each chip has one id per device, so a large factor could use any amount of memory
 * otherwise. */
enum { MAX_IDS = 1 << 16 };

#define VISIBLE_CHIPS "TPU_VISIBLE_CHIPS"
#define CHIP_BOUNDS "TPU_CHIPS_PER_HOST_BOUNDS"
#define HOST_BOUNDS "TPU_HOST_BOUNDS"

static gboolean
read_factor (const char *const *env, int64_t *factor, GError **error)
{
  return quoit_ray_resource_per_chip (g_environ_getenv ((char **) env, "RAY_TPU_RESOURCE_PER_CHIP"), factor, error);
}

/* Adds the ids of the devices of @chip. Each chip has @factor devices. */
static gboolean
add_devices (GPtrArray *ids, const char *chip, int64_t factor, GError **error)
{
  g_autoptr (QuoitBig) number = quoit_python_int (chip, "chip", error), times = NULL, first = NULL;

  if (number == NULL)
    return FALSE;
  if (factor > MAX_IDS || ids->len + factor > MAX_IDS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, VISIBLE_CHIPS ": expected at most 65536 ids");

  times = quoit_big_from_int (factor);
  first = quoit_big_multiply (number, times);
  for (guint32 device = 0; device < factor; device++)
    {
      g_autoptr (QuoitBig) id = quoit_big_add (first, device);

      g_ptr_array_add (ids, quoit_big_format (id));
    }
  return TRUE;
}

/* Returns the ids of the devices of the chips in @text, which commas separate. Blank texts are skipped. */
static char **
list_devices (const char *text, int64_t factor, GError **error)
{
  g_auto (GStrv) chips = g_strsplit (text, ",", -1);
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);

  for (char **chip = chips; *chip != NULL; chip++)
    {
      g_autofree char *stripped = quoit_python_strip (*chip);

      if (*stripped != '\0' && !add_devices (ids, *chip, factor, error))
        return NULL;
    }
  g_ptr_array_add (ids, NULL);
  return (char **) g_ptr_array_steal (ids, NULL);
}

char **
quoit_ray_visible_ids (const char *const *env, GError **error)
{
  const char *text = g_environ_getenv ((char **) env, VISIBLE_CHIPS);
  g_autofree char *valid = NULL;
  int64_t factor;

  if (text == NULL)
    return NULL;
  if (*text == '\0')
    return g_new0 (char *, 1);
  if (!read_factor (env, &factor, error))
    return NULL;

  valid = g_utf8_make_valid (text, -1);
  return factor == 1 ? g_strsplit (valid, ",", -1) : list_devices (valid, factor, error);
}

static int
compare_chips (gconstpointer a, gconstpointer b)
{
  return quoit_big_compare (*(const QuoitBig *const *) a, *(const QuoitBig *const *) b);
}

/* Returns the chips of the devices @ids as a sorted array of QuoitBig, or NULL on failure. */
static GPtrArray *
list_chips (const char *const *ids, int64_t factor, GError **error)
{
  g_autoptr (GPtrArray) chips = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_big_free);

  for (; *ids != NULL; ids++)
    {
      g_autoptr (QuoitBig) number = quoit_python_int (*ids, "chip", error);
      int64_t device;

      if (number == NULL)
        return NULL;
      g_ptr_array_add (chips, quoit_big_divide (number, factor, &device));
    }
  g_ptr_array_sort (chips, compare_chips);
  return g_steal_pointer (&chips);
}

/* Returns the different chips as text with commas, and sets *@n_chips to their number. */
static char *
join (const GPtrArray *chips, guint *n_chips)
{
  GString *text = g_string_new (NULL);

  *n_chips = 0;
  for (guint i = 0; i < chips->len; i++)
    {
      g_autofree char *chip = quoit_big_format (chips->pdata[i]);

      if (i > 0 && quoit_big_compare (chips->pdata[i - 1], chips->pdata[i]) == 0)
        continue;
      g_string_append_printf (text, "%s%s", i > 0 ? "," : "", chip);
      ++*n_chips;
    }
  return g_string_free (text, FALSE);
}

/* Returns the bounds for 1 or 2 chips. Returns NULL for other numbers, for which libtpu determines the bounds
 * itself. */
static const char *
chip_bounds (guint n_chips)
{
  static const char *const bounds[] = { NULL, "1,1,1", "1,2,1" };

  return n_chips < G_N_ELEMENTS (bounds) ? bounds[n_chips] : NULL;
}

static gboolean
is_truthy (const char *value)
{
  g_autofree char *lower = value != NULL ? quoit_python_lower (value) : NULL;

  return g_strcmp0 (lower, "true") == 0 || g_strcmp0 (lower, "1") == 0;
}

static char **
remove_bounds (char **env)
{
  return g_environ_unsetenv (g_environ_unsetenv (env, CHIP_BOUNDS), HOST_BOUNDS);
}

/* Sets the bounds of the chips and of the host. Like Ray, it keeps host bounds that are set already, if the chip bounds
 * are set to @bounds already. */
static char **
set_bounds (char **env, const char *bounds)
{
  const char *before = g_environ_getenv (env, CHIP_BOUNDS);
  gboolean same = g_strcmp0 (before, bounds) == 0;

  return g_environ_setenv (g_environ_setenv (env, CHIP_BOUNDS, bounds, TRUE), HOST_BOUNDS, "1,1,1", !same);
}

char **
quoit_ray_visible_env (const char *const *ids, int64_t n_on_node, const char *const *env, GError **error)
{
  static const char *const nothing[] = { NULL };
  g_auto (GStrv) after = g_strdupv ((char **) (env != NULL ? env : nothing));
  const char *before = g_environ_getenv (after, CHIP_BOUNDS), *bounds;
  g_autoptr (GPtrArray) chips = NULL;
  g_autofree char *text = NULL;
  gboolean is_stale;
  guint n_chips;
  int64_t factor;

  if (is_truthy (g_environ_getenv (after, "RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS")))
    return g_steal_pointer (&after);
  if (!read_factor (env, &factor, error))
    return NULL;
  chips = list_chips (ids, factor, error);
  if (chips == NULL)
    return NULL;

  text = join (chips, &n_chips);
  bounds = chip_bounds (n_chips);
  is_stale = bounds == NULL && (g_strcmp0 (before, "1,1,1") == 0 || g_strcmp0 (before, "1,2,1") == 0);
  if (is_stale)
    after = remove_bounds (g_steal_pointer (&after));
  if (g_strv_length ((char **) ids) == n_on_node)
    return g_environ_unsetenv (g_steal_pointer (&after), VISIBLE_CHIPS);

  after = g_environ_setenv (g_steal_pointer (&after), VISIBLE_CHIPS, text, TRUE);
  return bounds != NULL ? set_bounds (g_steal_pointer (&after), bounds) : g_steal_pointer (&after);
}
