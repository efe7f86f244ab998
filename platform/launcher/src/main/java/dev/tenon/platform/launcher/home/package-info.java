/// The folders of an installation, its settings files, and the process's working folder.
package dev.tenon.platform.launcher.home;
