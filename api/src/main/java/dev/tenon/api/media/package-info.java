/// Pictures and sounds on their way to an encoder: sizes, resizing, tiles, normalisation, spectrograms.
///
/// May change incompatibly until 1.0: import `[0.1,0.2)`.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.api.media;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
