@echo off
rem Starts Tenon on Windows. Needs Java 25 or newer: TENON_JAVA_HOME, the distribution's own, JAVA_HOME, or java on the PATH.
rem TENON_JAVA_OPTS and TENON_LOG are as in bin/tenon; there is no start-up cache here.
setlocal
for %%I in ("%~dp0..") do set "TENON_DIST=%%~fI"
set "TENON_JAVA="
if exist "%TENON_DIST%\java\bin\java.exe" set "TENON_JAVA=%TENON_DIST%\java"
if defined TENON_JAVA_HOME set "TENON_JAVA=%TENON_JAVA_HOME%"
if not defined TENON_JAVA if defined JAVA_HOME set "TENON_JAVA=%JAVA_HOME%"
if not defined TENON_JAVA for %%I in (java.exe) do if not "%%~$PATH:I"=="" for %%J in ("%%~dp$PATH:I..") do set "TENON_JAVA=%%~fJ"
if not exist "%TENON_JAVA%\bin\java.exe" goto none
findstr /r /c:"^JAVA_VERSION=.2[5-9]" /c:"^JAVA_VERSION=.[3-9][0-9]" "%TENON_JAVA%\release" >nul 2>&1 || goto none
findstr /r /c:"^MODULES=.*jdk\.incubator\.vector" "%TENON_JAVA%\release" >nul 2>&1 || goto none
"%TENON_JAVA%\bin\java.exe" "@%TENON_DIST%\lib\launcher.options" --add-exports java.base/jdk.internal.module=ALL-UNNAMED -Dtenon.vector=first -cp "%TENON_DIST%\lib\*" "-Dtenon.home=%TENON_DIST%" %TENON_JAVA_OPTS% dev.tenon.platform.launcher.Main %*
exit /b %ERRORLEVEL%
:none
if not defined TENON_JAVA set "TENON_JAVA=java on the PATH"
echo tenon: "%TENON_JAVA%" is not a Java 25 or newer with the module jdk.incubator.vector. Install one and set JAVA_HOME to it. [ENV-001] 1>&2
exit /b 1
