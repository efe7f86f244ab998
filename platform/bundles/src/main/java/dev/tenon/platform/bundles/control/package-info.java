/// The control channel of a running platform: the socket, its client, and the commands that both ends know.
package dev.tenon.platform.bundles.control;
