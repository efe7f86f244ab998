/// Backends, devices, memory, compilation and compiled plans: what a backend bundle implements.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.8.0")
@Export
@NullMarked
package dev.tenon.api.device;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
