/// The calls of the CUDA driver that the CUDA backend makes, for bundles that offer another way to make them, and the
/// handles of an open device, for code that calls NVIDIA's libraries itself.
///
/// May change incompatibly until 1.0: import `[0.9,0.10)`.
@Version("0.9.0")
@Export
package dev.tenon.kernels.nvidia.binding;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
