/// Backends, devices, memory, compilation and compiled plans: what a backend bundle implements.
///
/// Users import `[1.0,2)`; who implements a provider type imports `[1.3,1.4)`.
@Version("1.3.0")
@Export
package dev.tenon.api.device;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
