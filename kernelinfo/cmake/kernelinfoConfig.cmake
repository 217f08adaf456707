# find_package(kernelinfo) gives kernelinfo_check(); see `kernelinfo explain build`.
# CMake finds this file by -Dkernelinfo_DIR="$(kernelinfo cmake-dir)".

find_program(kernelinfo_EXECUTABLE kernelinfo
    HINTS
        "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin" # lib/pythonX.Y/site-packages of a prefix
        "${CMAKE_CURRENT_LIST_DIR}/../../../../Scripts" # Lib/site-packages on Windows
    DOC "The command that checks AMD GPU kernels")
if(NOT kernelinfo_EXECUTABLE)
    set(kernelinfo_FOUND FALSE)
    set(kernelinfo_NOT_FOUND_MESSAGE
        "The command `kernelinfo` is not found; put it on the PATH or set kernelinfo_EXECUTABLE")
    return()
endif()

# kernelinfo_check(TARGET target [PATHS path...] [CONFIG file] [NAME test] [OPTIONS option...])
#
# Adds the test NAME (kernels-<target>) and the target check-<target>, which build nothing else and
# run `kernelinfo check` on the file of the target, or on PATHS. A custom target has no file of its
# own, so it needs PATHS. Without CONFIG the nearest kernelinfo.toml of the source folder counts.
function(kernelinfo_check)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TARGET;CONFIG;NAME" "PATHS;OPTIONS")
    if(NOT ARG_TARGET OR ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "kernelinfo_check: give TARGET and a target; "
            "not known: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT TARGET ${ARG_TARGET})
        message(FATAL_ERROR "kernelinfo_check: ${ARG_TARGET} is no target")
    endif()
    get_target_property(type ${ARG_TARGET} TYPE)
    get_target_property(imported ${ARG_TARGET} IMPORTED)
    if(ARG_PATHS)
        set(paths ${ARG_PATHS})
    elseif(type MATCHES "^(UTILITY|INTERFACE_LIBRARY)$")
        message(FATAL_ERROR "kernelinfo_check: ${ARG_TARGET} has no file of its own; give PATHS")
    elseif(type STREQUAL "OBJECT_LIBRARY")
        set(paths $<TARGET_OBJECTS:${ARG_TARGET}>)
    else()
        set(paths $<TARGET_FILE:${ARG_TARGET}>)
    endif()
    if(NOT ARG_NAME)
        set(ARG_NAME kernels-${ARG_TARGET})
    endif()
    set(command ${kernelinfo_EXECUTABLE} check ${ARG_OPTIONS})
    if(ARG_CONFIG)
        get_filename_component(config ${ARG_CONFIG} ABSOLUTE)
        list(APPEND command --config ${config})
    endif()
    add_test(NAME ${ARG_NAME} COMMAND ${command} -- ${paths}
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMAND_EXPAND_LISTS)
    add_custom_target(check-${ARG_TARGET} COMMAND ${command} -- ${paths}
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMAND_EXPAND_LISTS VERBATIM)
    if(NOT imported)
        add_dependencies(check-${ARG_TARGET} ${ARG_TARGET})
    endif()
endfunction()
