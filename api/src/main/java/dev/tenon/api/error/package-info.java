/// Errors that carry a code, a place, what was found, what was expected and what to do.
///
/// Users import `[1.1,2)`; who implements a provider type imports `[1.3,1.4)`.
@Version("1.5.0")
@Export
package dev.tenon.api.error;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
