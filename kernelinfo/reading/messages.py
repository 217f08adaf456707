"""What the readers tell users: every sentence, by its code."""

from __future__ import annotations

from kernelinfo.errors import wording

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
}

say = wording(MESSAGES)
