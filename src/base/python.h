/* SPDX-License-Identifier: Apache-2.0 */
/* Text functions that behave exactly like Python's. The results of Ray and JAX depend on which whitespace, capitals
 * and digits Python recognises. */
#pragma once

#include "base/big.h"

/* str.lower() and str.strip(), independent of the locale. Invalid UTF-8 becomes U+FFFD. The results are owned by the
 * caller. */
char *quoit_python_lower (const char *text);
char *quoit_python_strip (const char *text);
char *quoit_python_strip_and_lower (const char *text);

/* str.replace(): replaces every @old in @text, from left to right. The result is owned by the caller. */
char *quoit_python_replace (const char *text, const char *old, const char *new);

/* int (@text): optional whitespace, a sign, and decimal digits of any script with single underscores between them.
 * Otherwise fails with INVALID; the message names the text @what. */
QuoitBig *quoit_python_int (const char *text, const char *what, GError **error);

gboolean quoit_python_is_blank (gunichar c);         /* matched by strip() and by "\s" in a pattern */
gboolean quoit_python_is_decimal (const char *text); /* str.isdecimal() */

/* Python's // and % of floats. @divisor must be positive, so @rest is not negative. */
double quoit_python_divide (double value, double divisor, double *rest);

/* Python's // of integers. @divisor must not be 0. */
__int128 quoit_python_floor_divide (__int128 value, int64_t divisor);

/* Skips one or more decimal digits of any script ("\d+" in a pattern). Returns NULL if @text does not begin with
 * one. */
const char *quoit_python_skip_digits (const char *text);

gboolean quoit_python_is_end (const char *text); /* "$" in a pattern, which also matches before one final newline */
