/// Speculative decoding: tokens that are proposed, and checked several at once.
///
/// May change incompatibly until 1.0: import `[0.1,0.2)`.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.api.speculation;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
