/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lock_classes.h"

#define LOCK_CLASS_DEFINE(class, rank) struct lock_class class = {#class, rank};
LOCK_CLASSES(LOCK_CLASS_DEFINE)
