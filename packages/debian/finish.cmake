# What the policy of Debian asks of a package beyond the installed files: licence and changelog of
# each, and manual pages compressed. cpack runs this when the components are in place, before it
# packs them.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
unset(ENV{DESTDIR}) # the paths below are whole
set(here ${CMAKE_CURRENT_LIST_DIR})
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(documents ${root}/usr/share/doc/${package})
  file(INSTALL ${here}/copyright DESTINATION ${documents})
  file(INSTALL ${here}/changelog DESTINATION ${documents} RENAME changelog.Debian)
  file(INSTALL ${here}/../../CHANGELOG.md DESTINATION ${documents} RENAME changelog)
  file(REMOVE_RECURSE ${root}/usr/share/doc/pythia-tracepoints) # its licence is in copyright
  file(GLOB_RECURSE pages ${root}/usr/share/man/*)
  execute_process(COMMAND gzip -9n ${documents}/changelog.Debian ${documents}/changelog ${pages}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
