/* A simulated libnvidia-ml.so.1 for tests: it answers what the environment tells it to, no GPU needed.
   SIM_NVML_INIT, SIM_NVML_COUNT: return codes. SIM_NVML_GPUS: lines "name|major|minor|uuid|bytes|handle|capability",
   the last two being return codes of the calls that give them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu { char name[96]; int major, minor; char uuid[96]; unsigned long long bytes; int handle, capability; };

static int code_of(const char *name) { const char *v = getenv(name); return v ? atoi(v) : 0; }

static int read_gpu(unsigned index, struct gpu *out) {
  const char *at = getenv("SIM_NVML_GPUS");
  for (unsigned i = 0; at && *at; i++) {
    if (i == index)
      return sscanf(at, "%95[^|]|%d|%d|%95[^|]|%llu|%d|%d", out->name, &out->major, &out->minor, out->uuid,
                    &out->bytes, &out->handle, &out->capability) == 7 ? 0 : 999;
    at = strchr(at, '\n');
    if (at) at++;
  }
  return 6;
}

int nvmlInit_v2(void) { return code_of("SIM_NVML_INIT"); }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetCount_v2(unsigned *count) {
  struct gpu gpu;
  for (*count = 0; read_gpu(*count, &gpu) == 0; ) ++*count;
  return code_of("SIM_NVML_COUNT");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  struct gpu gpu;
  int found = read_gpu(index, &gpu);
  if (found || gpu.handle) return found ? found : gpu.handle;
  *handle = (void *)(unsigned long long)(index + 1);
  return 0;
}

static int of_handle(void *handle, struct gpu *gpu) { return read_gpu((unsigned)(unsigned long long)handle - 1, gpu); }

int nvmlDeviceGetName(void *handle, char *out, unsigned size) {
  struct gpu gpu;
  int code = of_handle(handle, &gpu);
  if (!code) snprintf(out, size, "%s", gpu.name);
  return code;
}

int nvmlDeviceGetUUID(void *handle, char *out, unsigned size) {
  struct gpu gpu;
  int code = of_handle(handle, &gpu);
  if (!code) snprintf(out, size, "%s", gpu.uuid);
  return code;
}

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
  struct gpu gpu;
  int code = of_handle(handle, &gpu);
  if (code || gpu.capability) return code ? code : gpu.capability;
  *major = gpu.major;
  *minor = gpu.minor;
  return 0;
}

int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) {
  struct gpu gpu;
  int code = of_handle(handle, &gpu);
  if (!code) memory[0] = gpu.bytes, memory[1] = gpu.bytes, memory[2] = 0;
  return code;
}
