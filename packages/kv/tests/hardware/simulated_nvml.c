/* A simulated libnvidia-ml.so.1 for tests: it answers what the environment tells it to, no GPU needed.
   SIM_NVML_INIT, SIM_NVML_COUNT: return codes. SIM_NVML_GPUS: lines "name|major|minor|uuid|bytes|handle|capability",
   the last two being return codes of the calls that give them.
   SIM_NVML_USE: "total|free|used|percent", of every GPU; SIM_NVML_PROCESSES: lines "pid|bytes|name".
   SIM_NVML_UTILISATION, SIM_NVML_MEMORY, SIM_NVML_LIST: return codes of the calls that tell them. */
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

struct use { unsigned long long total, free, used; unsigned percent; };

static int read_use(struct use *use) {
  const char *at = getenv("SIM_NVML_USE");
  return at && sscanf(at, "%llu|%llu|%llu|%u", &use->total, &use->free, &use->used, &use->percent) == 4 ? 0 : 999;
}

int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) {
  struct gpu gpu;
  struct use use;
  int code = of_handle(handle, &gpu);
  if (!code) code = code_of("SIM_NVML_MEMORY");
  if (!code && !read_use(&use)) memory[0] = use.total, memory[1] = use.free, memory[2] = use.used;
  else if (!code) memory[0] = gpu.bytes, memory[1] = gpu.bytes, memory[2] = 0;
  return code;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
  struct gpu gpu;
  for (unsigned i = 0; read_gpu(i, &gpu) == 0; i++)
    if (strcmp(gpu.uuid, uuid) == 0) return nvmlDeviceGetHandleByIndex_v2(i, handle);
  return 6;
}

int nvmlDeviceGetUtilizationRates(void *handle, unsigned *rates) {
  struct use use;
  int code = code_of("SIM_NVML_UTILISATION");
  if (code || !handle) return code ? code : 2;
  if (read_use(&use)) return 999;
  rates[0] = use.percent, rates[1] = 0;
  return 0;
}

struct process { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };

static int read_process(unsigned index, struct process *out, char *name) {
  const char *at = getenv("SIM_NVML_PROCESSES");
  for (unsigned i = 0; at && *at; i++) {
    if (i == index) {
      *out = (struct process){0, 0, ~0u, ~0u};
      return sscanf(at, "%u|%llu|%95[^\n]", &out->pid, &out->used, name) == 3 ? 0 : 999;
    }
    at = strchr(at, '\n');
    if (at) at++;
  }
  return 6;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, struct process *out) {
  struct process one;
  char name[96];
  unsigned found = 0, room = *count;
  int code = code_of("SIM_NVML_LIST");
  if (code || !handle) return code ? code : 2;
  while (read_process(found, &one, name) == 0) {
    if (found < room) out[found] = one;
    found++;
  }
  *count = found;
  return found > room ? 7 : 0;
}

int nvmlSystemGetProcessName(unsigned pid, char *out, unsigned size) {
  struct process one;
  char name[96];
  for (unsigned i = 0; read_process(i, &one, name) == 0; i++)
    if (one.pid == pid) return snprintf(out, size, "%s", name), 0;
  return 6;
}
