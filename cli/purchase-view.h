/* SPDX-License-Identifier: Apache-2.0 */
/* Purchases for a queue, for plan and slots. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* Read a file, or standard input for "-". Free the results. */
QuoitQueue *purchase_load_queue (const char *file, GError **error);
QuoitPriceList *purchase_load_prices (const char *file, GError **error);
/* Prefixes the error with the name of the file. */
void purchase_add_file_name (const char *file, GError **error);

/* Describes what to buy. */
Document *purchase_describe (const QuoitPurchase *purchase);
/* Describes what is missing, for a purchase without prices. */
Document *purchase_describe_shortfall (const QuoitPurchase *purchase);
