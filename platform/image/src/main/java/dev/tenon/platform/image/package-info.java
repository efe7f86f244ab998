/// Makes a container image of the distribution.
package dev.tenon.platform.image;
