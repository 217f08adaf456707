"""What the rules find: every sentence, by the number of its rule.

A word follows the number where a rule has several sentences, and where a sentence has optional
parts. The advice to a sentence has its code and `-mend`.
"""

from __future__ import annotations

from kernelinfo.errors import wording
from kernelinfo.kernel import remarking

MESSAGES = {
    "rule-unknown": "{name!r}: no such rule; `kernelinfo rules` lists them",
    # Launches that fail and inputs that contradict themselves.
    "KI001": "a workgroup of {size} cannot start: {obstacle}",
    "KI001-mend": "launch smaller ones, or bound the registers for this size with a launch bound",
    "KI001-none": "nor can one of any other size",
    "KI001-smaller": "smaller ones, up to {most}, can",
    "KI001-refused": "a workgroup of {size} is refused: {refusal}",
    "KI001-refused-mend": "launch as compiled, or compile for this size",
    "KI002": "{obstacle}",
    "KI002-mend": "use less, or a target that has more",
    "KI004": "{first}, but {second}; using the first",
    "KI004-mend": "rebuild the file",
    "KI004-value": "{source} says {noun} {value}{line}",
    "KI004-line": " (line {line})",
    "KI004-copies": "{contradiction}",
    "KI004-copies-mend": "one of the files is stale or damaged: rebuild both",
    "KI004-required": (
        "workgroups of {required} are required{line}, above the declared maximum of {most}"
    ),
    "KI004-required-mend": "rebuild the file, or correct one of the two",
    "KI004-xnack": (
        "an object assembled from this file gets {assembled}, one compiled directly {compiled}: "
        "only the assembler reserves SGPRs for XNACK"
    ),
    "KI006": "{code} touches {register}, but only {allocated} {noun} are allocated",
    "KI006-mend": "declare at least {needed} {noun}",
    "KI006-covered": (
        "{code} touches {register}, but only {declared} {noun} are declared; it works only because "
        "{target} rounds them up to {allocated}"
    ),
    "KI006-covered-mend": "declare at least {needed} {noun}",
    "KI006-kernel": "the code",
    "KI006-callee": "its callee {function}",
    "KI007": "reads registers that nothing wrote: {registers}",
    "KI007-mend": "write them first",
    # Values in memory, and calls.
    "KI101": "{vgprs} spilled{scratch}{place}",
    "KI101-mend": "keep fewer values live{looser}",
    "KI101-looser": ", or allow more VGPRs with a looser launch bound",
    "KI101-scratch": ", {scratch} B of scratch per lane",
    "KI101-without-scratch": ", none of them to scratch",
    "KI101-place": ", {instructions} {place}",
    "KI102": "{scratch} B of scratch per lane{beyond}: {cause}{loops}",
    "KI102-mend": "index the array by constants, or inline the call",
    "KI102-library-mend": "index the kernel's own arrays by constants",
    "KI102-beyond": ", more than spilling {registers} takes",
    "KI102-without": " without spills",
    "KI102-array": "an array",
    "KI102-array-or-frame": "an array or a call frame",
    "KI102-array-or-callee": "an array or the frame of {callees}, which it calls",
    "KI102-loops": ", accessed {times} inside loops",
    "KI103": "{sgprs} spilled to lanes of VGPRs",
    "KI103-mend": "keep fewer arguments and uniform values live at once",
    "KI104": "scratch grows at run time; only {scratch} B per lane are known{calls}",
    "KI104-mend": "bound the recursion, give allocas a constant size, and make callees visible",
    "KI104-calls": "; it calls {callees}",
    "KI105": (
        "calls functions through a pointer or outside this module: register counts are lower bounds"
    ),
    "KI105-mend": "compile the callees into the same module",
    "KI105-outside": "calls {callees}, outside this module: register counts are lower bounds",
    "KI105-outside-mend": "compile the callees into the same module",
    "KI105-largest": (
        "an indirect call: the compiler took the module's maximum, {most} VGPRs of {function}; the "
        "kernel alone needs {alone}"
    ),
    "KI105-largest-mend": (
        "replace it by a choice among direct calls, which count only their own callees"
    ),
    "KI105-alone": (
        "an indirect call: no function of this module needs more than the {alone} VGPRs of the "
        "kernel alone"
    ),
    "KI106": "{spills} inside loop {loop}{depth}{place}{others}{vgprs}",
    "KI106-mend": "keep fewer values live across that loop{looser}",
    "KI106-looser": ", or allow more VGPRs",
    "KI106-depth": " at depth {depth}",
    "KI106-place": ", {count} of these {place}",
    "KI106-others": ", more in {loops}",
    "KI106-vgprs": " ({vgprs} VGPRs spilled{scratch})",
    "KI106-scratch": ", {spilled} of {scratch} B",
    "KI107": (
        "{copies} of {instructions} instructions in {loop} copy registers, {between} between VGPRs "
        "and AGPRs: {each} for each MFMA{others}"
    ),
    "KI107-mend": (
        "let each wave hold fewer accumulators: a smaller tile, or more waves per workgroup"
    ),
    "loop-labelled": "loop {label}{place}",
    "loop-label-place": " ({place})",
    "loop-placed": "the loop at {place}",
    "KI107-others": ", more in {loops}",
    "spills-at": "at {place}",
    "spills-behind-call": "after the call to {callee}",
    # Waves that slightly fewer resources or another launch would gain.
    "KI201": "{vgprs} fewer than {used} would give {more} instead of {waves}",
    "KI201-mend": "look for values that need not stay live",
    "KI202": "{less} B less LDS would give {more} instead of {waves}",
    "KI202-mend": "use less padding or a smaller tile",
    "KI203": (
        "{used} B of LDS are rounded up to {allocated}: {workgroups} workgroups per {per} fit; "
        "without rounding {more} would"
    ),
    "KI203-mend": "use at most {most} B",
    "KI204": "workgroups of {size} fill {waves} of {slots} wave slots",
    "KI204-mend": "launch a size whose waves divide the slots evenly",
    "KI205": "workgroups of {size} leave {idle} of {lanes} lanes of their last wave idle",
    "KI205-mend": "launch a multiple of {lanes}",
    "KI207": "the compiler printed {printed}, the hardware holds {waves}: {why}",
    "KI207-mend": "trust the latter, which counts whole workgroups",
    "KI208": "{allocated} are allocated, {used} are used{lost}",
    "KI208-lost": ": {waves} instead of {unpadded}",
    "KI208-bound-mend": "raise the upper bound of amdgpu_waves_per_eu, if there is one",
    "KI208-free": ", which costs no wave here",
    "KI208-lds-mend": "likely padded to the occupancy that LDS allows",
    "KI208-launch-mend": (
        "likely padded to the occupancy that the workgroup size or amdgpu_waves_per_eu allows"
    ),
    "KI208-generic-mend": (
        "likely padded for the {lds} KiB of LDS that {target} assumes, but there is more on "
        "{devices}; compile for the device"
    ),
    "KI209": (
        "allocates {allocated}, but touches only {touched}: {more} instead of {waves} with "
        "{numbers}"
    ),
    "KI209-mend": "write these numbers into the descriptor; the next limit is {limits}",
    "KI209-agprs": "{vgprs} and {agprs} AGPRs",
    "KI209-offset": "next_free_vgpr {vgprs}, accum_offset {offset}",
    "KI209-vgprs": "next_free_vgpr {vgprs}",
    "KI209-sgprs": "next_free_sgpr {sgprs}",
    # How the code was compiled, and how large it is.
    "KI301": "uses {agprs} AGPRs without a matrix instruction{held}",
    "KI301-mend": "if the kernel needs more waves, keep fewer values live",
    "KI301-held": ": they hold spilled VGPRs ({moves})",
    "KI302": "spills at the {vgprs}-VGPR cap ({waves}/SIMD)",
    "KI302-mend": "{looser}; measure both",
    "KI302-looser": "loosen {bound}",
    "KI302-swept": "`{command}` shows a looser bound",
    "KI303": (
        "the launch bound is {largest}, the default, which allows {vgprs} VGPRs; a bound of {half} "
        "would allow {more}"
    ),
    "KI303-mend": "state the launched size with {size}{swept}",
    "KI303-swept": "; `{command}` shows the effect",
    "KI304": "{spilled} VGPRs spilled, though {vgprs} VGPRs would still give {waves}",
    "KI304-mend": "lower {hint} to that occupancy",
    "KI305": "built for {target}, next to code for {other} in the same file",
    "KI305-mend": "name the same features in every --offload-arch of the processor",
    "KI306": "asked for {waves}, but {limits} {allow} {most}",
    "KI306-mend": "ask for no more waves than that, or use less {limits}",
    "KI401": "{code} bytes of code; the instruction cache of {cus} CUs holds {cache}",
    "KI401-loop": (
        "{code} bytes of code in {loop}; the instruction cache of {cus} CUs holds {cache}"
    ),
    "KI401-loop-mend": "if it runs often, unroll or inline less",
    "KI401-least": "at least {code}",
    "KI401-mend": "if one loop is that large, unroll or inline less",
}

say, remark = wording(MESSAGES), remarking(MESSAGES)
