/// The system calls of the backend, as a seam: Linux behind it on a board, an emulated driver in
/// tests.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.sys;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
