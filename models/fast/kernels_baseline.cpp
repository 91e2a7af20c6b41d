#include "knurl/models/fast/kernels.h"

#define KNURL_KERNELS kKernels_baseline
#define KNURL_KERNELS_NAME "baseline"
#define KNURL_VECTOR_BYTES 16
#include "knurl/models/fast/detail/kernels_impl.h"
