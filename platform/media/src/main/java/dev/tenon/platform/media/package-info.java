/// Files of pictures and sounds, read into what encoders take.
@Version("0.2.0")
@Export
package dev.tenon.platform.media;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
