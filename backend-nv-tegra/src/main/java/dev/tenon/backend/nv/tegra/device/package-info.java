/// A device, its memory and its plans: what lies between a backend and a GPU's queues, the same for an
/// Orin and for a server's GPU.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.device;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
