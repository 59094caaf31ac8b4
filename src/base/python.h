/* SPDX-License-Identifier: Apache-2.0 */
/* Text as Python reads it. The answers of Ray and JAX depend on it: which blanks, which capitals, which digits count.
 */
#pragma once

#include "base/big.h"

/* str.lower() and str.strip(). Bytes that are not UTF-8 become U+FFFD. No locale is asked. */
char *quoit_python_lower (const char *text);
char *quoit_python_strip (const char *text);
char *quoit_python_strip_and_lower (const char *text);

/* str.replace(): every @old in @text, from left to right. */
char *quoit_python_replace (const char *text, const char *old, const char *new);

/* int (@text): blanks around, a sign, decimal digits of any script with single underscores between. INVALID otherwise;
 * the message calls the text @what. */
QuoitBig *quoit_python_int (const char *text, const char *what, GError **error);

gboolean quoit_python_is_blank (gunichar c);         /* what strip() strips, and "\s" of a pattern matches */
gboolean quoit_python_is_decimal (const char *text); /* str.isdecimal() */

/* Python's // and % of floats: the rest has the sign of the divisor, which is positive here. */
double quoit_python_divide (double value, double divisor, double *rest);

/* Python's // of integers; @divisor is not 0. */
__int128 quoit_python_floor_divide (__int128 value, int64_t divisor);

/* Behind one or more decimal digits of any script, "\d+" of a pattern; NULL where there is none. */
const char *quoit_python_skip_digits (const char *text);

gboolean quoit_python_is_end (const char *text); /* "$" of a pattern: it matches before one closing newline too */
