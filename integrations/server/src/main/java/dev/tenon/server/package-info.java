/// Has no code: the artifact `tenon-server` brings `tenon` and the server.
package dev.tenon.server;
