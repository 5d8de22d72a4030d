/* One invocation of the driver. */
#ifndef DRIVER_H
#define DRIVER_H

/* Answers describe or plays a role; returns the exit code of the contract. */
int driver_run(int argc, char **argv);

#endif
