/// What a GPU of NVIDIA is told, whichever driver is in between: methods, launch descriptors, code,
/// queues.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.gpu;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
