/* SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"

#include <math.h>
#include <string.h>

/* 2^63, the first product that does not fit. On x86, Ray's cast turns it into the most negative number. */
#define FIRST_TOO_LARGE 9223372036854775808.0

gboolean
quoit_amount_from_signed_double (double value, QuoitAmount *amount, GError **error)
{
  double e4 = value * QUOIT_AMOUNT_UNIT;

  if (!isfinite (value))
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "a finite number", "amount '%g'", value);
  if (fabs (e4) >= FIRST_TOO_LARGE)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID,
                                value < 0 ? "more than -922337203685477.5808" : "less than 922337203685477.5808",
                                "amount '%.17g'", value);

  amount->e4 = (int64_t) e4;
  return TRUE;
}

gboolean
quoit_amount_from_double (double value, QuoitAmount *amount, GError **error)
{
  if (value < 0 && isfinite (value))
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "a number that is not negative", "amount '%.17g'", value);

  return quoit_amount_from_signed_double (value, amount, error);
}

static gboolean
refuse (const char *text, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (text);

  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "amount %s", quoted);
}

gboolean
quoit_amount_parse (const char *text, QuoitAmount *amount, GError **error)
{
  const char *p = text;
  unsigned decimals = 0;
  int64_t e4 = 0;

  if (!g_ascii_isdigit (*p))
    return refuse (text, *p == '-' ? "a number that is not negative" : "a decimal number such as '4' or '0.5'", error);

  for (; g_ascii_isdigit (*p); p++)
    if (__builtin_mul_overflow (e4, (int64_t) 10, &e4) || __builtin_add_overflow (e4, (int64_t) (*p - '0'), &e4))
      return refuse (text, "less than 922337203685477.5808", error);

  if (*p == '.')
    {
      p++;
      if (!g_ascii_isdigit (*p))
        return refuse (text, "a digit behind the point", error);
      for (; g_ascii_isdigit (*p); p++)
        {
          if (decimals == 4)
            {
              if (*p != '0')
                return refuse (text, "no part finer than 0.0001", error);
              continue;
            }
          decimals++;
          if (__builtin_mul_overflow (e4, (int64_t) 10, &e4) || __builtin_add_overflow (e4, (int64_t) (*p - '0'), &e4))
            return refuse (text, "less than 922337203685477.5808", error);
        }
    }
  if (*p != '\0')
    return refuse (text, "a decimal number such as '4' or '0.5'", error);

  for (; decimals < 4; decimals++)
    if (__builtin_mul_overflow (e4, (int64_t) 10, &e4))
      return refuse (text, "less than 922337203685477.5808", error);

  amount->e4 = e4;
  return TRUE;
}

QuoitAmount
quoit_amount_from_int (int64_t units)
{
  QuoitAmount amount;

  g_assert (!__builtin_mul_overflow (units, (int64_t) QUOIT_AMOUNT_UNIT, &amount.e4));
  return amount;
}

gboolean
quoit_amount_add (QuoitAmount a, QuoitAmount b, QuoitAmount *sum, GError **error)
{
  int64_t e4;

  if (__builtin_add_overflow (a.e4, b.e4, &e4))
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "less than 922337203685477.5808",
                                "the sum of amounts is too large");

  sum->e4 = e4;
  return TRUE;
}

char *
quoit_amount_format (QuoitAmount amount)
{
  return quoit_sum_format ((QuoitSum) { amount.e4 });
}

char *
quoit_sum_format (QuoitSum sum)
{
  char text[64];
  char *p = text + sizeof text;
  unsigned __int128 rest = sum.e4 < 0 ? -(unsigned __int128) sum.e4 : (unsigned __int128) sum.e4;
  unsigned fraction = rest % QUOIT_AMOUNT_UNIT;

  *--p = '\0';
  if (fraction != 0)
    {
      unsigned digits = 4;

      for (; fraction % 10 == 0; fraction /= 10)
        digits--;
      for (; digits > 0; digits--, fraction /= 10)
        *--p = (char) ('0' + fraction % 10);
      *--p = '.';
    }
  rest /= QUOIT_AMOUNT_UNIT;
  do
    *--p = (char) ('0' + (unsigned) (rest % 10));
  while ((rest /= 10) != 0);
  if (sum.e4 < 0)
    *--p = '-';

  return g_strdup (p);
}
