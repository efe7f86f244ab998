/// An open GPU: its context and streams, its memory, and the code that is loaded into it.
package dev.tenon.backend.cuda.device;
