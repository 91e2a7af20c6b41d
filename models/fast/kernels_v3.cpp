#include "knurl/models/fast/kernels.h"

#pragma GCC target("arch=x86-64-v3")

#define KNURL_KERNELS kKernels_v3
#define KNURL_KERNELS_NAME "x86-64-v3"
#define KNURL_VECTOR_BYTES 32
#include "knurl/models/fast/detail/kernels_impl.h"
