/// Encoders of pictures and sounds: what makes rows that stand in a prompt where tokens stand.
///
/// May change incompatibly until 1.0: import `[0.3,0.4)`.
@Version("0.3.0")
@Export
@NullMarked
package dev.tenon.api.media.encoder;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
