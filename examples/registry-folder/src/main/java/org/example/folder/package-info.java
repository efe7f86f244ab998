/// A folder as a place of models.
package org.example.folder;
