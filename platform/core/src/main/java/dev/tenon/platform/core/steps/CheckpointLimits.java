package dev.tenon.platform.core.steps;

import java.nio.file.Path;

/// What states from which others go on may take besides the device's memory.
///
/// @param hostBytes most bytes of host memory
/// @param diskBytes most bytes of a file
/// @param folder where the file is
public record CheckpointLimits(long hostBytes, long diskBytes, Path folder) {}
