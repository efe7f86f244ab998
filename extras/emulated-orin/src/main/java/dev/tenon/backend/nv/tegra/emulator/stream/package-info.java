/// Command streams: what an emulated GPU fetched, as a file and as text.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.emulator.stream;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
