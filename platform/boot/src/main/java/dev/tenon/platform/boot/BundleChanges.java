package dev.tenon.platform.boot;

/// Where a running platform tells of bundles that come, change and go: a line each, at the level `INFO`.
public final class BundleChanges {
    /// Name of the logger. The launcher shows its lines unless it was asked for fewer.
    public static final String LOGGER = "dev.tenon.bundles";

    private BundleChanges() {}
}
