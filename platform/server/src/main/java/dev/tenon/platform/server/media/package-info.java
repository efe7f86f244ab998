/// Pictures and sounds of requests.
package dev.tenon.platform.server.media;
