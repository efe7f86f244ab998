/// Requests and structs of nvmap and nvgpu: one table, from which everything is encoded and
/// decoded.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.abi;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
