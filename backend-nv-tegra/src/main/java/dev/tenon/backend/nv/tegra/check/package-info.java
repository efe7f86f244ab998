/// A first run on a board, step by step, the least dangerous first.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.check;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
