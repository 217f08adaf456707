"""Random kernels: what each one claims, and the HIP source or LLVM IR that claims it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from kernelinfo import Target


@dataclass(frozen=True, slots=True)
class Shape:
    """Requests of one kernel to the compiler; None is no request."""

    vgpr: int | None
    """The highest VGPR that inline assembly claims."""
    agpr: int | None
    sgpr: int | None
    lds_bytes: int
    sizes: tuple[int, int] | None
    """`amdgpu_flat_work_group_size`."""
    waves: tuple[int, int] | None
    """`amdgpu_waves_per_eu`."""

    def source(self, name: str) -> str:
        """One kernel of that name, by the attributes' spelling that all clangs know."""
        attributes = ["global"]
        if self.sizes is not None:
            attributes.append("amdgpu_flat_work_group_size({}, {})".format(*self.sizes))
        if self.waves is not None:
            attributes.append("amdgpu_waves_per_eu({}, {})".format(*self.waves))
        claims = {"v": self.vgpr, "a": self.agpr, "s": self.sgpr}
        body = [
            f'asm volatile("" ::: "{kind}{number}");'
            for kind, number in claims.items()
            if number is not None
        ]
        if self.lds_bytes:
            body.append(f"__attribute__((shared)) char pool[{self.lds_bytes}];")
            body.append('asm volatile("" :: "v"((__attribute__((address_space(3))) void *)pool));')
        body.append("*out = 1;")
        declared = " ".join(f"__attribute__(({attribute}))" for attribute in attributes)
        return f'extern "C" {declared} void {name}(int *out) {{ {" ".join(body)} }}\n'

    def ir(self, name: str) -> str:
        """The same as LLVM IR, with the attributes that clang makes of those of HIP."""
        attributes = {"amdgpu-flat-work-group-size": "{},{}".format(*self.sizes or (1, 1024))}
        if self.waves is not None:
            attributes["amdgpu-waves-per-eu"] = ",".join(map(str, filter(None, self.waves)))
        body = [
            f'call void asm sideeffect "", "~{{{kind}{number}}}"()'
            for kind, number in (("v", self.vgpr), ("a", self.agpr), ("s", self.sgpr))
            if number is not None
        ]
        pool = ""
        if self.lds_bytes:
            array = f"[{self.lds_bytes} x i8]"
            pool = f"@{name}.pool = internal addrspace(3) global {array} poison, align 16\n"
            body.append(f'call void asm sideeffect "", "v"(ptr addrspace(3) @{name}.pool)')
        body += ["store i32 1, ptr addrspace(1) %out", "ret void"]
        stated = " ".join(f'"{key}"="{value}"' for key, value in attributes.items())
        declared = f"define protected amdgpu_kernel void @{name}(ptr addrspace(1) %out) {stated}"
        return pool + declared + " {\n  " + "\n  ".join(body) + "\n}\n"


def random_shape(random: Random, target: Target, wave_size: int) -> Shape:
    """Near the edges of granules and steps as often as anywhere between."""
    granule = target.vgpr_file(wave_size).granule
    # Inline assembly cannot name the VGPRs above 255 of gfx12.5.
    vgpr, agpr = _register(random, 256, granule), None
    sgpr = _register(random, 80 if target.sgprs.fixed_allocation else 102, 8)
    sizes, waves = _sizes(random), _waves(random, target)
    if target.agprs.file != "none":
        # More than this, and the waves that must fit have no VGPR left.
        share = 512 // -(-(sizes[1] if sizes else 1024) // (4 * wave_size))
        agpr = _register(random, 32 if waves else min(share - 32, 256), granule)
    return Shape(vgpr, agpr, sgpr, _lds_bytes(random, target), sizes, waves)


def _register(random: Random, count: int, granule: int) -> int | None:
    if random.random() < 0.3:
        return None
    number = random.randrange(count)
    if random.random() < 0.5:
        number = number // granule * granule - random.choice((0, 1))
    return max(0, number)


def _lds_bytes(random: Random, target: Target) -> int:
    if random.random() < 0.4:
        return 0
    most = target.lds.bytes_per_workgroup
    share = most // random.randint(1, 16) + random.choice((0, 0, 1, -1, -400))
    return random.choice((min(max(share, 1), most), random.randint(1, most)))


def _sizes(random: Random) -> tuple[int, int] | None:
    if random.random() < 0.2:
        return None
    largest = random.choice((64, 128, 256, 512, 1024, random.randint(1, 1024)))
    smallest = random.choice((1, 1, largest, random.randint(1, largest)))
    return smallest, largest


def _waves(random: Random, target: Target) -> tuple[int, int] | None:
    if random.random() < 0.6:
        return None
    most = target.waves.slots_per_simd
    least = random.randint(1, most)
    return least, random.choice((0, least, random.randint(least, most)))
