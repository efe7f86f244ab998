/// The page for browsers: its files, what it shows of the platform, and the changes that it may ask for.
package dev.tenon.platform.server.page;
