package dev.tenon.backend.nv.tegra.command;

/// What a block or thread of a kernel needs.
///
/// @param registers of a thread
/// @param sharedBytes of a block: a multiple of 128, at least 1024
/// @param barriers of a block
/// @param localBytes of a thread: a multiple of 16
public record KernelResources(int registers, int sharedBytes, int barriers, int localBytes) {}
