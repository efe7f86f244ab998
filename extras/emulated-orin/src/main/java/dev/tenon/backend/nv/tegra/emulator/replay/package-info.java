/// Recorded streams, executed again.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.emulator.replay;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
