#include "knurl/models/fast/kernels.h"

#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")

#define KNURL_KERNELS kKernels_v4
#define KNURL_KERNELS_NAME "x86-64-v4"
#define KNURL_VECTOR_BYTES 64
#include "knurl/models/fast/detail/kernels_impl.h"
