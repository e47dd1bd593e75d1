# cpack lets the package of a library call ldconfig; the policy of Debian asks for a trigger
# instead. cpack runs this when the packages are there: it takes out the scripts of
# libpythia-tracepoints0, whose other control file is debian/triggers.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "/libpythia-tracepoints0_")
    set(folder ${CPACK_TEMPORARY_DIRECTORY}/trigger)
    file(REMOVE_RECURSE ${folder})
    execute_process(COMMAND dpkg-deb --raw-extract ${package} ${folder}
      COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE ${folder}/DEBIAN/postinst ${folder}/DEBIAN/postrm)
    execute_process(COMMAND dpkg-deb --build --root-owner-group ${folder} ${package}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
