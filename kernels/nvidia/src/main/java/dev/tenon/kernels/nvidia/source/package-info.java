/// The CUDA C of the kernels, by module, with the PTX and machine code that the bundle carries.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.source;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
