"""Errors in the command line: those of ptxkit, and those that click raises, in the words of ptxkit."""

from __future__ import annotations

from difflib import get_close_matches

import click

from ptxkit.refusal import RefusedError


class CommandLineError(click.UsageError):
    """The command line cannot be run. remedy: what to write instead; without one, the help of the command is named."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    @classmethod
    def of(cls, error: Exception) -> CommandLineError:
        """The same of an error of the library."""
        return cls(error.message, error.remedy) if isinstance(error, RefusedError) else cls(str(error))


class BadPageNameError(CommandLineError):
    """The name of a page to write does not have the form of one, and could be that of an input."""

    def __init__(self, option: str, path: str) -> None:
        super().__init__(f"`{option} {path}` does not end in .html", "name a page, so that no input is overwritten")


def exclusive(first: str, second: str) -> CommandLineError:
    """The error of two options that exclude each other."""
    return CommandLineError(f"`{first}` and `{second}` exclude each other", "write one of them")


class BadValueError(click.BadParameter):
    """The value of an option or argument cannot be used. remedy: what to write instead."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy

    @classmethod
    def of(cls, error: RefusedError) -> BadValueError:
        """The same of an error of the library."""
        return cls(error.message, error.remedy)


def explain(error: click.ClickException) -> tuple[str, str]:
    """(message, remedy) of an error in the command line."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context is not None else "ptxkit"
    message, remedy = _words(error, command)
    return message, remedy or f"`{command} --help` describes the arguments and options"


def _words(error: click.ClickException, command: str) -> tuple[str, str]:
    if isinstance(error, click.NoSuchOption):
        near = get_close_matches(error.option_name, error.possibilities or (), n=1) or error.possibilities
        return f"`{command}` has no option `{error.option_name}`", f"did you mean `{near[0]}`?" if near else ""
    if isinstance(error, click.BadOptionUsage):
        return _value_count(error)
    if isinstance(error, click.MissingParameter):
        return _missing(error, command)
    remedy = getattr(error, "remedy", "")
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"`{_spell(error.param)}`: {error.message}", remedy
    return error.message, remedy


def _value_count(error: click.BadOptionUsage) -> tuple[str, str]:
    """An option without its value, or with one that it does not take."""
    option = _option(error)
    if option is None or option.is_flag:
        return f"the option `{error.option_name}` takes no value", f"write `{error.option_name}` without one"
    metavar = option.metavar or option.type.name.upper()
    return f"the option `{error.option_name}` requires a value", f"write `{error.option_name} {metavar}`"


def _option(error: click.BadOptionUsage) -> click.Option | None:
    assert error.ctx is not None
    options = (each for each in error.ctx.command.params if isinstance(each, click.Option))
    return next((each for each in options if error.option_name in (*each.opts, *each.secondary_opts)), None)


def _missing(error: click.MissingParameter, command: str) -> tuple[str, str]:
    assert error.param is not None
    metavar = (error.param.metavar or error.param.human_readable_name).removesuffix("...")
    if isinstance(error.param, click.Option):
        name = _spell(error.param)
        return f"`{command}` requires the option `{name}`", f"write `{name} {metavar}`"
    return f"`{command}` requires the argument {metavar}", "name a file, or `-` for standard input"


def _spell(parameter: click.Parameter) -> str:
    """A parameter as it is written: the longest name of an option, the metavar of an argument."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.human_readable_name).removesuffix("...")
