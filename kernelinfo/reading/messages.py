"""What the readers tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import Message, wording

MESSAGES = {
    # Files and paths.
    "glob-without-match": "matches no file; check the pattern",
    "glob-too-wide": "matches more than {most} files or folders; give a narrower pattern",
    "stdin-too-large": "gives more than {most} bytes; give it as a file",
    "stdin-empty": "is empty; give it a file to read",
    "path-invalid": "{error}",
    "file-missing": "{error}{suggestion}",
    "file-unreadable": "{error}",
    "file-read-failed": "cannot be read: {error}",
    "file-shrank": "shrank while it was read; read it again when it is complete",
    "file-empty": "is empty; build it again",
    "file-all-zero": "is all zero, as after an interrupted write; build it again",
    "file-not-regular": "is no regular file; give a file, a directory or -",
    "file-link-broken": "is a link to nothing; build again what it leads to",
    "document-too-large": "has more than {most} bytes; give another file",
    "git-lfs-pointer": "is a pointer of Git LFS; fetch the file by `git lfs pull`",
    # Files without code.
    "file-without-code": "no AMD GPU code found; give what the compiler left for the device",
    "file-cuda": "NVIDIA GPU code (CUDA); give a build for AMD GPUs (ROCm)",
    "file-unknown": "neither AMD GPU code nor text; give what the compiler left for the device",
    "text-utf16-too-large": (
        "a text in UTF-16 of {size} bytes, more than the {most} held at once; --bound memory=N "
        "reads it"
    ),
    "tensile-catalogue": (
        "a catalogue of Tensile without code; give the .co or .hsaco files next to it"
    ),
    "html-page": "an HTML page; give the file itself; the address of a folder to scan ends in /",
    "assembly-of-host": "host code; give the *-hip-amdgcn-*.s next to it",
    "ptx": "PTX, for NVIDIA GPUs; give a build for AMD GPUs (ROCm)",
    "record-without-usage": (
        "no resource usage in this optimization record; compile with {flag}, too"
    ),
    "log-without-usage": "no resource usage in this log; compile with {flag}",
    "text-without-assembly": "no AMDGPU assembly found; give what the compiler left for the device",
    "bitcode": (
        "LLVM bitcode carries no resource usage; give the linked code object or the assembly{mend}"
    ),
    "bitcode-mend": ", or compile it by `kernelinfo sweep`",
    # Bounds.
    "file-expands-too-far": (
        "its compressed parts give more than the {most} bytes allowed for all of a file; not read "
        "from here on; --bound ratio=N allows more"
    ),
    "members-too-many": (
        "more than {most} members, or headers that lead nowhere; not read from here on; --bound "
        "members=N reads more"
    ),
    "kernels-too-many": (
        "more than {most} {what} in {size} bytes of code; not read from here on; --bound kernels=N "
        "reads more"
    ),
    "entries-too-many": (
        "{entries} entries, more than the {most} allowed here; --bound entries=N reads them"
    ),
    "container-nesting": (
        "containers nested more than {deepest} deep; --bound nesting=N reads deeper"
    ),
    "data-not-searched": "more than {size} bytes of no known kind, not searched; --deep does",
    # Members of archives.
    "member-cut-off": "{claimed} bytes claimed of which {size} are there",
    "member-too-large": "a member of more than {most} bytes; unpack it, or see --bound",
    "number-beyond-64-bits": "more than 2^64",
    "number-malformed": "{digits!r} is no number of base {base}",
    "offset-negative": "an offset before the first byte",
    "table-too-large": "a table of {size} bytes, more than the {most} allowed",
    # Compressed files.
    "compressed-damaged": "damaged {method} data ({error}); not read",
    "compressed-cut-off": "{method} data cut off after {size} bytes",
    "compressed-too-large": (
        "{method} data give more than the {most} bytes allowed here; --bound ratio=N and "
        "memory=BYTES allow more"
    ),
    "compressed-streams-empty": "{count} {method} streams with next to nothing in them",
    "compressed-followed": "{size} bytes behind {method} data; not read",
    # Archives of ar.
    "archive-damaged": "damaged archive: no member header where one should be; not read from here",
    "archive-member-unnamed": "a member whose name is not in the archive; build it again",
    "archive-member-cut-off": "a member cut off after {size} of {stated} bytes",
    "archive-name-long": "a name longer than its member",
    "archive-thin-inside": (
        "a thin archive inside another file; its members are elsewhere; give it itself"
    ),
    "archive-member-outside": "a member outside the folder of its thin archive; not read",
    "archive-member-unreadable": "member of a thin archive: {reason}",
    "archive-nor-more": "; nor are {count} more",
    "archive-member-missing": "member of a thin archive: no such file{more}; build it again",
    # Zips.
    "zip-damaged": "damaged zip ({error}); not read",
    "zip-bytes-repeated": "zip members repeat the same bytes; not read from here on",
    "zip-member-missing": "damaged zip: no member where its directory says",
    "zip-member-cut-off": "a member cut off after {size} of {stated} bytes",
    "zip-encrypted": "an encrypted member; unpack it",
    "zip-method": "a member compressed by method {method}; unpack it",
    # Tars.
    "tar-cut-off": "cut off",
    "tar-header-large": "a header of {size} bytes",
    "tar-header-number": "a header with a number of more than 64 digits",
    "tar-sparse": "sparse file in a tar; unpack it",
    "tar-header-missing": "no tar header where one should follow",
    "tar-headers-many": "damaged tar (hundreds of headers for one member); not read",
    "tar-damaged": "damaged tar ({error}); not read from there on",
    # Cpio archives and RPM packages.
    "cpio-name-repeated": "several members have this name: all are read",
    "cpio-without-end": "a cpio archive without an end: members may be missing",
    "cpio-stripped": "RPM's cpio archive for files beyond 4 GB; unpack it by rpm2archive",
    "cpio-damaged": "damaged cpio: no member header where one should be; not read from here",
    "cpio-name-long": "damaged cpio: a name of {length} bytes; not read from here",
    "rpm-cut-off": "an RPM package cut off within its headers; build it again",
    "rpm-damaged": "damaged RPM package: no header of {size} bytes at {at}",
    "rpm-without-payload": "an RPM package without a payload",
    "rpm-payload-unknown": "an RPM package whose payload is no cpio archive; unpack it by rpm2cpio",
    # Databases.
    "database-log-unread": "its write-ahead log is not read: rows in it are not counted",
    "database-damaged": "damaged database ({error}); not all of it is read",
    "database-rows-unordered": "rows out of order",
    "database-memory": "it takes too much memory",
    "database-rows-too-many": "more than {rows} rows; not read from here on",
    "database-row-again": "row {number} of {table} again",
    "database-checksum": "its checksum does not match; build it again",
    "database-row-no-blob": "a row of a kernel whose code is no blob; not read",
    "database-row-size": "{size} bytes of code where its row says {stated}; not read",
    "database-without-kernels": (
        "a database without kernels; give one of MIOpen's, rocFFT's or tinygrad's"
    ),
    "database-rows-unread": (
        "damaged database ({error}); {unread} of {rows} rows of {table} are not read"
    ),
    "database-index-unread": (
        "damaged database: the index of {table} is not read ({error}); build it again"
    ),
    "database-index-incomplete": (
        "damaged database: the index of {table} lists {indexed} rows of {rows}; build it again"
    ),
    # ELF files.
    "elf-not-64-bit": "not a 64-bit little-endian ELF file; AMD GPU code comes in no other",
    "elf-cut-off": "ELF file cut off after {size} bytes, within its header; rebuild it",
    "elf-headers-outside": (
        "{count} headers of {size} bytes at {at}, in a file of {file_size} bytes: not read"
    ),
    "elf-names-unreadable": "section names cannot be read",
    # Host files.
    "host-section-outside": "the bytes of {name} are not in this file",
    "host-bytes-repeated": "sections repeat the same bytes; not read from here on",
    "host-section-cut-off": "{name} ends {missing} bytes behind the file; build it again",
    "coff-cut-off": "PE or COFF file cut off within its headers; build it again",
    # Offload bundles.
    "bundle-cut-off": "a bundle cut off within its header; build it again",
    "bundle-followed": "{length} bytes that are no bundle follow a bundle; not read",
    "bundle-empty": "a bundle without entries",
    "bundle-id-repeated": "{repeated} of its entries has the id of another; all are read",
    "bundle-entry-outside": "a bundle entry that lies outside its bundle of {size} bytes",
    "bundle-bytes-repeated": "bundle entries repeat the same bytes; not read from here on",
    "bundle-damaged": "damaged bundle: it claims {count} entries",
    "bundle-id-long": "damaged bundle: it claims an id of {size} bytes",
    # Compressed bundles.
    "ccob-cut-off": "a compressed bundle cut off within its header; build it again",
    "ccob-incomplete": "compressed bundle of {length} bytes of which {size} are there",
    "ccob-damaged": "compressed bundle: {reason}",
    "ccob-without-checksum": "compressed bundle without a checksum: damage would not be seen",
    "ccob-checksum": "damaged compressed bundle: its checksum does not match; build it again",
    "ccob-version": "compressed bundle of version {version}; versions 1 to 3 are known",
    "ccob-method": "compressed bundle of method {method}; 0, zlib, and 1, zstd, are known",
    "ccob-length": "damaged compressed bundle: it claims {length} bytes in all",
    "ccob-short": "compressed bundle: {size} bytes, but its header says {stated}",
    # LLVM's OffloadBinary.
    "offload-binary-followed": "{size} bytes that are no OffloadBinary follow one; not read",
    "offload-binary-version": "OffloadBinary of version {version}; versions 1 and 2 are known",
    "offload-binary-strings-outside": "an OffloadBinary whose strings lie outside of it",
    "offload-binary-image-outside": (
        "an image of {size} bytes outside its OffloadBinary of {length}"
    ),
    "offload-binary-bytes-repeated": "images repeat the same bytes; not read from here on",
    "offload-binary-strings-many": "damaged OffloadBinary: it claims {count} strings",
    "offload-binary-string-endless": "damaged OffloadBinary: a string without end",
    "offload-binary-cut-off": "OffloadBinary cut off within its tables; build it again",
    "offload-binary-damaged": (
        "damaged OffloadBinary: {length} bytes, of which {size} are there, with {count} images"
    ),
    # Kpack archives, and host files with their code in them.
    "kpack-scheme": "kpack archive compressed by {scheme!r:.100}; none and zstd are known",
    "kpack-bytes-repeated": "kpack entries repeat the same bytes; not read from here on",
    "kpack-entry-size": "{size} bytes where its table says {stated}",
    "kpack-entry-ordinal": "kpack entry of ordinal {ordinal}, where there are {count}",
    "kpack-entry-outside": "kpack entry whose bytes lie outside of its archive; not read",
    "kpack-without-names": "damaged kpack archive: its table names no binaries",
    "kpack-entries-odd": "{odd} entries of its table are no entries; not read",
    "kpack-frames-outside": "damaged kpack archive: its block of frames lies outside of it",
    "kpack-frames-many": "damaged kpack archive: it claims {count} frames in {size} bytes",
    "kpack-frame-missing": "damaged kpack archive: frame {number} of {count} is not in its block",
    "kpack-cut-off": "a kpack archive cut off within its header; build it again",
    "kpack-version": "kpack archive of version {version}; version {known} is known",
    "kpack-table-large": "kpack archive with a table of {size} bytes; not read",
    "kpack-table-damaged": "damaged kpack archive: its table is not read ({error})",
    "kpack-table-no-map": "damaged kpack archive: its table is no map",
    "kpack-without-blobs": "damaged kpack archive: its table has no list of blobs",
    "kpack-table-outside": (
        "damaged kpack archive: its table of contents is at {at}, in a file of {size} bytes"
    ),
    "kpack-missing": (
        "its device code is in {archives}, which is not {place}; install the device package of "
        "your target, or give the archive{more}"
    ),
    "kpack-and-for-more": " (and for {count} more)",
    "msgpack-damaged": "{error}",
    "hipk-reference-large": "its reference to kpack archives has {size} bytes; not read",
    "hipk-reference-damaged": "its reference to kpack archives is damaged ({error})",
    "hipk-reference-incomplete": (
        "its reference to kpack archives is damaged: no paths and name in it"
    ),
    "hipk-reference-empty": "its device code is in kpack archives, but its reference names none",
    "hipk-or-more": " or {count} more",
    "hipk-unit-missing": "{unit} is in none of its kpack archives",
    "hipk-and-more-units": " and {count} more units",
    "hipk-unit-not-for-target": "{unit}{more}: not in its kpack archives of {processor}",
    "hipk-archive": "its kpack archive: {reason}",
    "hipk-no-archive": "is no kpack archive, though its name says so; not read",
    # AOTriton's packs.
    "aks2-cut-off": "an AKS2 pack cut off within its header; build it again",
    "aks2-size": "{size} bytes where its header says {stated}",
    "aks2-damaged": "damaged AKS2 pack: {error}",
    "aks2-image-outside": "an image outside of its AKS2 pack",
    "aks2-directory-small": "it claims {count} kernels in a directory of {size} bytes",
    "aks2-directory-short": "its directory is shorter than its entries",
    "aks2-directory-long": "its entries take {at} bytes of a directory of {size}",
    # Triton's JSON.
    "sidecar-other-target": "{source} is not read: it is for {arch}",
    "sidecar-large": "more than {most} bytes",
    "sidecar-not-amd": "it is not for an AMD GPU",
    "sidecar-names": "its names are no text",
    "sidecar-contradiction": "{key} is {values}",
    "sidecar-number": "{value} where a number to {most} should be",
    "sidecar-other-kernel": "{source} is not read: it is for the kernel {kernel}",
    "sidecar-not-read": "{source} is not read: {error}",
    "sidecar-json": "Triton's JSON next to it",
    "sidecar-metadata": "Triton's metadata",
    "json-nesting": "nested too deep",
    "json-damaged": "{error} on line {line}",
    # Code found by its header.
    "code-found-by-header": "found by its header in data of a kind that is not known",
    "code-and-more": " and {count} more",
    "code-damaged-by-header": "a code object cut off or damaged, by its header{more}; not read",
    # Target names.
    "target-feature-spellings": "{feature}+ or {feature}-",
    "target-without-features": "no feature",
    "target-feature-unknown": "{text} is no target: {target} has {has}",
    # Metadata of kernels.
    "value-not-whole": "not a whole number from {least} to {most}",
    "value-not-three-sizes": "not three sizes",
    "value-not-32-or-64": "not 32 or 64",
    "value-not-a-revision": "not the name of a revision",
    "value-not-a-flag": "not true or false",
    "metadata-version": "metadata of version {version} is not known: new keys in it are not read",
    "metadata-not-a-map": "{part} is {value}, not a map",
    "metadata-value": "{key} is {value}, {error}",
    "metadata-not-text": "{key} is {value}, not text",
    "value-of-many-bits": "a number of {bits} bits",
    "metadata-unreadable": "the metadata cannot be read: {error}",
    # All of a text or object.
    "object-not-linked": (
        "is not linked yet: numbers cover this object only; link it to count all callees"
    ),
    "warnings-more": "{count} more warnings on this text; the last one is: {reason}",
    # Assembly texts.
    "directive-unreadable": ".{directive} cannot be read: {error}",
    "kernel-at-line": "kernel at line {line}",
    "kernel-info-repeated": "kernel {kernel!r}: kernel info stands here again, not read",
    "kernel-info-unknown": "kernel {kernel!r}: not a kernel info field: {comment!r}",
    "kernel-descriptor-repeated": "kernel {kernel!r}: .amdhsa_kernel stands here again, not read",
    "kernel-descriptor-endless": "kernel {kernel!r}: .amdhsa_kernel has no end",
    "part-not-open": "part {entry!r} ends, but part {part!r} is open; build it again",
    "part-and-more": " and {count} more",
    "part-endless": "part {part!r}{more} has no end; build it again",
    "module-cut-off": "no metadata ends the module: it is cut off; build it again",
    "kernel-not-in-metadata": "kernel {kernel!r}: not in the module's metadata; build it again",
    "module-may-be-cut-off": (
        "no metadata ends the module, as clang writes it: it may be cut off; build it again"
    ),
    "kernel-shader": "{kernel!r} has no descriptor: passed over as a shader",
    "field-repeated": "{field} is stated again; the last one counts",
    "kernels-of-macro": (
        "kernels made by `{begins}` are not read: only the assembler expands it; give the object "
        "assembled from this text"
    ),
    "value-unresolved": "{field} is unresolved: {why}",
    "value-impossible": "{field} is {value}, which no kernel can have",
    # Expressions in assembly.
    "expression-division-by-zero": "a division by zero",
    "expression-shift": "a shift by {amount} of 64 bits",
    "expression-totalnumvgprs": "totalnumvgprs of an unknown target",
    "expression-extrasgprs": "extrasgprs of an unknown target",
    "expression-code-size": "the size of the code is not in the text",
    "expression-arguments": "{function} does not take {count} arguments",
    "expression-function": "{function!r} is no function of the assembler",
    "expression-depth": "{term!r} is more than {deepest} definitions away",
    "expressions-too-long": "the module's expressions are too long in total",
    "symbol-of-assembler": "{name} is counted from the instructions",
    "symbol-undefined": "symbol {name!r} is not defined",
    "expression-too-long": "an expression of more than {most} tokens",
    "expression-malformed": "{written!r} is no expression",
    "expression-missing": "the value is missing",
    "expression-octal": "{digits!r} is no octal number",
    "expression-number": "a number of more than 64 bits",
    "symbol-circular": "symbol {name!r} is defined by itself",
    # Metadata in YAML.
    "yaml-no-map": "no map of keys",
    "yaml-no-list": "{name} is no list",
    "yaml-values-many": "more than {most} values",
    "yaml-alias": "an alias, which metadata never has",
    "yaml-nesting": "nested more than {most} deep",
    "yaml-on-line": " on line {line}",
    "pal-metadata-no-list": "amdpal.pipelines is missing or no list",
    "yaml-damaged": "{error}{at}",
    # Code objects.
    "linking-info-endless": "kernel {kernel!r}: .amdgpu_info has no end",
    "elf-of-host": "an ELF file for machine {machine}, a host; give one for AMD GPUs",
    "object-damaged": "cut off or damaged ({damage}); build it again",
    "object-without-kernels": "neither metadata nor descriptors of kernels",
    "object-without-metadata": "no metadata in its notes: descriptors alone are read",
    "object-segments-overlap": (
        "load segments overlap: the first one with an address is read; link it again"
    ),
    "object-abi-unknown": "OS ABI {os_abi} version {version} is not known for HSA",
    "descriptor-missing": "no descriptor; registers and LDS are known by the metadata alone",
    "descriptor-outside": "the descriptor's address has no bytes in the file",
    "debug-entry-outside": "an entry ends behind its section",
    "debug-form-unknown": "the form {form} is unknown",
    "debug-number": "a number of more than 64 bits",
    "descriptor-malformed": "the symbol .kd does not point at a descriptor",
    "debug-unreadable": "the debug information cannot be read: {error}",
    "linking-info-outside": "{section} lies outside the file",
    "linking-info-numbers": "numbers before a function",
    "linking-info-damaged": "damaged {section}: {error}; not read from there on",
    "linking-info-entry": "an entry of kind {kind} with {size} bytes at {at}",
    "notes-outside": "notes outside the file, not read",
    "note-damaged": "damaged note: longer than its section",
    "notes-too-many": "more than {most} notes, not read from here on; build it again",
    "note-without-name": "a note without a name, not read: it may be the metadata; build it again",
    "msgpack-text": "no text, or a long one",
    "msgpack-value-large": "a value of {size} bytes, more than the {most} allowed",
    "symbols-without-name": "{count} symbols without a name in the string table",
    "symbol-table-damaged": "damaged symbol table {name!r}, not read",
    "symbol-table-dynamic-damaged": "damaged dynamic symbol table, not read",
    "symbol-table-entries": (
        "symbol table {name!r} with entries of {size} bytes; read as entries of {read_as}"
    ),
    # Metadata in code objects.
    "metadata-endless": "the metadata has no end",
    "metadata-without-name": "metadata of a kernel without a name",
    "metadata-damaged": "damaged metadata: {error}",
    "metadata-cut-off": "cut off",
    "metadata-key": "a key or value is malformed ({error})",
    "metadata-no-list": "amdhsa.kernels is missing or no list",
    "metadata-no-map": "its root is no map",
    "metadata-keys": "a map of {keys} keys",
    "metadata-followed": "bytes after the metadata, not read",
    "metadata-of-pal": "PAL pipelines are not read, only HSA kernels",
    "metadata-name": "a name cut elsewhere",
    "metadata-key-repeated": "{key!r} stands more than once; the last counts",
    "metadata-repeated": "stands again in the metadata; the last counts",
    "metadata-kernels-odd": "damaged metadata: {count} of amdhsa.kernels are no maps",
    "metadata-key-twice": (
        "damaged metadata: {key!r} stands more than once in one map; the last counts"
    ),
    "metadata-of-v2": "{error}",
    "kernel-unlisted": "{kernels}: not in the metadata, by which it is launched; build it again",
    # Targets of texts and objects.
    "target-not-named": ".{directive} names no processor: {named!r}",
    "target-not-of-text": "--arch {arch} is not read: the text is for {processor}",
    "target-feature-odd": "amdhsa.target names {named} and {odd}, no feature",
    "target-id-malformed": "amdhsa.target is {target_id}, not a target id",
    "target-contradiction": "e_flags say {flags}, amdhsa.target says {named}; read as the former",
    "target-elf-unknown": "processor 0x{mach:02x} in e_flags is not known{read_as}",
    "target-read-as": "; read as {name}",
    # Build logs.
    "log-of-functions": "reports functions but no kernel: no report ends with an LDS size",
    "build-failed": "the build failed here: kernels may be missing; mend it, and build again",
    "log-without-name": "numbers without a function's name: the log begins inside a kernel",
    "log-cut-off": "the log ends before its last number",
    "record-cut-off": "the record is cut off",
    "record-without-name": "the record has no name",
    "record-without-value": "the record states no {name}",
    "record-contradiction": "the record is of {function!r:.100} and names {named!r:.100}",
    "record-escape": "the record has the escape {escaped!r}",
    "log-of-two-compilers": (
        "two compilers report one source line at once; build with --save-temps and give the .s "
        "files, or write a log for each target"
    ),
    "log-contradiction": "{key} is {first:.40} and {second:.40}; neither is taken",
    "log-number": "{key}: {value!r:.60} is not a whole number from 0 to {most}",
    # Where it is.
    "in-file": "{path}: {reason}",
    "in-kernel": "kernel {kernel!r}: {reason}",
    "in-function": "{function!r:.200}: {reason}",
    "of-kernels": "{kernels}: {reason}",
    "kernel-named": "kernel {name!r}",
    "kernels-named": "kernel {first!r} and {count} more",
}

say = wording(MESSAGES)


def in_file(path: object, message: Message) -> Message:
    """A message behind the path of its file."""
    return say("in-file", path=path, reason=message)


def in_kernel(symbol: str, message: Message) -> Message:
    """A message behind the name of its kernel."""
    return say("in-kernel", kernel=symbol, reason=message)
