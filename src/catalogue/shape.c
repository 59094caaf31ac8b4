/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and formats topologies, and computes what follows from their sides alone. */
#include "catalogue/catalogue.h"

#include <string.h>

#include "base/text.h"

enum { LONGEST_SIDE = 4096 };

typedef struct {
  const char *bytes;
  gsize length, at; /* at: offset of the next byte to read */
} Parser;

static gboolean
refuse (const Parser *parser, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote_bytes (parser->bytes, parser->length);
  g_autofree char *expected_at = g_strdup_printf ("%s at byte %" G_GSIZE_FORMAT, expected, parser->at);

  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected_at, "topology %s", quoted);
}

static gboolean
read_side (Parser *parser, guint16 *side, GError **error)
{
  gsize begin = parser->at;
  unsigned value = 0;

  for (; parser->at < parser->length && g_ascii_isdigit (parser->bytes[parser->at]); parser->at++)
    if (value <= LONGEST_SIDE)
      value = value * 10 + (unsigned) (parser->bytes[parser->at] - '0');

  if (parser->at == begin)
    return refuse (parser, "a number of 1 to 4096", error);
  if (parser->bytes[begin] == '0' || value > LONGEST_SIDE)
    {
      parser->at = begin;
      return refuse (parser,
                     value > 0 && value <= LONGEST_SIDE ? "a number without leading zeros" : "a number of 1 to 4096",
                     error);
    }
  *side = (guint16) value;
  return TRUE;
}

static gboolean
read_x (Parser *parser, GError **error)
{
  if (parser->at < parser->length && parser->bytes[parser->at] == 'x')
    {
      parser->at++;
      return TRUE;
    }
  if (parser->at < parser->length && parser->bytes[parser->at] == 'X')
    return refuse (parser, "a lower-case 'x' (Ray would lower-case it; quoit, like the TPU webhook, does not)", error);

  return refuse (parser, "'x'", error);
}

gboolean
quoit_shape_parse_bytes (const char *bytes, gsize length, QuoitShape *shape, GError **error)
{
  Parser parser = { bytes, length, 0 };
  QuoitShape parsed = { { 1, 1, 1 }, 0 };
  guint64 chips = 1;

  while (parsed.n_dims < 2 || (parsed.n_dims == 2 && parser.at < parser.length))
    {
      if (parsed.n_dims > 0 && !read_x (&parser, error))
        return FALSE;
      if (!read_side (&parser, &parsed.dims[parsed.n_dims], error))
        return FALSE;
      chips *= parsed.dims[parsed.n_dims++];
    }
  if (parser.at < parser.length)
    return refuse (&parser, "the end after three numbers", error);
  if (chips > G_MAXUINT32)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "at most 4294967295 chips", "topology '%.*s'", (int) length,
                                bytes);

  *shape = parsed;
  return TRUE;
}

gboolean
quoit_shape_parse (const char *text, QuoitShape *shape, GError **error)
{
  return quoit_shape_parse_bytes (text, strlen (text), shape, error);
}

void
quoit_shape_append (GString *text, QuoitShape shape)
{
  for (guint i = 0; i < shape.n_dims; i++)
    {
      if (i > 0)
        g_string_append_c (text, 'x');
      quoit_text_append_number (text, shape.dims[i]);
    }
}

char *
quoit_shape_format (QuoitShape shape)
{
  GString *text = g_string_new (NULL);

  quoit_shape_append (text, shape);
  return g_string_free (text, FALSE);
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
quoit_shape_is_twistable (QuoitGeneration generation, QuoitShape s)
{
  unsigned k = s.dims[0];

  if ((quoit_generation_facts (generation)->traits & QUOIT_GENERATION_TWISTABLE) == 0 || s.n_dims != 3 || k % 4 != 0)
    return FALSE;

  return s.dims[2] == 2 * k && (s.dims[1] == k || s.dims[1] == 2 * k);
}
