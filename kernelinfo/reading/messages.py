"""What the readers tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import Message, wording

MESSAGES = {
    # Files and paths.
    "glob-without-match": "matches no files; check the pattern, or write -k {name!r} for kernels",
    "glob-too-wide": "matches more than {most} files or folders; give a narrower pattern",
    "stdin-too-large": "has more than {most} bytes; pass a file instead",
    "stdin-empty": "is empty; pipe a file into it",
    "pipe-empty": "is an empty pipe; start or fix the program that writes to it",
    "path-invalid": "{error}",
    "file-or-kernel": "a kernel? write -k {name!r}, or `kernelinfo explain FILE NAME`",
    "file-or-target": "a target? write --arch {name} or --as {name}",
    "file-missing": "{error}{suggestion}",
    "file-unreadable": "{error}",
    "file-read-failed": "cannot be read: {error}",
    "file-shrank": "shrank while it was read; try again when it is complete",
    "file-empty": "is empty; rebuild it",
    "file-all-zero": "is all zeros, as after an interrupted write; rebuild it",
    "file-not-regular": "is not a regular file; pass a file, a directory or -",
    "file-link-broken": "is a broken link; rebuild its target",
    "document-too-large": "is larger than {most} bytes; pass another file",
    "git-lfs-pointer": "is a Git LFS pointer; fetch the file with `git lfs pull`",
    # Files without code.
    "file-without-code": "no AMD GPU code found; pass the compiler's output for the device",
    "file-cuda": "NVIDIA GPU code (CUDA); pass a build for AMD GPUs (ROCm)",
    "file-unknown": "neither AMD GPU code nor text; pass the compiler's output for the device",
    "text-utf16-too-large": (
        "a UTF-16 text of {size} bytes, above the limit of {most}; raise it with --bound memory=N"
    ),
    "tensile-catalogue": (
        "a Tensile catalogue without code; pass the .co or .hsaco files next to it"
    ),
    "html-page": "an HTML page; pass the file itself, or end the address of a folder with /",
    "assembly-of-host": "host code; pass the *-hip-amdgcn-*.s next to it",
    "ptx": "PTX, for NVIDIA GPUs; pass a build for AMD GPUs (ROCm)",
    "record-without-usage": (
        "no resource usage in this optimization record; also compile with {flag}"
    ),
    "log-without-usage": "no resource usage in this log; compile with {flag}",
    "text-without-assembly": "no AMDGPU assembly found; pass the compiler's output for the device",
    "bitcode": (
        "LLVM bitcode carries no resource usage; pass the linked code object or the assembly{mend}"
    ),
    "bitcode-mend": ", or compile it with `kernelinfo sweep`",
    # Bounds.
    "file-expands-too-far": (
        "its compressed parts expand to more than {most} bytes, the limit of one file; the rest is "
        "skipped; raise the limit with --bound ratio=N"
    ),
    "members-too-many": (
        "more than {most} members, or headers that lead nowhere; the rest is skipped; raise the "
        "limit with --bound members=N"
    ),
    "kernels-too-many": (
        "more than {most} {what} in {size} bytes of code; the rest is skipped; raise the limit "
        "with --bound kernels=N"
    ),
    "entries-too-many": (
        "{entries} entries, above the limit of {most}; raise it with --bound entries=N"
    ),
    "container-nesting": (
        "containers nested more than {deepest} deep; raise the limit with --bound nesting=N"
    ),
    "data-not-searched": (
        "more than {size} bytes of unknown data, not searched; search them with --deep"
    ),
    # Members of archives.
    "member-cut-off": "truncated: {size} of {claimed} bytes",
    "member-too-large": "a member larger than {most} bytes; unpack it, or see --bound",
    "number-beyond-64-bits": "at least 2^64",
    "number-malformed": "invalid base-{base} number {digits!r}",
    "offset-negative": "an offset before the first byte",
    "table-too-large": "a table of {size} bytes, above the limit of {most}",
    # Compressed files.
    "compressed-damaged": "damaged {method} data ({error}); skipped",
    "compressed-cut-off": "{method} data truncated after {size} bytes",
    "compressed-too-large": (
        "{method} data expand to more than {most} bytes; raise the limit with --bound ratio=N and "
        "memory=BYTES"
    ),
    "compressed-streams-empty": "{count} nearly empty {method} streams",
    "compressed-followed": "{size} bytes after the {method} data; skipped",
    # Archives of ar.
    "archive-damaged": (
        "damaged archive: no member header where one is expected; the rest is skipped"
    ),
    "archive-member-unnamed": "a member whose name is not in the archive; rebuild it",
    "archive-member-cut-off": "a member truncated after {size} of {stated} bytes",
    "archive-name-long": "a name longer than its member",
    "archive-thin-inside": (
        "a thin archive inside another file, without its members; pass the archive itself"
    ),
    "archive-member-outside": "a member outside the folder of its thin archive; skipped",
    "archive-member-unreadable": "member of a thin archive: {reason}",
    "archive-nor-more": " (and {count} more)",
    "archive-member-missing": "member of a thin archive: no such file{more}; rebuild it",
    # Zips.
    "zip-damaged": "damaged zip ({error}); skipped",
    "zip-bytes-repeated": "overlapping zip members; the rest is skipped",
    "zip-member-missing": "damaged zip: no member where its directory lists one",
    "zip-member-cut-off": "a member truncated after {size} of {stated} bytes",
    "zip-encrypted": "an encrypted member; unpack it",
    "zip-method": "a member compressed with method {method}; unpack it",
    # Tars.
    "tar-cut-off": "truncated",
    "tar-header-large": "a header of {size} bytes",
    "tar-header-number": "a header with a number of more than 64 digits",
    "tar-sparse": "sparse file in a tar; unpack it",
    "tar-header-missing": "no tar header where one is expected",
    "tar-headers-many": "damaged tar (hundreds of headers for one member); skipped",
    "tar-damaged": "damaged tar ({error}); the rest is skipped",
    # Cpio archives and RPM packages.
    "cpio-name-repeated": "several members have this name; all are read",
    "cpio-without-end": "an unterminated cpio archive: members may be missing",
    "cpio-stripped": "RPM's cpio archive for files over 4 GB; unpack it with rpm2archive",
    "cpio-damaged": (
        "damaged cpio archive: no member header where one is expected; the rest is skipped"
    ),
    "cpio-name-long": "damaged cpio archive: a name of {length} bytes; the rest is skipped",
    "rpm-cut-off": "an RPM package truncated within its headers; rebuild it",
    "rpm-damaged": "damaged RPM package: no header of {size} bytes at {at}",
    "rpm-without-payload": "an RPM package without a payload",
    "rpm-payload-unknown": (
        "an RPM package whose payload is not a cpio archive; unpack it with rpm2cpio"
    ),
    # Databases.
    "database-log-unread": "its write-ahead log is not read: rows in it are not counted",
    "database-damaged": "damaged database ({error}); only partly read",
    "database-rows-unordered": "rows out of order",
    "database-memory": "out of memory",
    "database-rows-too-many": "more than {rows} rows; the rest is skipped",
    "database-row-again": "duplicate row {number} of {table}",
    "database-checksum": "checksum mismatch; rebuild it",
    "database-row-no-blob": "a kernel's row whose code is not a blob; skipped",
    "database-row-size": "{size} bytes of code where its row says {stated}; skipped",
    "database-without-kernels": (
        "a database without kernels; pass one of MIOpen's, rocFFT's or tinygrad's"
    ),
    "database-rows-unread": (
        "damaged database ({error}); {unread} of {rows} rows of {table} skipped"
    ),
    "database-index-unread": (
        "damaged database: the index of {table} cannot be read ({error}); rebuild it"
    ),
    "database-index-incomplete": (
        "damaged database: the index of {table} lists {indexed} rows of {rows}; rebuild it"
    ),
    # ELF files.
    "elf-not-64-bit": "not a 64-bit little-endian ELF file, as all AMD GPU code is",
    "elf-cut-off": "ELF file truncated after {size} bytes, within its header; rebuild it",
    "elf-headers-outside": (
        "{count} unreadable headers of {size} bytes at {at}, in a file of {file_size} bytes"
    ),
    "elf-names-unreadable": "section names cannot be read",
    # Host files.
    "host-section-outside": "the bytes of {name} are not in this file",
    "host-bytes-repeated": "overlapping sections; the rest is skipped",
    "host-section-cut-off": "{name} ends {missing} bytes after the end of the file; rebuild it",
    "coff-cut-off": "PE or COFF file truncated within its headers; rebuild it",
    # Offload bundles.
    "bundle-cut-off": "a bundle truncated within its header; rebuild it",
    "bundle-followed": "{length} bytes after a bundle are not a bundle; skipped",
    "bundle-empty": "a bundle without entries",
    "bundle-id-repeated": "duplicate entry ids: {repeated}; all are read",
    "bundle-entry-outside": "a bundle entry outside its bundle of {size} bytes",
    "bundle-bytes-repeated": "overlapping bundle entries; the rest is skipped",
    "bundle-damaged": "damaged bundle: it claims {count} entries",
    "bundle-id-long": "damaged bundle: it claims an id of {size} bytes",
    # Compressed bundles.
    "ccob-cut-off": "a compressed bundle truncated within its header; rebuild it",
    "ccob-incomplete": "compressed bundle truncated: {size} of {length} bytes",
    "ccob-damaged": "compressed bundle: {reason}",
    "ccob-without-checksum": "compressed bundle without a checksum: damage would go unnoticed",
    "ccob-checksum": "damaged compressed bundle: checksum mismatch; rebuild it",
    "ccob-version": "compressed bundle of unknown version {version}; versions 1 to 3 are supported",
    "ccob-method": (
        "compressed bundle of unknown method {method}; 0 (zlib) and 1 (zstd) are supported"
    ),
    "ccob-length": "damaged compressed bundle: it claims {length} bytes in all",
    "ccob-short": "compressed bundle: {size} bytes, but its header says {stated}",
    # LLVM's OffloadBinary.
    "offload-binary-followed": (
        "{size} bytes after an OffloadBinary are not an OffloadBinary; skipped"
    ),
    "offload-binary-version": (
        "OffloadBinary of unknown version {version}; versions 1 and 2 are supported"
    ),
    "offload-binary-strings-outside": "an OffloadBinary with strings outside it",
    "offload-binary-image-outside": (
        "an image of {size} bytes outside its OffloadBinary of {length}"
    ),
    "offload-binary-bytes-repeated": "overlapping images; the rest is skipped",
    "offload-binary-strings-many": "damaged OffloadBinary: it claims {count} strings",
    "offload-binary-string-endless": "damaged OffloadBinary: an unterminated string",
    "offload-binary-cut-off": "OffloadBinary truncated within its tables; rebuild it",
    "offload-binary-damaged": (
        "damaged OffloadBinary: {count} images in {length} bytes, of which {size} are there"
    ),
    # Kpack archives, and host files with their code in them.
    "kpack-scheme": "kpack archive compressed with {scheme!r:.100}; only zstd is supported",
    "kpack-bytes-repeated": "overlapping kpack entries; the rest is skipped",
    "kpack-entry-size": "{size} bytes where its table says {stated}",
    "kpack-entry-ordinal": "kpack entry with ordinal {ordinal}, of {count} in the archive",
    "kpack-entry-outside": "kpack entry outside its archive; skipped",
    "kpack-without-names": "damaged kpack archive: its table names no binaries",
    "kpack-entries-odd": "{odd} malformed entries in its table; skipped",
    "kpack-frames-outside": "damaged kpack archive: its block of frames lies outside the file",
    "kpack-frames-many": "damaged kpack archive: it claims {count} frames in {size} bytes",
    "kpack-frame-missing": "damaged kpack archive: frame {number} of {count} is not in its block",
    "kpack-cut-off": "a kpack archive truncated within its header; rebuild it",
    "kpack-version": "kpack archive of unknown version {version}; version {known} is supported",
    "kpack-table-large": "kpack archive with a table of {size} bytes; skipped",
    "kpack-table-damaged": "damaged kpack archive: its table cannot be read ({error})",
    "kpack-table-no-map": "damaged kpack archive: its table is not a map",
    "kpack-without-blobs": "damaged kpack archive: its table has no list of blobs",
    "kpack-table-outside": (
        "damaged kpack archive: its table of contents is at {at}, in a file of {size} bytes"
    ),
    "kpack-missing": (
        "its device code is in {archives}, which is not {place}; install the device package of "
        "your target, or pass the archive"
    ),
    "kpack-missing-and-more": "{reason} (and for {count} more)",
    "msgpack-damaged": "{error}",
    "hipk-reference-large": "its reference to kpack archives has {size} bytes; skipped",
    "hipk-reference-damaged": "its reference to kpack archives is damaged ({error})",
    "hipk-reference-incomplete": (
        "its reference to kpack archives is damaged: the paths or the name are missing"
    ),
    "hipk-reference-empty": "its device code is in kpack archives, but its reference names none",
    "hipk-or-more": " or {count} more",
    "hipk-unit-missing": "{unit} is in none of its kpack archives",
    "hipk-and-more-units": " and {count} more units",
    "hipk-unit-not-for-target": "{unit}{more}: not in its kpack archives of {processor}",
    "hipk-archive": "its kpack archive: {reason}",
    "hipk-no-archive": "is not a kpack archive, despite its name; skipped",
    # AOTriton's packs.
    "aks2-cut-off": "an AKS2 pack truncated within its header; rebuild it",
    "aks2-size": "{size} bytes where its header says {stated}",
    "aks2-damaged": "damaged AKS2 pack: {error}",
    "aks2-image-outside": "an image outside its AKS2 pack",
    "aks2-directory-small": "it claims {count} kernels in a directory of {size} bytes",
    "aks2-directory-short": "its directory is shorter than its entries",
    "aks2-directory-long": "its entries take {at} bytes of a directory of {size}",
    # Triton's JSON.
    "sidecar-other-target": "{source} is ignored: it is for {arch}",
    "sidecar-large": "more than {most} bytes",
    "sidecar-not-amd": "it is not for an AMD GPU",
    "sidecar-names": "its names are not text",
    "sidecar-contradiction": "{key} is {values}",
    "sidecar-number": "{value} is not a whole number from 0 to {most}",
    "sidecar-other-kernel": "{source} is ignored: it is for the kernel {kernel}",
    "sidecar-not-read": "{source} is ignored: {error}",
    "sidecar-json": "Triton's JSON next to it",
    "sidecar-metadata": "Triton's metadata",
    "json-nesting": "nested too deeply",
    "json-damaged": "{error} on line {line}",
    # Code found by its header.
    "code-found-by-header": ("code objects found by their headers, as the file format is unknown"),
    "code-and-more": " and {count} more",
    "code-damaged-by-header": (
        "a truncated or damaged code object{more} in data of unknown kind; skipped"
    ),
    # Target names.
    "target-feature-spellings": "{feature}+ or {feature}-",
    "target-without-features": "no feature",
    "target-feature-unknown": "{text} is not a target: {target} has {has}",
    # Metadata of kernels.
    "value-not-whole": "not a whole number from {least} to {most}",
    "value-not-three-sizes": "not three sizes",
    "value-not-32-or-64": "not 32 or 64",
    "value-not-a-revision": "not the name of a revision",
    "value-not-a-flag": "not true or false",
    "metadata-version": "unknown metadata version {version}: new keys in it are ignored",
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
    "kernel-info-repeated": "kernel {kernel!r}: duplicate kernel info block ignored",
    "kernel-info-unknown": "kernel {kernel!r}: unknown kernel info field {comment!r}",
    "kernel-descriptor-repeated": "kernel {kernel!r}: duplicate .amdhsa_kernel block ignored",
    "kernel-descriptor-endless": "kernel {kernel!r}: unterminated .amdhsa_kernel block",
    "part-not-open": "part {entry!r} ends, but part {part!r} is open; rebuild it",
    "part-and-more": " and {count} more",
    "part-endless": "unterminated part {part!r}{more}; rebuild it",
    "module-cut-off": "no metadata at the end of the module: it is truncated; rebuild it",
    "kernel-not-in-metadata": "kernel {kernel!r}: not in the module's metadata; rebuild it",
    "module-may-be-cut-off": (
        "no metadata at the end of the module, where clang writes it: it may be truncated; rebuild "
        "it"
    ),
    "kernel-shader": "{kernel!r} has no descriptor: skipped as a shader",
    "field-repeated": "{field} is listed twice; using the last value",
    "kernels-of-macro": (
        "kernels made by `{begins}` are skipped: only the assembler expands it; pass the object "
        "assembled from this text"
    ),
    "value-unresolved": "{field} is unresolved: {why}",
    "value-impossible": "{field} is {value}, which no kernel can have",
    # Expressions in assembly.
    "expression-division-by-zero": "a division by zero",
    "expression-shift": "a 64-bit shift by {amount}",
    "expression-totalnumvgprs": "totalnumvgprs of an unknown target",
    "expression-extrasgprs": "extrasgprs of an unknown target",
    "expression-code-size": "the size of the code is not in the text",
    "expression-arguments": "{function} does not take {count} arguments",
    "expression-function": "unknown assembler function {function!r}",
    "expression-depth": "{term!r} needs more than {deepest} nested definitions",
    "expressions-too-long": "the module's expressions are too long in total",
    "symbol-of-assembler": "only the assembler counts {name} from the instructions",
    "symbol-undefined": "symbol {name!r} is not defined",
    "expression-too-long": "an expression of more than {most} tokens",
    "expression-malformed": "invalid expression {written!r}",
    "expression-missing": "the value is missing",
    "expression-octal": "invalid octal number {digits!r}",
    "expression-number": "a number of more than 64 bits",
    "symbol-circular": "symbol {name!r} is defined in terms of itself",
    # Metadata in YAML.
    "yaml-no-map": "not a map of keys",
    "yaml-no-list": "{name} is not a list",
    "yaml-values-many": "more than {most} values",
    "yaml-alias": "an alias, which metadata never has",
    "yaml-nesting": "nested more than {most} levels deep",
    "yaml-on-line": " on line {line}",
    "pal-metadata-no-list": "amdpal.pipelines is missing or not a list",
    "yaml-damaged": "{error}{at}",
    # Code objects.
    "linking-info-endless": "kernel {kernel!r}: unterminated .amdgpu_info block",
    "elf-of-host": "an ELF file for the host (machine {machine}); pass one for AMD GPUs",
    "object-damaged": "truncated or damaged ({damage}); rebuild it",
    "object-without-kernels": "no kernel metadata and no kernel descriptors",
    "object-without-metadata": "no metadata in its notes; only descriptors are read",
    "object-segments-overlap": (
        "load segments overlap: using the first one that holds an address; relink it"
    ),
    "object-abi-unknown": "OS ABI {os_abi} version {version} is unknown for HSA",
    "descriptor-missing": "no descriptor; registers and LDS come from the metadata alone",
    "descriptor-outside": "the descriptor's address has no bytes in the file",
    "debug-entry-outside": "an entry runs past the end of its section",
    "debug-form-unknown": "unknown form {form}",
    "debug-number": "a number of more than 64 bits",
    "descriptor-malformed": "the symbol .kd does not point at a descriptor",
    "debug-unreadable": "the debug information cannot be read: {error}",
    "linking-info-outside": "{section} lies outside the file",
    "linking-info-numbers": "numbers before the first function",
    "linking-info-damaged": "damaged {section}: {error}; the rest is skipped",
    "linking-info-entry": "an entry of kind {kind} with {size} bytes at {at}",
    "notes-outside": "notes outside the file are skipped",
    "note-damaged": "damaged note: longer than its section",
    "notes-too-many": "more than {most} notes; the rest is skipped; rebuild it",
    "note-without-name": "a note without a name is skipped: it may be the metadata; rebuild it",
    "msgpack-text": "not text, or too long",
    "msgpack-value-large": "a value of {size} bytes, above the limit of {most}",
    "symbols-without-name": "{count} symbols without a name in the string table",
    "symbol-table-damaged": "damaged symbol table {name!r}; skipped",
    "symbol-table-dynamic-damaged": "damaged dynamic symbol table; skipped",
    "symbol-table-entries": (
        "symbol table {name!r} with entries of {size} bytes; read as entries of {read_as}"
    ),
    # Metadata in code objects.
    "metadata-endless": "unterminated metadata block",
    "metadata-without-name": "metadata of a kernel without a name",
    "metadata-damaged": "damaged metadata: {error}",
    "metadata-cut-off": "truncated",
    "metadata-key": "a key or value is malformed ({error})",
    "metadata-no-list": "amdhsa.kernels is missing or not a list",
    "metadata-no-map": "its root is not a map",
    "metadata-keys": "a map of {keys} keys",
    "metadata-followed": "bytes after the metadata; skipped",
    "metadata-of-pal": "PAL pipelines are skipped; only HSA kernels are read",
    "metadata-name": "a kernel's name in an unexpected place",
    "metadata-key-repeated": "{key!r} is listed twice; using the last value",
    "metadata-repeated": "listed twice in the metadata; using the last entry",
    "metadata-kernels-odd": "damaged metadata: {count} entries of amdhsa.kernels are not maps",
    "metadata-key-twice": (
        "damaged metadata: {key!r} is listed twice in one map; using the last value"
    ),
    "metadata-of-v2": "{error}",
    "kernel-unlisted": "{kernels}: not in the metadata, which a launch needs; rebuild it",
    # Targets of texts and objects.
    "target-not-named": ".{directive} names no processor: {named!r}",
    "target-not-of-text": "--arch {arch} is ignored: the text is for {processor}",
    "target-feature-odd": "amdhsa.target names {named} and {odd}, which is not a feature",
    "target-id-malformed": "amdhsa.target is {target_id}, not a target id",
    "target-contradiction": "e_flags say {flags}, amdhsa.target says {named}; using e_flags",
    "target-elf-unknown": "unknown processor 0x{mach:02x} in e_flags{read_as}",
    "target-read-as": "; read as {name}",
    # Build logs.
    "log-of-functions": (
        "reports functions but no kernels: no report ends with an LDS size, as a kernel's does"
    ),
    "build-failed": "the build failed here: kernels may be missing; fix it and rebuild",
    "log-without-name": "numbers without a function's name: the log begins inside a kernel",
    "log-cut-off": "the log ends before its last number",
    "record-cut-off": "the record is truncated",
    "record-without-name": "the record has no name",
    "record-without-value": "the record states no {name}",
    "record-contradiction": "the record is for {function!r:.100}, but names {named!r:.100}",
    "record-escape": "the record has an invalid escape {escaped!r}",
    "log-of-two-compilers": (
        "reports of two compilers are interleaved; build with --save-temps and give the .s files, "
        "or write one log per target"
    ),
    "log-contradiction": "{key} is {first:.40} and {second:.40}; both are ignored",
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
    """A message that begins with the path of its file."""
    return say("in-file", path=path, reason=message)


def in_kernel(symbol: str, message: Message) -> Message:
    """A message that begins with the name of its kernel."""
    return say("in-kernel", kernel=symbol, reason=message)
