/// CUDA C kernels and the planning of their launches, without any driver: what the backends for
/// NVIDIA devices share.
///
/// Users import `[1.0,2)`.
@Version("1.0.0")
@Export
package dev.tenon.kernels.nvidia;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
