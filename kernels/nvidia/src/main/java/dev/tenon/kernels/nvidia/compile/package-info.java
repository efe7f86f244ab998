/// Compiling kernels where they run: NVIDIA's run-time compiler, and what it has made on disk.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.compile;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
