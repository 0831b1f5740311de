"""The lab: pairs of kernels that differ in one option, booted under QEMU on the host's own files.

docs/internals/lab.md describes how it works, and the folders of the cache; `scripts/lab --help` how to use it.

    lab, locks   common parts: paths, messages, options, helpers; locks
    kernels/     the definition of kernels, building and fetching them
    guests/      one command in one guest, or on a real machine
    jobs/        several boots to compare: ab, why, a range of commits, the matrix
    cli          the command line
"""
