/// Runs generations for requests: the queue, several choices at the same time, the end when a client leaves.
package dev.tenon.platform.server.generation;
