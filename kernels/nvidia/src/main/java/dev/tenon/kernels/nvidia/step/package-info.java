/// The input of a step: its sizes, and how it lies in the memory of the device and of the host.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.step;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
