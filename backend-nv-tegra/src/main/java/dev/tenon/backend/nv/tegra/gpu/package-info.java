/// A GPU behind some driver: memory, channels, their rings, and lists of launches.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.gpu;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
