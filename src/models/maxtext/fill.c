/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText's rule that fills the one axis of size -1, and the changes that help if that is impossible. */
#include <math.h>

#include "models/maxtext/maxtext.h"

int64_t
quoit_maxtext_product (const int64_t *sizes, unsigned n_axes)
{
  uint64_t product = 1;

  for (unsigned i = 0; i < n_axes; i++)
    product *= (uint64_t) sizes[i];
  return (int64_t) product;
}

static unsigned
count_unspecified (const int64_t *sizes, unsigned n_axes, unsigned *first)
{
  unsigned n = 0;

  for (unsigned i = n_axes; i-- > 0;)
    if (sizes[i] == -1)
      {
        *first = i;
        n++;
      }
  return n;
}

/* MaxText divides in floating point, so a product of 0 gives infinity or NaN, which is refused here too. */
static gboolean
find_unspecified (int64_t target, int64_t product, int64_t *size)
{
  double value = (double) target / (double) product * -1;

  if (!(value >= 1) || value >= 0x1p63 || floor (value) != value)
    return FALSE;
  *size = (int64_t) value;
  return TRUE;
}

QuoitFillResult
quoit_maxtext_try_fill (int64_t *sizes, unsigned n_axes, int64_t target)
{
  unsigned axis = 0, n_unspecified = count_unspecified (sizes, n_axes, &axis);
  int64_t size = 0;

  if (n_unspecified > 1)
    return QUOIT_FILL_TWO_UNSPECIFIED;
  if (n_unspecified == 1 && !find_unspecified (target, quoit_maxtext_product (sizes, n_axes), &size))
    return QUOIT_FILL_NOT_WHOLE;

  if (n_unspecified == 1)
    sizes[axis] = size;
  if (quoit_maxtext_product (sizes, n_axes) == target)
    return QUOIT_FILL_DONE;
  if (n_unspecified == 1)
    sizes[axis] = -1;
  return QUOIT_FILL_PRODUCT;
}

static char *
format_sizes (const int64_t *sizes, unsigned n_axes)
{
  enum { MOST_SHOWN = 16 };
  GString *text = g_string_new (NULL);

  for (unsigned i = 0; i < MIN (n_axes, MOST_SHOWN); i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", (gint64) sizes[i]);
  if (n_axes > MOST_SHOWN)
    g_string_append (text, ",...");
  return g_string_free (text, FALSE);
}

bool
quoit_maxtext_fill (QuoitMaxtextLinks links, int64_t *sizes, uint32_t n_axes, int64_t target, GError **error)
{
  const char *name = links == QUOIT_MAXTEXT_DCN ? "DCN" : "ICI";
  const char *counted = links == QUOIT_MAXTEXT_DCN ? "the slices" : "the devices of a slice";
  g_autofree char *text = NULL;

  g_return_val_if_fail (sizes != NULL || n_axes == 0, FALSE);

  if (links != QUOIT_MAXTEXT_ICI && links != QUOIT_MAXTEXT_DCN)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "links '%d': expected ICI or DCN", (int) links);

  text = format_sizes (sizes, n_axes);
  switch (quoit_maxtext_try_fill (sizes, n_axes, target))
    {
    case QUOIT_FILL_TWO_UNSPECIFIED:
      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s sizes '%s': expected -1 for one axis at most", name, text);
    case QUOIT_FILL_NOT_WHOLE:
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "%s sizes '%s': expected others than -1 that multiply to a divisor of %" G_GINT64_FORMAT
                         ", %s",
                         name, text, (gint64) target, counted);
    case QUOIT_FILL_PRODUCT:
      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s sizes '%s': expected a product of %" G_GINT64_FORMAT ", %s",
                         name, text, (gint64) target, counted);
    case QUOIT_FILL_DONE:
    default:
      return TRUE;
    }
}

/* --- suggested changes --- */

/* Treats sizes of 0 or less as 1. */
static int64_t
at_least_one (int64_t size)
{
  return MAX (size, 1);
}

/* Computes the product of the sizes, except the one at @axis; -1 counts as 1. FALSE if it exceeds @target. */
static gboolean
product_of_others (const int64_t *sizes, unsigned n_axes, unsigned axis, int64_t target, int64_t *product)
{
  *product = 1;
  for (unsigned i = 0; i < n_axes; i++)
    if (i != axis && (__builtin_mul_overflow (*product, at_least_one (sizes[i]), product) || *product > target))
      return FALSE;
  return TRUE;
}

/* Returns the divisor of @number whose ratio to @size is nearest to 1. If two divisors are equally near, it
 * returns the smaller one. */
static int64_t
nearest_divisor (int64_t number, int64_t size)
{
  int64_t best = 1;

  for (int64_t d = 1; d <= number / d; d++)
    if (number % d == 0)
      for (unsigned k = 0; k < 2; k++)
        {
          int64_t divisor = k == 0 ? d : number / d;

          if (fabs (log ((double) divisor / (double) at_least_one (size)))
              < fabs (log ((double) best / (double) at_least_one (size))))
            best = divisor;
        }
  return best;
}

static gboolean
is_smaller_change (const int64_t *sizes, const QuoitSizeChange *a, const QuoitSizeChange *b)
{
  return fabs (log ((double) a->size / (double) at_least_one (sizes[a->axis])))
         < fabs (log ((double) b->size / (double) at_least_one (sizes[b->axis])));
}

unsigned
quoit_maxtext_find_size_changes (const int64_t *sizes, unsigned n_axes, int64_t target, QuoitSizeChange *changes,
                                 unsigned most)
{
  unsigned unspecified = n_axes, n = 0, n_unspecified = count_unspecified (sizes, n_axes, &unspecified);
  int64_t others;

  for (unsigned axis = 0; axis < n_axes && n_unspecified < 2; axis++)
    {
      QuoitSizeChange change = { axis, 0 };
      unsigned at;

      if (axis == unspecified || !product_of_others (sizes, n_axes, axis, target, &others) || target % others != 0)
        continue;
      change.size = n_unspecified == 0 ? target / others : nearest_divisor (target / others, sizes[axis]);
      if (change.size == sizes[axis])
        continue;
      for (at = n; at > 0 && is_smaller_change (sizes, &change, &changes[at - 1]); at--)
        if (at < most)
          changes[at] = changes[at - 1];
      if (at < most)
        changes[at] = change;
      n = MIN (n + 1, most);
    }
  return n;
}

static int64_t
greatest_common_divisor (int64_t a, int64_t b)
{
  while (b != 0)
    {
      int64_t modulus = a % b;

      a = b;
      b = modulus;
    }
  return a;
}

void
quoit_maxtext_nearest_sizes (const int64_t *sizes, unsigned n_axes, int64_t target, unsigned remainder_axis,
                             int64_t *nearest)
{
  int64_t left = target;

  for (unsigned i = 0; i < n_axes; i++)
    {
      nearest[i] = i == remainder_axis ? 1 : greatest_common_divisor (left, at_least_one (sizes[i]));
      left /= nearest[i];
    }
  if (remainder_axis < n_axes)
    nearest[remainder_axis] = left;
}
