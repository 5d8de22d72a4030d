//go:build ignore

#include "duration.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double ns;
} units[] = {{"ns", 1}, {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

/* Far beyond any deadline, and exact in a double together with its sums. */
#define MOST_NS 4e15

/* Reads the unit at *text and moves it on; 0 for none. The longest match is the right one: ms before m. */
static double unit(const char **text)
{
	size_t best = 0;
	double ns = 0;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t n = strlen(units[i].name);
		if (n > best && strncmp(*text, units[i].name, n) == 0) {
			best = n;
			ns = units[i].ns;
		}
	}
	*text += best;
	return ns;
}

bool duration_parse(const char *text, int64_t *ns)
{
	double sum = 0;
	if (strcmp(text, "0") == 0) {
		*ns = 0;
		return true;
	}
	do {
		size_t digits = strspn(text, "0123456789.");
		char number[32] = "";
		if (digits == 0 || digits >= sizeof number)
			return false;
		memcpy(number, text, digits);
		char *end;
		double v = strtod(number, &end);
		text += digits;
		double scale = unit(&text);
		if (*end != '\0' || scale == 0)
			return false;
		sum += v * scale;
	} while (*text != '\0' && sum <= MOST_NS);
	*ns = (int64_t)sum;
	return sum <= MOST_NS;
}
