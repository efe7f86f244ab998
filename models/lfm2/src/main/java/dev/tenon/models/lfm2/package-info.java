/// The lfm2 and lfm2moe architectures as graph builders.
package dev.tenon.models.lfm2;
