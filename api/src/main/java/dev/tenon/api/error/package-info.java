/// Errors that carry a code, a place, what was found, what was expected and what to do.
///
/// Users import versions below 2; who implements a provider type, those below the next minor one.
@Version("1.5.0")
@Export
@NullMarked
package dev.tenon.api.error;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
