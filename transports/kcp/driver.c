//go:build ignore

#include "driver.h"

#include <string.h>

#include "clock.h"
#include "records.h"
#include "roles.h"

static int play(int argc, char **argv, struct failure *f)
{
	uint64_t began = clock_ns();
	struct config c;
	if (argc == 2 && strcmp(argv[1], "describe") == 0)
		return record_describe(f);
	if (config_parse(&c, argc - 1, argv + 1, f) < 0)
		return -1;
	settings_raise_files();
	if (record_hello(&c, f) < 0)
		return -1;
	return c.server ? server_role(&c, began, f) : client_role(&c, began, f);
}

int driver_run(int argc, char **argv)
{
	struct failure f = {0};
	play(argc, argv, &f);
	return f.kind == FAIL_NONE ? 0 : record_failure(&f);
}
