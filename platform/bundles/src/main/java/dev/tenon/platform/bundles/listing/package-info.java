/// What is installed and why, as tables and as JSON.
package dev.tenon.platform.bundles.listing;
