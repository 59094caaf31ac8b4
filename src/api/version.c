/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <quoit/quoit.h>

const char *
quoit_version (void)
{
  return PACKAGE_VERSION;
}
