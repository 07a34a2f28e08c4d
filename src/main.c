/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - the program's entry.
 */
#include <stdlib.h>

int main(void)
{
	return EXIT_SUCCESS;
}
