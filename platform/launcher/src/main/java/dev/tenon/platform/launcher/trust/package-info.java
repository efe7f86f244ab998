/// Which bundles may run: policy, signatures, digests.
package dev.tenon.platform.launcher.trust;
