/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and formats topologies, and computes what follows from their sides alone. */
#include "catalogue/catalogue.h"

#include <string.h>

enum { LONGEST_SIDE = 4096 };

typedef struct {
  const char *bytes;
  gsize length, at;
} Text;

static gboolean
refuse (const Text *text, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote_bytes (text->bytes, text->length);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s: expected %s at byte %" G_GSIZE_FORMAT, quoted, expected,
                     text->at);
}

static gboolean
read_side (Text *text, guint16 *side, GError **error)
{
  gsize begin = text->at;
  unsigned value = 0;

  for (; text->at < text->length && g_ascii_isdigit (text->bytes[text->at]); text->at++)
    if (value <= LONGEST_SIDE)
      value = value * 10 + (unsigned) (text->bytes[text->at] - '0');

  if (text->at == begin)
    return refuse (text, "a number of 1 to 4096", error);
  if (text->bytes[begin] == '0' || value > LONGEST_SIDE)
    {
      text->at = begin;
      return refuse (
          text, value > 0 && value <= LONGEST_SIDE ? "a number without leading zeros" : "a number of 1 to 4096", error);
    }
  *side = (guint16) value;
  return TRUE;
}

static gboolean
read_x (Text *text, GError **error)
{
  if (text->at < text->length && text->bytes[text->at] == 'x')
    {
      text->at++;
      return TRUE;
    }
  if (text->at < text->length && text->bytes[text->at] == 'X')
    return refuse (text, "a lower-case 'x' (Ray would lower-case it; quoit, like the TPU webhook, does not)", error);

  return refuse (text, "'x'", error);
}

gboolean
quoit_shape_parse_bytes (const char *bytes, gsize length, QuoitShape *shape, GError **error)
{
  Text text = { bytes, length, 0 };
  QuoitShape read = { { 1, 1, 1 }, 0 };
  guint64 chips = 1;

  while (read.n_dims < 2 || (read.n_dims == 2 && text.at < text.length))
    {
      if (read.n_dims > 0 && !read_x (&text, error))
        return FALSE;
      if (!read_side (&text, &read.dims[read.n_dims], error))
        return FALSE;
      chips *= read.dims[read.n_dims++];
    }
  if (text.at < text.length)
    return refuse (&text, "the end behind three numbers", error);
  if (chips > G_MAXUINT32)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology '%.*s': expected at most 4294967295 chips", (int) length,
                       bytes);

  *shape = read;
  return TRUE;
}

gboolean
quoit_shape_parse (const char *text, QuoitShape *shape, GError **error)
{
  return quoit_shape_parse_bytes (text, strlen (text), shape, error);
}

char *
quoit_shape_format (QuoitShape shape)
{
  if (shape.n_dims == 2)
    return g_strdup_printf ("%ux%u", shape.dims[0], shape.dims[1]);

  return g_strdup_printf ("%ux%ux%u", shape.dims[0], shape.dims[1], shape.dims[2]);
}

guint32
quoit_shape_chips (QuoitShape shape)
{
  return (guint32) shape.dims[0] * shape.dims[1] * shape.dims[2];
}

guint32
quoit_shape_devices (QuoitGeneration generation, QuoitShape shape)
{
  return quoit_shape_chips (shape) * quoit_generation_facts (generation)->devices_per_chip;
}

unsigned
quoit_shape_wrap (QuoitGeneration generation, QuoitShape shape)
{
  QuoitWrapRule rule = quoit_generation_facts (generation)->wrap;
  unsigned axes = 0;

  if (rule == QUOIT_WRAP_ALL_FROM_4)
    return MIN (MIN (shape.dims[0], shape.dims[1]), shape.dims[2]) >= 4 ? 7 : 0;
  for (unsigned axis = 0; rule == QUOIT_WRAP_AXES_OF_16 && axis < 3; axis++)
    if (shape.dims[axis] == 16)
      axes |= 1u << axis;

  return axes;
}

gboolean
quoit_shape_twistable (QuoitGeneration generation, QuoitShape s)
{
  unsigned k = s.dims[0];

  if ((quoit_generation_facts (generation)->traits & QUOIT_GENERATION_TWISTABLE) == 0 || s.n_dims != 3 || k % 4 != 0)
    return FALSE;

  return s.dims[2] == 2 * k && (s.dims[1] == k || s.dims[1] == 2 * k);
}
