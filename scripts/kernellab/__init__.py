"""The lab: pairs of kernels that differ in one option, booted under QEMU on the host's own files.

docs/internals/lab.md describes how it works, scripts/lab --help how to use it.

    lab        what all rooms share: where things are, messages, locks, the words of a command line
    kernels/   what a kernel is, what it is made of, how it is built or fetched
    guests/    one command in one guest, or on a real machine
    jobs/      several boots for one answer: ab, why, a range of commits, the matrix
    cli        the command line
"""
