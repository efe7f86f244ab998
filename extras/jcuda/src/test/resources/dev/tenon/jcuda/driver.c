/* Stands in for libcuda.so.1: writes down each call with its arguments; handles count up from 0x1000. */
#include <stdio.h>
#include <string.h>
typedef unsigned long u;
static char text[1 << 16];
static int used, failing;
static u count;
const char *standin_log(void) { return text; }
void standin_clear(int result) { text[0] = 0; used = 0; count = 0x1000; failing = result; }
#define NOTE(...) (used += snprintf(text + used, sizeof text - used, __VA_ARGS__), used += snprintf(text + used, sizeof text - used, "\n"), failing)
static u next(void) { return count += 0x10; }
int cuInit(unsigned flags) { return 0; }
int cuGetErrorName(int e, const char **s) { *s = "STANDIN_ERROR"; return 0; }
int cuGetErrorString(int e, const char **s) { *s = "as wanted"; return 0; }
int cuDriverGetVersion(int *v) { *v = 12060; return NOTE("cuDriverGetVersion"); }
int cuDeviceGetCount(int *c) { *c = 3; return NOTE("cuDeviceGetCount"); }
int cuDeviceGet(int *d, int n) { *d = n + 5; return NOTE("cuDeviceGet %d", n); }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, "stand-in", n); return NOTE("cuDeviceGetName %d %d", n, d); }
static int uuid(char *s, int d) { for (int i = 0; i < 16; i++) s[i] = i * 17; return NOTE("cuDeviceGetUuid %d", d); }
int cuDeviceGetUuid(char *s, int d) { return uuid(s, d); }
int cuDeviceGetUuid_v2(char *s, int d) { return uuid(s, d); }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = 100 + a; return NOTE("cuDeviceGetAttribute %d %d", a, d); }
int cuDeviceTotalMem_v2(u *b, int d) { *b = 80UL << 30; return NOTE("cuDeviceTotalMem %d", d); }
int cuDevicePrimaryCtxRetain(u *c, int d) { *c = next(); return NOTE("cuDevicePrimaryCtxRetain %d", d); }
int cuDevicePrimaryCtxRelease_v2(int d) { return NOTE("cuDevicePrimaryCtxRelease %d", d); }
int cuCtxSetCurrent(u c) { return NOTE("cuCtxSetCurrent %lx", c); }
int cuMemGetInfo_v2(u *f, u *t) { *f = 11; *t = 22; return NOTE("cuMemGetInfo"); }
int cuMemAlloc_v2(u *a, u n) { *a = next(); return NOTE("cuMemAlloc %lu", n); }
int cuMemFree_v2(u a) { return NOTE("cuMemFree %lx", a); }
static char host[4096];
int cuMemAllocHost_v2(void **a, u n) { *a = host; return NOTE("cuMemAllocHost %lu", n); }
int cuMemFreeHost(void *a) { return NOTE("cuMemFreeHost %d", a == host); }
int cuMemcpyHtoDAsync_v2(u d, u h, u n, u s) { return NOTE("cuMemcpyHtoDAsync %lx %lx %lu %lx", d, h, n, s); }
int cuMemcpyDtoHAsync_v2(u h, u d, u n, u s) { return NOTE("cuMemcpyDtoHAsync %lx %lx %lu %lx", h, d, n, s); }
int cuMemcpyDtoDAsync_v2(u t, u f, u n, u s) { return NOTE("cuMemcpyDtoDAsync %lx %lx %lu %lx", t, f, n, s); }
int cuMemsetD8Async(u d, unsigned char v, u n, u s) { return NOTE("cuMemsetD8Async %lx %d %lu %lx", d, v, n, s); }
int cuStreamCreate(u *s, unsigned f) { *s = next(); return NOTE("cuStreamCreate %u", f); }
int cuStreamDestroy_v2(u s) { return NOTE("cuStreamDestroy %lx", s); }
int cuStreamSynchronize(u s) { return NOTE("cuStreamSynchronize %lx", s); }
int cuStreamQuery(u s) { return NOTE("cuStreamQuery %lx", s) ? failing : s == 0x600 ? 600 : 0; }
int cuStreamBeginCapture_v2(u s, int m) { return NOTE("cuStreamBeginCapture %lx %d", s, m); }
int cuStreamEndCapture(u s, u *g) { *g = next(); return NOTE("cuStreamEndCapture %lx", s); }
int cuGraphInstantiateWithFlags(u *e, u g, u f) { *e = next(); return NOTE("cuGraphInstantiateWithFlags %lx %lu", g, f); }
int cuGraphLaunch(u e, u s) { return NOTE("cuGraphLaunch %lx %lx", e, s); }
int cuGraphExecDestroy(u e) { return NOTE("cuGraphExecDestroy %lx", e); }
int cuGraphDestroy(u g) { return NOTE("cuGraphDestroy %lx", g); }
int cuModuleLoadDataEx(u *m, const char *image, unsigned n, int *options, void **values) {
  *m = next();
  strcpy(values[0], "the log");
  return NOTE("cuModuleLoadDataEx '%s' %u options %d %d, %lu bytes of log", image, n, options[0], options[1], (u)values[1]);
}
int cuModuleUnload(u m) { return NOTE("cuModuleUnload %lx", m); }
int cuModuleGetFunction(u *f, u m, const char *s) { *f = next(); return NOTE("cuModuleGetFunction %lx %s", m, s); }
int cuFuncSetAttribute(u f, int a, int v) { return NOTE("cuFuncSetAttribute %lx %d %d", f, a, v); }
static int launch(u f, unsigned *grid, unsigned *block, unsigned shared, u s, unsigned attributes, void **arguments) {
  return NOTE("launch %lx grid %u %u %u block %u %u %u shared %u stream %lx attributes %u arguments %lx %d", f, grid[0], grid[1],
              grid[2], block[0], block[1], block[2], shared, s, attributes, *(u *)arguments[0], *(int *)arguments[1]);
}
int cuLaunchKernelEx(unsigned *config, u f, void **arguments, void **extra) {
  return launch(f, config, config + 3, config[6], *(u *)(config + 8), config[12], arguments);
}
int cuLaunchKernel(u f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, u s,
                   void **arguments, void **extra) {
  unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return launch(f, grid, block, shared, s, 0, arguments);
}
int cuEventCreate(u *e, unsigned f) { *e = next(); return NOTE("cuEventCreate %u", f); }
int cuEventRecord(u e, u s) { return NOTE("cuEventRecord %lx %lx", e, s); }
int cuEventRecordWithFlags(u e, u s, unsigned f) { return NOTE("cuEventRecordWithFlags %lx %lx %u", e, s, f); }
int cuEventSynchronize(u e) { return NOTE("cuEventSynchronize %lx", e); }
int cuEventElapsedTime(float *m, u a, u b) { *m = 1.5f; return NOTE("cuEventElapsedTime %lx %lx", a, b); }
int cuEventDestroy_v2(u e) { return NOTE("cuEventDestroy %lx", e); }
