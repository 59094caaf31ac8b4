/* SPDX-License-Identifier: Apache-2.0 */
#include "base/big.h"

#include <string.h>

enum { BASE = 1000000000, BASE_DIGITS = 9 };

/* A limb is one digit in base 1,000,000,000, which makes decimal parsing and formatting simple. */
struct _QuoitBig {
  int sign;      /* -1, 0, 1 */
  GArray *limbs; /* of guint32, lowest first, without leading zeros; empty is 0 */
};

static guint32
get_limb (const QuoitBig *big, guint i)
{
  return g_array_index (big->limbs, guint32, i);
}

static QuoitBig *
new_zero (guint n_limbs)
{
  QuoitBig *big = g_new (QuoitBig, 1);

  big->sign = 1;
  big->limbs = g_array_sized_new (FALSE, TRUE, sizeof (guint32), n_limbs);
  g_array_set_size (big->limbs, n_limbs);
  return big;
}

static QuoitBig *
normalize (QuoitBig *big)
{
  while (big->limbs->len > 0 && get_limb (big, big->limbs->len - 1) == 0)
    g_array_set_size (big->limbs, big->limbs->len - 1);
  if (big->limbs->len == 0)
    big->sign = 0;
  return big;
}

QuoitBig *
quoit_big_from_digits (const char *digits, gsize n_digits, int sign)
{
  QuoitBig *big = new_zero ((guint) (n_digits / BASE_DIGITS + 1));

  for (guint i = 0; n_digits > 0; i++)
    {
      gsize n = MIN (n_digits, (gsize) BASE_DIGITS);
      guint32 value = 0;

      for (const char *p = digits + n_digits - n; p < digits + n_digits; p++)
        value = value * 10 + (guint32) (*p - '0');
      g_array_index (big->limbs, guint32, i) = value;
      n_digits -= n;
    }
  big->sign = sign;
  return normalize (big);
}

QuoitBig *
quoit_big_from_int (int64_t value)
{
  char text[24];

  g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, (gint64) value);
  if (value < 0)
    return quoit_big_from_digits (text + 1, strlen (text + 1), -1);

  return quoit_big_from_digits (text, strlen (text), 1);
}

void
quoit_big_free (QuoitBig *big)
{
  if (big == NULL)
    return;

  g_array_unref (big->limbs);
  g_free (big);
}

int
quoit_big_sign (const QuoitBig *big)
{
  return big->sign;
}

QuoitBig *
quoit_big_multiply (const QuoitBig *a, const QuoitBig *b)
{
  QuoitBig *product = new_zero (a->limbs->len + b->limbs->len);

  for (guint i = 0; i < a->limbs->len; i++)
    {
      guint64 carry = 0;

      for (guint j = 0; j < b->limbs->len; j++)
        {
          guint32 *limb = &g_array_index (product->limbs, guint32, i + j);

          carry += *limb + (guint64) get_limb (a, i) * get_limb (b, j);
          *limb = (guint32) (carry % BASE);
          carry /= BASE;
        }
      g_array_index (product->limbs, guint32, i + b->limbs->len) = (guint32) carry;
    }
  product->sign = a->sign * b->sign;
  return normalize (product);
}

static void
add_one (QuoitBig *big)
{
  guint32 one = 1;

  for (guint i = 0; i < big->limbs->len; i++)
    {
      guint32 *limb = &g_array_index (big->limbs, guint32, i);

      if (++*limb < BASE)
        return;
      *limb = 0;
    }
  g_array_append_val (big->limbs, one);
}

QuoitBig *
quoit_big_divide (const QuoitBig *a, int64_t divisor, int64_t *rest)
{
  QuoitBig *quotient = new_zero (a->limbs->len);
  unsigned __int128 remainder = 0;

  for (guint i = a->limbs->len; i-- > 0;)
    {
      remainder = remainder * BASE + get_limb (a, i);
      g_array_index (quotient->limbs, guint32, i) = (guint32) (remainder / (guint64) divisor);
      remainder %= (guint64) divisor;
    }
  if (a->sign < 0 && remainder > 0)
    {
      add_one (quotient);
      remainder = (guint64) divisor - remainder;
    }
  quotient->sign = a->sign < 0 ? -1 : 1;
  *rest = (int64_t) remainder;
  return normalize (quotient);
}

/* Adds @n to a number of any size. For a negative number, the limbs of its absolute value decrease: the carry is
 * negative. It can reach the highest limb. */
static QuoitBig *
add_to_large (const QuoitBig *a, guint32 n)
{
  QuoitBig *sum = new_zero (a->limbs->len + 1);
  gint64 carry = a->sign * (gint64) n;

  for (guint i = 0; i < sum->limbs->len; i++)
    {
      carry += i < a->limbs->len ? get_limb (a, i) : 0;
      g_array_index (sum->limbs, guint32, i) = (guint32) ((carry % BASE + BASE) % BASE);
      carry = carry < 0 ? (carry - BASE + 1) / BASE : carry / BASE;
    }
  sum->sign = a->sign;
  return normalize (sum);
}

QuoitBig *
quoit_big_add (const QuoitBig *a, guint32 n)
{
  int64_t value;

  if (quoit_big_to_int (a, &value) && !__builtin_add_overflow (value, (int64_t) n, &value))
    return quoit_big_from_int (value);

  return add_to_large (a, n);
}

int
quoit_big_compare (const QuoitBig *a, const QuoitBig *b)
{
  if (a->sign != b->sign)
    return a->sign < b->sign ? -1 : 1;
  if (a->limbs->len != b->limbs->len)
    return (a->limbs->len < b->limbs->len ? -1 : 1) * a->sign;
  for (guint i = a->limbs->len; i-- > 0;)
    if (get_limb (a, i) != get_limb (b, i))
      return (get_limb (a, i) < get_limb (b, i) ? -1 : 1) * a->sign;

  return 0;
}

gboolean
quoit_big_to_int (const QuoitBig *big, int64_t *value)
{
  __int128 sum = 0;

  if (big->limbs->len > 3)
    return FALSE;
  for (guint i = big->limbs->len; i-- > 0;)
    sum = sum * BASE + get_limb (big, i);
  sum *= big->sign;
  if (sum < INT64_MIN || sum > INT64_MAX)
    return FALSE;

  *value = (int64_t) sum;
  return TRUE;
}

double
quoit_big_to_double (const QuoitBig *big)
{
  g_autofree char *text = quoit_big_format (big);

  return g_ascii_strtod (text, NULL);
}

gsize
quoit_big_n_digits (const QuoitBig *big)
{
  gsize n = 1;

  if (big->sign == 0)
    return 1;
  for (guint32 top = get_limb (big, big->limbs->len - 1); top >= 10; top /= 10)
    n++;
  return n + (big->limbs->len - 1) * (gsize) BASE_DIGITS;
}

char *
quoit_big_format (const QuoitBig *big)
{
  GString *text = g_string_new (big->sign < 0 ? "-" : "");

  if (big->sign == 0)
    g_string_append_c (text, '0');
  for (guint i = big->limbs->len; i-- > 0;)
    g_string_append_printf (text, i == big->limbs->len - 1 ? "%u" : "%09u", get_limb (big, i));
  return g_string_free (text, FALSE);
}
