"""Addresses: below wherever the dashboard is mounted, and nowhere else."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request


def base_of(request: Request) -> str:
    """What every link begins with: where the dashboard is mounted."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def address_of(request: Request) -> str:
    """The same with scheme and host. Not `request.base_url`, which is that of the application around us."""
    return f"{request.url.scheme}://{request.url.netloc}{base_of(request)}"


def here(request: Request) -> str:
    """This page's own address below the mount point, for forms that come back to it."""
    path = str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))
    return f"{path}?{request.url.query}" if request.url.query else path


def back_to(request: Request, place: str, done: str = "") -> str:
    """An address of ours below the mount point; whatever else a form says is not followed."""
    path, _, query = place.partition("?")
    if not path.startswith("/") or path.startswith("//") or "\\" in path or not place.isprintable():
        path, query = "/", ""
    kept = "&".join(part for part in query.split("&") if part and not part.startswith("done="))
    if done:
        kept = f"{kept}&done={done}" if kept else f"done={done}"
    # Already encoded parts stay as they are; what a header cannot carry is encoded.
    query = f"?{quote(kept, safe='%=&+,:;@/!*().~-_$')}" if kept else ""
    return f"{base_of(request)}{quote(path, safe='%/:@!,~-_.')}{query}"
