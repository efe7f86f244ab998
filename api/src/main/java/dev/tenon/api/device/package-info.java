/// Backends, devices, memory, compilation and compiled plans: what a backend bundle implements.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.5,1.6)`.
@Version("1.5.0")
@Export
package dev.tenon.api.device;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
