"""What the kernel says of a process's memory. getrusage would count the parent's as well."""

from pathlib import Path

MARKS = Path("/proc/self/clear_refs")
RESIDENT, PEAK = "VmRSS", "VmHWM"


def forget_peak() -> None:
    """Set the kernel's high-water mark back to what is resident now."""
    MARKS.write_text("5", encoding="ascii")


def memory_kib(name: str, process: int | str = "self") -> int:
    """RESIDENT or PEAK of a process, in KiB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name)))
