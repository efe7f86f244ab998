/// The loop of somebody who writes a bundle: its project, the steps after a change, and their logs.
package dev.tenon.platform.bundles.dev;
