"""Every error that Howdah raises on purpose.

HowdahError
├── UserError                     the caller can put it right; the command line prints one line and exits 2
│   ├── ArgumentError (TypeError)      a handler's arguments do not fit its signature
│   ├── PayloadError (ValueError)      a value that JSON cannot hold, or too large
│   ├── OptionError (ValueError)       a priority, name, delay or setting out of its limits
│   ├── FilterError (ValueError)       a filter's text cannot be read; knows the word
│   ├── UnknownJobType                 this app registers no such job type
│   ├── JobNotFound (LookupError)      no job with that id
│   ├── JobBusy                        the job is held by a worker, so this cannot be done to it now
│   ├── AppNotFound                    the command line cannot import the app it was pointed at
│   ├── SchemaMissing / SchemaTooOld / SchemaTooNew
│   ├── DatabaseUnavailable            cannot connect, wrong password, no rights, read-only
│   ├── SealedError                    what is stored is encrypted and cannot be opened
│   │   ├── KeyMissing                      its key is not here
│   │   └── SealBroken                      it was changed, or moved to another job
│   └── EmbeddedError                  the embedded PostgreSQL cannot start or stop
├── ResultNotReady                the job has not finished
├── JobFailed                     the job ended as failed
├── JobCancelled                  the job ended as cancelled
├── WaitTimeout (TimeoutError)    the job did not finish in the time given to wait()
├── TookTooLong (TimeoutError)   the database did not answer within the time limit of a question
└── LeaseLost                     the job is no longer this worker's: stop working on it
"""

from __future__ import annotations

import reprlib


class HowdahError(Exception):
    """Something went wrong in Howdah."""

    def __init__(self, message: str | None = None) -> None:
        # The docstring is the default message, so that an error raised bare still says what to do next.
        super().__init__(message if message is not None else (type(self).__doc__ or "").strip())


class UserError(HowdahError):
    """Something that the caller can put right."""


class ArgumentError(UserError, TypeError):
    """The arguments do not fit the handler's signature; nothing was enqueued."""


class PayloadError(UserError, ValueError):
    """The value cannot be stored as JSON; store it elsewhere and pass a reference."""


class OptionError(UserError, ValueError):
    """An option is outside its limits."""


class FilterError(UserError, ValueError):
    """The filter cannot be read; docs/cli.md, "Filters", has the words that it may be made of."""

    # `word` is the place, from `start` to `end` of the text; `field` what it is about, and `reason` what is wrong, for
    # whoever shows the error beside that.
    def __init__(self, reason: str = "", word: str = "", field: str = "", start: int = 0, end: int = 0) -> None:
        told = f"the filter, at {shown(word)}: {reason}" if word else f"the filter: {reason}"
        super().__init__(*([told] if reason else []))
        self.reason = reason
        self.word = word
        self.field = field
        self.start = start
        self.end = end


class UnknownJobType(UserError):
    """This app registers no such job type; check the name, or register the handler with @app.job."""


class JobNotFound(UserError, LookupError):
    """No job with that id; it may be past its retention."""


class JobBusy(UserError):
    """The job is held by a worker; cancel it first, or wait until it has finished."""


class AppNotFound(UserError):
    """No Howdah app there; name it as package.module:variable."""


class SchemaMissing(UserError):
    """Howdah's tables are not in this database; run `howdah migrate`."""


class SchemaTooOld(UserError):
    """Howdah's tables are older than this code; run `howdah migrate`."""


class SchemaTooNew(UserError):
    """Howdah's tables are newer than this code; upgrade the howdah package."""


class DatabaseUnavailable(UserError):
    """The database cannot be used; check that it runs and that the URL, password and rights are right."""


class SealedError(UserError):
    """What is stored is sealed, and cannot be opened."""


class KeyMissing(SealedError):
    """It is sealed with a key that is not here; add the key to HOWDAH_KEYS."""


class SealBroken(SealedError):
    """It is sealed, and was changed or moved since; it cannot be opened."""


class EmbeddedError(UserError):
    """The embedded PostgreSQL cannot be used; `howdah db status` says more."""


class ResultNotReady(HowdahError):
    """The job has not finished; call wait() or refresh() first."""


class JobFailed(HowdahError):
    """The job ended as failed; its last_error says why."""


class JobCancelled(HowdahError):
    """The job was cancelled."""


class WaitTimeout(HowdahError, TimeoutError):
    """The job did not finish in the time given; it goes on, and you may wait again."""


class TookTooLong(HowdahError, TimeoutError):
    """The statement was still running at its time limit."""


class LeaseLost(HowdahError):
    """This job is no longer this worker's: another claim may hold it. Stop working on it."""


def shown(value: object) -> str:
    """A value as an error quotes it, whatever it is: its repr may be endless, or may itself fail, as that of a whole
    number of more than 4300 digits does."""
    try:
        text = _short.repr(value)
    except Exception:
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


_SHOWN = 120
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _SHOWN
