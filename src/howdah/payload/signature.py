"""What a handler takes, read once from its signature, and its arguments as JSON and back."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from howdah.model.errors import ArgumentError, OptionError, PayloadError
from howdah.payload.annotations import Unresolved, is_context, resolve
from howdah.payload.coder import Coder, Undecodable, coder_for
from howdah.payload.fault import Fault
from howdah.payload.flatten import TooLarge
from howdah.payload.json_text import too_large, write_text

_Kind = inspect._ParameterKind
_POSITIONAL = (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class HandlerSignature:
    """What a handler takes: parameters, which of them is the context, and how each is coded."""

    takes_context: bool
    handler: str
    coders: Mapping[str, Coder]
    # Which types of each parameter are passed on as JSON has them.
    exact: Mapping[str, frozenset[type]]
    positional: tuple[str, ...]
    positional_only: tuple[str, ...]
    defaults: Mapping[str, object]
    required: tuple[str, ...]
    var_positional: str | None
    var_keyword: Coder | None
    # Names that **kwargs cannot take: the call would give them to another parameter.
    reserved: frozenset[str]

    def encode(self, args: tuple[object, ...], kwargs: Mapping[str, object], *, limit: int = 262_144) -> str:
        """The arguments as compact JSON text; without defaults, so that a later change of them applies."""
        stored: dict[str, object] = {}
        for name, value in self._bind(args, kwargs).items():
            try:
                stored[name] = (self.coders.get(name) or self._coder_of_extra(name)).store(value, limit)
            except Fault as fault:
                self._refuse(name, fault)
            except TooLarge:
                raise PayloadError(too_large(self.handler, f"more than {limit:,}", limit)) from None
        return write_text(stored, what=self.handler, limit=limit)

    def decode(self, data: object) -> tuple[tuple[object, ...], dict[str, object]]:
        """The arguments to call the handler with, after the context if it takes one."""
        if not isinstance(data, dict):
            raise ArgumentError(f"{self.handler}: the stored arguments are no JSON object")
        if self._fit_as_they_are(data):
            return (), data
        named: dict[str, object] = {}
        for name, plain in data.items():
            try:
                coder = self.coders.get(name) or self._coder_of_extra(name)
                named[name] = plain if type(plain) in coder.exact else coder.load(plain)
            except KeyError:
                raise ArgumentError(f"{self.handler}: the handler no longer takes {name!r}") from None
            except Fault as fault:
                self._refuse(name, fault)
        for name in self.required:
            if name not in named:
                raise ArgumentError(f"{self.handler}: the stored arguments have no {name!r}")
        return self._by_position(named), named

    def _fit_as_they_are(self, data: dict[str, object]) -> bool:
        """Whether these can be passed by name without a look at any value: the common case, and the quick one."""
        if self.positional_only or self.var_positional is not None:
            return False
        exact = self.exact
        for name, plain in data.items():
            if type(plain) not in exact.get(name, ()):
                return False
        return len(data) == len(exact) or all(name in data for name in self.required)

    def _coder_of_extra(self, name: str) -> Coder:
        if self.var_keyword is None or name in self.reserved:
            raise KeyError(name)
        return self.var_keyword

    def _bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
        """Each argument under its parameter's name, as Python itself would bind it."""
        bound = dict(zip(self.positional, args, strict=False))
        surplus = args[len(self.positional) :]
        if surplus:
            if self.var_positional is None:
                most = len(self.positional)
                raise ArgumentError(f"{self.handler}: takes {most} arguments by position, got {len(args)}")
            bound[self.var_positional] = list(surplus)
        for name, value in kwargs.items():
            if name in bound and name not in self.reserved:
                raise ArgumentError(f"{self.handler}: got {name!r} both by position and by name")
            if name in self.reserved or (name not in self.coders and self.var_keyword is None):
                raise ArgumentError(self._unexpected(name))
            bound[name] = value
        for name in self.required:
            if name not in bound:
                raise ArgumentError(f"{self.handler}: missing argument {name!r}")
        return bound

    def _by_position(self, named: dict[str, object]) -> tuple[object, ...]:
        """Take out of the named arguments those that must be passed by position."""
        surplus = named.pop(self.var_positional, ()) if self.var_positional is not None else ()
        assert isinstance(surplus, list | tuple), "*args are stored as a list"
        first = self.positional if surplus else self.positional_only
        # A default is filled in only here, where Python has no way to skip a parameter.
        return (*(named.pop(name) if name in named else self.defaults[name] for name in first), *surplus)

    def _unexpected(self, name: str) -> str:
        if name in self.positional_only:
            return f"{self.handler}: takes {name!r} by position only"
        near = difflib.get_close_matches(name, self.coders, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{self.handler}: takes no argument {name!r}{hint}"

    def _refuse(self, name: str, fault: Fault) -> NoReturn:
        path = fault.inside(name).path()
        if not fault.wrong_type:
            raise PayloadError(f"{self.handler}: {path} {fault.reason}") from None
        declared = (self.coders.get(name) or self._coder_of_extra(name)).declared
        if declared:
            message = f"{self.handler}: {path} {fault.reason}; {name} is declared as {declared}"
            raise ArgumentError(message) from None
        raise ArgumentError(
            f"{self.handler}: {path} {fault.reason}, and {name} is not annotated, "
            "so it takes plain JSON values only; annotate it with the type it is to have"
        ) from None


def read_signature(function: Callable[..., object], context_type: type) -> HandlerSignature:
    """The signature of a handler; raises OptionError for a parameter that no JSON can be turned into."""
    handler = _name_of(function)
    types = resolve(function)
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0] if parameters else None
    reserved: set[str] = set()
    takes_context = first is not None and first.kind in _POSITIONAL and is_context(types.get(first.name), context_type)
    if takes_context:
        reserved.add(parameters.pop(0).name)
    coders = {p.name: _coder(handler, p, types.get(p.name, Any), context_type) for p in parameters}
    by_kind = {kind: tuple(p.name for p in parameters if p.kind is kind) for kind in _Kind}
    var_positional = next(iter(by_kind[_Kind.VAR_POSITIONAL]), None)
    var_keyword = next(iter(by_kind[_Kind.VAR_KEYWORD]), None)
    return HandlerSignature(
        takes_context=takes_context,
        handler=handler,
        var_keyword=coders.pop(var_keyword) if var_keyword is not None else None,
        coders=coders,
        exact={name: coder.exact for name, coder in coders.items()},
        positional=tuple(p.name for p in parameters if p.kind in _POSITIONAL),
        positional_only=by_kind[_Kind.POSITIONAL_ONLY],
        defaults={p.name: p.default for p in parameters if p.default is not p.empty},
        required=tuple(
            p.name
            for p in parameters
            if p.default is p.empty and p.kind not in (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD)
        ),
        var_positional=var_positional,
        reserved=frozenset(reserved.union(by_kind[_Kind.POSITIONAL_ONLY], by_kind[_Kind.VAR_POSITIONAL])),
    )


def _coder(handler: str, parameter: inspect.Parameter, annotation: Any, context_type: type) -> Coder:
    where = f"{handler}: parameter {parameter.name!r}"
    if is_context(annotation, context_type):
        raise OptionError(f"{where} is the context, which must be the first parameter")
    if isinstance(annotation, Unresolved):
        raise OptionError(
            f"{where} is annotated as {annotation.text}, which cannot be found; "
            "define it before the handler, and import it at run time"
        )
    if parameter.default is None and annotation not in (Any, object):
        # Many still write `preset: str = None`; whoever passes None means the default.
        annotation = annotation | None
    try:
        return coder_for(list[annotation] if parameter.kind is _Kind.VAR_POSITIONAL else annotation)
    except Undecodable as error:
        shown = inspect.formatannotation(annotation)
        raise OptionError(f"{where} is annotated as {shown}, and no JSON can be turned into that: {error}") from None


def _name_of(function: Callable[..., object]) -> str:
    inner = getattr(function, "func", function)
    return getattr(inner, "__name__", type(inner).__name__)
