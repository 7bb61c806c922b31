#include "command.h"
#include "examine.h"
#include "options.h"

#include <stdlib.h>

#define ANY_ADDRESS "127.0.0.1:8080" /* so that the private nginx's part is looked at too */

int cmd_check(int argc, char **argv)
{
	struct examine_request request = {.listen = ANY_ADDRESS};
	const struct option_spec specs[] = {
	    {"--config", OPTION_TEXT, &request.source.file, 0, 0},
	    {"--state", OPTION_TEXT, &request.source.state_dir, 0, 0},
	    {NULL, OPTION_FLAG, NULL, 0, 0},
	};
	struct examination result;
	int operands, status;

	if (!options_parse(specs, argc, argv, 0, &operands))
		return EXIT_USAGE;
	if (examine(&request, &result))
		status = complain(0, "configuration %s is ok", result.file);
	else
		status = complain(1, "configuration %s test failed: %lld errors",
		    result.file ? result.file : "?", result.errors);
	examination_release(&result);
	return status;
}
