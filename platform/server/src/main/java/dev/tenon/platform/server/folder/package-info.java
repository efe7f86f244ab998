/// A folder of models: files, and names that were given to them with defaults of their own.
package dev.tenon.platform.server.folder;
