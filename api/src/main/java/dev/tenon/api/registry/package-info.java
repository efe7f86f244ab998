/// Places where models come from: hubs, registries of companies, folders.
///
/// May change incompatibly until 1.0: import `[0.1,0.2)`.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.api.registry;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
