/// What servers have done, for other systems: each request when it has ended, and counters.
///
/// May change incompatibly until 1.0: import `[0.1,0.2)`.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.api.metrics;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
