/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/quantity.h"

#include <string.h>

/* Limits that keep the arithmetic in range. Larger numbers are not valid amounts anyway. */
#define MOST_DIGITS 30
#define MOST_EXPONENT 100

typedef struct {
  unsigned __int128 digits; /* the number is digits * 10^ten * 2^two */
  int ten, two;
} Number;

static const struct {
  const char *suffix;
  int ten, two;
} suffixes[] = {
  { "", 0, 0 },    { "n", -9, 0 },  { "u", -6, 0 },  { "m", -3, 0 },  { "k", 3, 0 },   { "M", 6, 0 },
  { "G", 9, 0 },   { "T", 12, 0 },  { "P", 15, 0 },  { "E", 18, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
  { "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
};

static const char wanted[] = "a quantity such as '8', '500m', '200G' or '16Gi'";
static const char too_large[] = "less than 922337203685477.5808";

static gboolean
refuse (const char *text, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (text);

  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "quantity %s", quoted);
}

/* Reads digits with at most one point. Returns the end of the digits, or NULL if there are too many. */
static const char *
read_decimal (const char *p, Number *number)
{
  unsigned n_digits = 0, n_kept = 0;
  gboolean in_fraction = FALSE;

  for (;; p++)
    {
      if (*p == '.' && !in_fraction)
        in_fraction = TRUE;
      else if (g_ascii_isdigit (*p))
        {
          n_digits++;
          n_kept += n_kept > 0 || *p != '0';
          if (n_kept > MOST_DIGITS || n_digits > 1000)
            return NULL;
          number->digits = number->digits * 10 + (unsigned) (*p - '0');
          number->ten -= in_fraction;
        }
      else
        return p;
    }
}

static gboolean
is_decimal (const char *p)
{
  return g_ascii_isdigit (*p) || (*p == '.' && g_ascii_isdigit (p[1]));
}

static gboolean
read_exponent (const char *p, Number *number)
{
  gboolean is_negative = *p == '-';
  int value = 0;

  p += *p == '-' || *p == '+';
  if (!g_ascii_isdigit (*p))
    return FALSE;
  for (; g_ascii_isdigit (*p); p++)
    value = MIN (value * 10 + (*p - '0'), MOST_EXPONENT);
  number->ten += is_negative ? -value : value;
  return *p == '\0';
}

static gboolean
read_suffix (const char *p, Number *number)
{
  if ((*p == 'e' || *p == 'E') && p[1] != '\0' && strchr ("+-0123456789", p[1]) != NULL)
    return read_exponent (p + 1, number);
  for (unsigned i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (strcmp (p, suffixes[i].suffix) == 0)
      {
        number->ten += suffixes[i].ten;
        number->two += suffixes[i].two;
        return TRUE;
      }
  return FALSE;
}

/* Converts to ten-thousandths. Sets *@rest if digits were dropped. FALSE: too large. */
static gboolean
scale (Number number, int64_t *e4, gboolean *rest)
{
  int ten = number.ten + 4;

  *rest = FALSE;
  for (; number.two > 0 && number.digits != 0; number.two--)
    if (__builtin_mul_overflow (number.digits, (unsigned __int128) 2, &number.digits))
      return FALSE;
  for (; ten > 0 && number.digits != 0; ten--)
    if (__builtin_mul_overflow (number.digits, (unsigned __int128) 10, &number.digits))
      return FALSE;
  for (; ten < 0 && number.digits != 0; ten++)
    {
      *rest = *rest || number.digits % 10 != 0;
      number.digits /= 10;
    }
  *e4 = (int64_t) number.digits;
  return number.digits <= G_MAXINT64;
}

gboolean
quoit_quantity_parse (const char *text, QuoitAmount *amount, GError **error)
{
  Number number = { 0 };
  const char *p = text + (*text == '+');
  gboolean rest;
  int64_t e4;

  if (*text == '-' && is_decimal (text + 1))
    return refuse (text, "one that is not negative", error);
  if (!is_decimal (p))
    return refuse (text, wanted, error);
  p = read_decimal (p, &number);
  if (p == NULL)
    return refuse (text, "at most 30 digits", error);
  if (!read_suffix (p, &number))
    return refuse (text, wanted, error);
  if (!scale (number, &e4, &rest))
    return refuse (text, too_large, error);
  if (rest && number.two == 0)
    return refuse (text, "no part finer than 0.0001", error);
  if (rest && e4 == G_MAXINT64)
    return refuse (text, too_large, error);

  amount->e4 = e4 + (rest ? 1 : 0);
  return TRUE;
}

QuoitAmount
quoit_quantity_round_up (QuoitAmount amount)
{
  int64_t over = amount.e4 % QUOIT_AMOUNT_UNIT;

  if (over == 0)
    return amount;
  /* The next whole number would be out of range, so the amount does not change. */
  if (amount.e4 > G_MAXINT64 - QUOIT_AMOUNT_UNIT)
    return amount;
  return (QuoitAmount) { amount.e4 - over + QUOIT_AMOUNT_UNIT };
}

gboolean
quoit_ray_amount (double value, QuoitAmount *amount, GError **error)
{
  QuoitAmount counted;

  if (!quoit_amount_from_double (value, &counted, error))
    return FALSE;
  if (counted.e4 == 0 && value != 0)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "0, or at least 0.0001: Ray would count 0",
                                "amount '%.15g'", value);
  *amount = counted;
  return TRUE;
}

gboolean
quoit_memory_text_parse (const char *text, QuoitAmount *amount, GError **error)
{
  static const struct {
    const char *unit;
    int two;
  } units[] = { { " B", 0 }, { " KiB", 10 }, { " MiB", 20 }, { " GiB", 30 }, { " TiB", 40 } };
  Number number = { 0 };
  const char *p = g_ascii_isdigit (*text) ? read_decimal (text, &number) : NULL;
  gboolean rest;
  int64_t e4;

  for (unsigned i = 0; p != NULL && i < G_N_ELEMENTS (units); i++)
    if (strcmp (p, units[i].unit) == 0)
      {
        number.two = units[i].two;
        if (!scale (number, &e4, &rest))
          return refuse (text, too_large, error);
        /* The text is already rounded, so fractions of a byte are dropped. */
        amount->e4 = e4 - e4 % QUOIT_AMOUNT_UNIT;
        return TRUE;
      }
  return refuse (text, "memory as Ray writes it, such as '1.000 GiB'", error);
}
