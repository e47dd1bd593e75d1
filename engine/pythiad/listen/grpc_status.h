/* The details of a gRPC status, in headers. */
#ifndef PYTHIA_PYTHIAD_GRPC_STATUS_H
#define PYTHIA_PYTHIAD_GRPC_STATUS_H

#include <stddef.h>

#include "grpc_server.h"

#define PYTHIA__GRPC_DETAILS 256 /* bytes that details take at most, with the zero */

/* grpc-message: what has a meaning in a header, or is not ASCII, becomes %XX. Cut to `room` bytes,
 * more than 4. */
void pythia__grpc_escape(const char *text, char *to, size_t room);

/* grpc-status-details-bin: a google.rpc.Status with a google.rpc.RetryInfo in it. */
void pythia__grpc_retry(char to[static PYTHIA__GRPC_DETAILS], enum pythia__grpc_status code,
                        unsigned retry_ms);

#endif
