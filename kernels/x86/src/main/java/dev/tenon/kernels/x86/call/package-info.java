/// Executable memory and the calls into it.
///
/// [CodeMemory] owns the pages and frees them after running calls have returned; [NativeCall] is
/// the native signature of generated functions.
package dev.tenon.kernels.x86.call;
