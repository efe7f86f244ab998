/// What the platform's other modules steer the engine by, beyond the api.
@Version("4.8.0")
@Export
package dev.tenon.platform.core.control;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
