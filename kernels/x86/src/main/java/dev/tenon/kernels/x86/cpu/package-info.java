/// What this processor can run, and what the settings of this module say.
///
/// Features come from CPUID and XGETBV; how far ahead weights are fetched depends on the
/// first-level cache.
package dev.tenon.kernels.x86.cpu;
