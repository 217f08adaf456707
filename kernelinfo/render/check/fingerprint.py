"""Fingerprints, by which CI systems know a claim again after the kernel moved.

Apart from the claims: only two formats have them, and OpenSSL takes 17 million instructions.
"""

from __future__ import annotations

from hashlib import sha256

from kernelinfo.render.check.claims import Claim


def fingerprint(*parts: str) -> str:
    """32 hex digits of a text in parts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def of_claim(claim: Claim) -> str:
    """32 hex digits of the claim's identity and number."""
    number = () if claim.number == 1 else (str(claim.number),)
    return fingerprint(*claim.identity, *number)
