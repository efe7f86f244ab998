/// Makes text of steps: sampling, stop strings, and the events that a consumer takes.
package dev.tenon.platform.core.generation;
